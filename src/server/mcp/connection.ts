import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type CallToolResult,
  type InputRequiredResult,
  type ListResourcesResult,
  type McpServer,
  type ReadResourceResult,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { tasksInView, type Conversation } from '../../core/model/conversation.ts'
import { originNames, originOf, type Origin, type OriginName } from '../../core/model/origin.ts'
import { policyNow, type HostPolicy } from '../../core/model/policy.ts'
import { redactor } from '../../core/text/redact.ts'
import { Refusal, invalidField } from '../../core/model/refusal.ts'
import { cut } from '../../core/model/text.ts'
import { StoreError, type Door } from '../../engine/door/door.ts'
import { failureAnswer } from '../../engine/toolsets/answer.ts'
import { beginCall, type CallState } from '../../engine/toolsets/calls.ts'
import type { ToolContext } from '../../engine/toolsets/view.ts'
import { taskForModel } from '../../engine/toolsets/for-model.ts'
import { AWAIT_REVIEW } from '../../engine/toolsets/observe.ts'
import { toolNamed } from '../../engine/toolsets/guidance.ts'
import { withChecks, type Tool, type Toolset } from '../../engine/toolsets/toolset.ts'
import { claimCall } from '../../engine/toolsets/waiting.ts'
import { SESSION_ARGUMENT, bindingOf, signedInput, turnFor, type Binding, type SignedCall } from './binding.ts'
import { ReviewWaiter, type ReviewWaiterDeps } from './waiters.ts'
import { clientOf, firstRoot, type Environment } from './client-info.ts'
import type { HostHooks } from './hook-tool.ts'
import { errorResult, toolResult } from './tool-schemas.ts'

export interface McpOptions
  extends Pick<ReviewWaiterDeps, 'door' | 'codec' | 'pageUrl' | 'openBrowser' | 'closing' | 'onError' | 'waitLimits'> {
  readonly tenant: string
  readonly version: string
  readonly host: HostPolicy
  /** Called with the client's roots, where its checks may run in this process. */
  readonly onRoots?: ((folders: readonly string[]) => void) | undefined
  /** Names clients for the log. Default: recognizes secrets only by their shapes. */
  readonly nameOf?: OriginName | undefined
}

export interface ConnectionOptions {
  readonly era: 'legacy' | 'modern'
  readonly toolset: Toolset
  /** Whether answers to the client's forms count as a person's. */
  readonly isPerson: boolean
  readonly session?: string | undefined
  /** The conversation of a request whose host names none. */
  readonly conversation: (ctx: ServerContext, client: string | undefined) => string
  readonly environment?: Environment | undefined
  /** The host's hooks; absent without `--hooks`. */
  readonly hooks?: HostHooks | undefined
  /** The secret with which OpenCode's plugin signs chats. */
  readonly secret?: (() => string | undefined) | undefined
  readonly folder?: string | undefined
  readonly sender?: ((ctx: ServerContext) => Origin | undefined) | undefined
}

const shapesOnly = originNames(redactor())

type Result = CallToolResult | InputRequiredResult

export const TASKS_URI = 'runsheet://{conversation}/tasks'

/** For the names of the client and the folder. */
const MAX_NAME = 40

export const AWAIT_REVIEW_INPUT = z.object({ review_id: z.string().optional(), claim_id: z.string().optional() })

export class Connection {
  readonly #server: McpServer
  readonly #options: McpOptions
  readonly #connection: ConnectionOptions
  readonly #door: Door
  readonly #reviews: ReviewWaiter
  #root: Promise<string | undefined> | undefined
  #rootsAreKnown: Promise<unknown> | undefined

  constructor(server: McpServer, options: McpOptions, connection: ConnectionOptions) {
    this.#server = server
    this.#options = options
    this.#connection = connection
    this.#door = options.door
    const { era, isPerson, environment } = connection
    this.#reviews = new ReviewWaiter({ ...options, server, era, isPerson, environment })
  }

  /** Delays calls until the client's roots are known: they give a plan its workspace, and so its checks. */
  waitFor(roots: Promise<unknown>): void {
    this.#rootsAreKnown = roots
  }

  callTool(name: string, raw: unknown, ctx: ServerContext): Promise<Result> {
    return this.#answer(async () => {
      await this.#rootsAreKnown
      const { input, signed } = this.#signed(raw)
      const toolset = this.#toolset
      const tool = toolNamed(toolset, name)
      if (!tool) throw new TypeError(`${name} is none of our tools`)
      const binding = this.#binding(ctx, signed)
      const waited = (review: string): Promise<Result> => this.#waitForReview(tool.name, input, review, binding, ctx)
      const round = this.#reviews.roundState(ctx, tool.name, input)
      if (round) return waited(round.review)
      const context = await this.#toolContext(binding, ctx, tool.created !== undefined)
      try {
        const call = await this.#begin(tool, input, context)
        if (call.status === 'answered') {
          if (!call.ok) return errorResult(call.result)
          return isDispute(tool, input)
            ? await this.#reviews.disputed(call.result, context, ctx)
            : toolResult(call.result)
        }
        if (call.status === 'checking') return await this.#reviews.waitForClaims(call, context, ctx)
        return await waited(call.review_id)
      } catch (error) {
        const answer = await failureAnswer(toolset, error, context)
        this.#reportFault(error)
        return errorResult(answer)
      }
    })
  }

  /** Includes checks where turns of this process have a workspace. */
  get #toolset(): Toolset {
    const { toolset } = this.#connection
    return this.#door.checks.offered?.() ? withChecks(toolset) : toolset
  }

  /** Waits for a review of this conversation, whichever call requested it. */
  awaitReview(raw: unknown, ctx: ServerContext): Promise<Result> {
    return this.#answer(async () => {
      const { input, signed } = this.#signed(raw)
      return this.#awaited(input, this.#binding(ctx, signed), ctx)
    })
  }

  listResources(ctx: ServerContext): ListResourcesResult {
    const uri = tasksUri(this.#binding(ctx).conversation)
    return { resources: [{ uri, name: 'tasks', mimeType: 'application/json' }] }
  }

  async readTasks(uri: string, ctx: ServerContext): Promise<ReadResourceResult> {
    const conversation = this.#ownConversation(uri, ctx)
    const state = await this.stateOf(conversation)
    const tasks = tasksInView(state).map(task => taskForModel(state, task))
    const list = { session_id: conversation, seq: state.seq, tasks }
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(list) }] }
  }

  /** Failures are protocol errors, because no tool could answer them. */
  stateOf(conversation: string): Promise<Conversation> {
    return this.#door.read({ tenant: this.#options.tenant, conversation }, 'list').catch((error: unknown) => {
      this.#reportFault(error)
      throw new ProtocolError(ProtocolErrorCode.InternalError, messageFor(error))
    })
  }

  conversationOf(ctx: ServerContext): string {
    return this.#binding(ctx).conversation
  }

  async #awaited(input: unknown, binding: Binding, ctx: ServerContext): Promise<Result> {
    const parsed = AWAIT_REVIEW_INPUT.safeParse(input)
    const { review_id, claim_id } = parsed.data ?? {}
    if (claim_id !== undefined) return this.#awaitedClaim(claim_id, binding, ctx)
    if (review_id === undefined) {
      return errorResult('Error: review_id must be a string. Send {"review_id":"rev_…"}, or {"claim_id":"clm_…"}')
    }
    const newest = await this.#door.reviews.successorOf(this.#options.tenant, review_id)
    return this.#waitForReview(AWAIT_REVIEW, input, newest, binding, ctx)
  }

  async #awaitedClaim(claimId: string, binding: Binding, ctx: ServerContext): Promise<Result> {
    const { tenant } = this.#options
    const made = await claimCall(this.#door, { tenant, conversation: binding.conversation }, claimId)
    if (!made) return errorResult('Error: There is no such claim in this conversation.')
    const context = await this.#toolContext({ ...binding, turn: made.turn_id }, ctx, false)
    return this.#reviews.waitForClaims(made.call, context, ctx)
  }

  /** Some models repeat call ids, which then identify nothing. */
  async #begin(tool: Tool, input: unknown, context: ToolContext): Promise<CallState> {
    const toolset = this.#toolset
    try {
      return await beginCall(toolset, tool.name, input, context)
    } catch (error) {
      if (!context.isHostCallId || !(error instanceof StoreError) || error.code !== 'key_conflict') throw error
      return beginCall(toolset, tool.name, input, { ...context, toolCallId: undefined })
    }
  }

  async #waitForReview(
    tool: string,
    input: unknown,
    reviewId: string,
    binding: Binding,
    ctx: ServerContext,
  ): Promise<Result> {
    const { conversation, record } = await this.#door.reviews.get(this.#options.tenant, reviewId)
    if (conversation !== binding.conversation) {
      throw new Refusal('review_not_found', { review_id: reviewId.slice(0, 64).toWellFormed() })
    }
    const { review } = record
    const context = await this.#toolContext({ ...binding, turn: review.conversation_turn_id }, ctx, false)
    const round = this.#reviews.roundState(ctx, tool, input)
    return this.#reviews.wait({ tool, input, review, context, origin: this.#origin(ctx) }, ctx, round)
  }

  /** The conversation of a task list URI, which must be the request's own. */
  #ownConversation(uri: string, ctx: ServerContext): string {
    const { conversation } = this.#binding(ctx)
    if (uri === tasksUri(conversation)) return conversation
    throw new ResourceNotFoundError(uri, `Resource not found. Available: ${tasksUri(conversation)}`)
  }

  /** The arguments of a call, and the chat named by OpenCode's plugin. */
  #signed(raw: unknown): { readonly input: unknown; readonly signed: SignedCall | undefined } {
    const { input, signed } = signedInput(raw, () => this.#connection.secret?.())
    if (signed !== 'invalid') return { input, signed }
    throw invalidField(SESSION_ARGUMENT, { rule: 'invalid', expected: "absent: only Runsheet's plugin may set it" })
  }

  #binding(ctx: ServerContext, signed?: SignedCall): Binding {
    const { session, environment, conversation, hooks } = this.#connection
    const { name: client } = clientOf(this.#server, ctx)
    const hooked = hooks?.hooked(client)
    const own = (): string => conversation(ctx, client)
    return bindingOf(ctx, { session, environment, client, signed, hooked, own })
  }

  async #toolContext(binding: Binding, ctx: ServerContext, creates: boolean): Promise<ToolContext> {
    const { tenant, host } = this.#options
    const { conversation, toolCallId, isHostCallId, sources } = binding
    const turn = binding.turn ?? turnFor(await this.#door.read({ tenant, conversation }), creates)
    const client = await this.#clientTitle(ctx, creates)
    const door = this.#door.from(this.#origin(ctx))
    const call = { conversation, turn, toolCallId, isHostCallId, ...sources }
    return { door, edge: 'mcp', tenant, ...call, host: policyNow(host), client }
  }

  /** The client's answers to our questions count as a person's. */
  #origin(ctx: ServerContext): Origin {
    const client = (this.#options.nameOf ?? shapesOnly)(clientOf(this.#server, ctx).program)
    return originOf('agent', 'mcp', { ...this.#connection.sender?.(ctx), client })
  }

  /** Program and folder name. Roots are requested only where a conversation may be named after them. */
  async #clientTitle(ctx: ServerContext, creates: boolean): Promise<string> {
    const { folder, era } = this.#connection
    const { label, capabilities } = clientOf(this.#server, ctx)
    if (creates && folder === undefined && era === 'legacy' && capabilities.roots) {
      this.#root ??= firstRoot(ctx).catch(() => undefined)
    }
    const parts = [label, folder ?? (await this.#root)]
    return parts.flatMap(part => (part ? [cut(part.toWellFormed(), MAX_NAME)] : [])).join(' · ')
  }

  /** Skips refusals and failures that a retry fixes: they concern only the caller. */
  #reportFault(error: unknown): void {
    const isExpected = error instanceof Refusal || (error instanceof StoreError && !error.isFault)
    if (!isExpected) this.#options.onError(error)
  }

  async #answer(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      this.#reportFault(error)
      return errorResult(`Error: ${messageFor(error)}`)
    }
  }
}

const isDispute = (tool: Tool, input: unknown): boolean =>
  tool.disputing !== undefined && z.object({ status: z.literal('disputed') }).safeParse(input).success

const tasksUri = (conversation: string): string => TASKS_URI.replace('{conversation}', conversation)

/** Unexpected errors are logged, not returned. */
const messageFor = (error: unknown): string =>
  error instanceof Refusal || error instanceof StoreError ? error.message : 'Internal error. See the log of the server.'
