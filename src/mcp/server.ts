import {
  type CallToolResult,
  type InputRequiredResult,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { tasksInView } from '../domain/conversation.ts'
import { Refusal } from '../domain/refusal.ts'
import type { PolicyPatch } from '../domain/policy.ts'
import { StoreError, type Door } from '../door/door.ts'
import type { ToolContext } from '../toolsets/context.ts'
import { promptFor } from '../toolsets/guidance.ts'
import { beginCall, failureAnswer } from '../toolsets/calls.ts'
import type { Tool, Toolset } from '../toolsets/toolset.ts'
import { answered, AWAIT_REVIEW, refused } from './answers.ts'
import { type Bound, boundBy, turnFor } from './binding.ts'
import { type Changed, isTasksUri, tasksUri } from './changed.ts'
import { type Asker, PATIENCE, type Patience } from './ladder.ts'
import { Reviews } from './review.ts'
import { advertised, annotationsOf, inputSchema, outputSchema } from './schemas.ts'

/** What every connection stands on. */
export interface McpOptions extends Pick<Asker, 'door' | 'codec' | 'page' | 'closing' | 'onError'> {
  readonly tenant: string
  readonly version: string
  /** What new conversations get. */
  readonly host: PolicyPatch
  readonly changed: Changed
  readonly patience?: Partial<Patience>
}

/** One connection: who is at its other end, and what they are given. */
export interface Connection {
  readonly era: 'legacy' | 'modern'
  readonly toolset: Toolset
  /** Whether what its forms answer is a person's word. */
  readonly isPerson: boolean
  /** The conversation of a request that names none. */
  readonly conversation: (ctx: ServerContext, client: string | undefined) => string
  /** Whether there is one connection for good, so that it can be told of changes. */
  readonly lasts: boolean
}

/** A toolset as an MCP server: the same calls, commands and answers as over any other edge. */
export function mcpServer(options: McpOptions, connection: Connection): McpServer {
  const { toolset } = connection
  const server = new McpServer(
    { name: 'runsheet', title: 'Runsheet', version: options.version },
    {
      capabilities: { tools: {}, resources: { subscribe: true } },
      instructions: `${promptFor(toolset)}\n\n${WAITING}`,
      requestState: { verify: (state, ctx) => options.codec.verify(state, ctx) },
      // Forms are checked by the rules, like everything else that comes in.
      jsonSchemaValidator: {
        getValidator: () => data => ({ valid: true, data: data as never, errorMessage: undefined }),
      },
    },
  )
  const edge = new Edge(server, options, connection)
  const planning = planningTool(toolset)
  for (const tool of toolset.tools) {
    server.registerTool(
      tool.name,
      {
        description: tool.description,
        inputSchema: inputSchema(tool),
        outputSchema: outputSchema(tool),
        annotations: annotationsOf(tool),
      },
      (input: unknown, ctx: ServerContext) => edge.call(tool, input, ctx),
    )
  }
  server.registerTool(
    AWAIT_REVIEW,
    {
      description: 'Waits for the decision on a plan that a person is being asked about, and answers as the plan does.',
      inputSchema: AWAITED_SHOWN,
      outputSchema: outputSchema(planning),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    (input: unknown, ctx: ServerContext) => edge.await(input, ctx),
  )
  server.registerResource(
    'tasks',
    new ResourceTemplate(tasksUri('{conversation}'), { list: ctx => edge.resources(ctx) }),
    {
      title: 'Task list',
      description: 'The tasks of this conversation, as they are now.',
      mimeType: 'application/json',
    },
    (uri, _, ctx) => edge.tasks(uri.href, ctx),
  )
  edge.follow()
  return server
}

const AWAITED = z.object({ review_id: z.string() })
const AWAITED_SHOWN = advertised(AWAITED)

/** Each toolset has exactly one that creates. */
function planningTool({ name, tools }: Toolset): Tool {
  const tool = tools.find(({ created }) => created)
  if (!tool) throw new TypeError(`no tool of ${name} creates`)
  return tool
}

const WAITING = `A plan may wait for a person. An answer with "status":"pending_review" means that nothing is written yet: call ${AWAIT_REVIEW} with its review_id, and go by what that answers. Never assume a yes.`

/** What nobody foresaw is in the log, and nowhere else. */
const wordsFor = (error: unknown): string =>
  error instanceof Refusal || error instanceof StoreError
    ? error.message
    : 'Something went wrong here; it is in the log of the server.'

type Answer = CallToolResult | InputRequiredResult

class Edge {
  readonly #server: McpServer
  readonly #options: McpOptions
  readonly #connection: Connection
  readonly #door: Door
  readonly #reviews: Reviews
  /** The lists of the conversations that this connection was in. */
  readonly #ours = new Set<string>()

  constructor(server: McpServer, options: McpOptions, connection: Connection) {
    this.#server = server
    this.#options = options
    this.#connection = connection
    this.#door = options.door
    const { era, isPerson } = connection
    const patience = { ...PATIENCE, ...options.patience }
    this.#reviews = new Reviews({ ...options, server, era, isPerson, patience })
  }

  call(tool: Tool, input: unknown, ctx: ServerContext): Promise<Answer> {
    return this.#guarded(async () => {
      const { toolset } = this.#connection
      const bound = this.#bound(ctx)
      const round = this.#reviews.roundOf(ctx, tool.name, input)
      if (round) return this.#waiting(toolset, tool.name, input, round.review, bound, ctx)
      const context = await this.#context(bound, tool.created !== undefined)
      try {
        const call = await beginCall(toolset, tool.name, input, context)
        if (call.status === 'answered') return call.ok ? answered(call.result) : refused(call.result)
        if (call.status === 'claimed') throw new TypeError('there is no assessor outside of a run')
        return await this.#waiting(toolset, tool.name, input, call.review_id, bound, ctx)
      } catch (error) {
        return refused(await failureAnswer(toolset, error, context))
      }
    })
  }

  /** The decision on a review of this conversation, by whichever call it was asked for. */
  await(input: unknown, ctx: ServerContext): Promise<Answer> {
    return this.#guarded(async () => {
      const { toolset } = this.#connection
      const asked = AWAITED.safeParse(input)
      if (!asked.success) return refused('Error: review_id must be a string. Send {"review_id":"rev_…"}')
      const reviewId = asked.data.review_id
      return this.#waiting(toolset, planningTool(toolset).name, input, reviewId, this.#bound(ctx), ctx)
    })
  }

  async resources(ctx: ServerContext): Promise<{ resources: { uri: string; name: string; mimeType: string }[] }> {
    const uri = tasksUri(this.#bound(ctx).conversation)
    return { resources: [{ uri, name: 'tasks', mimeType: 'application/json' }] }
  }

  async tasks(
    uri: string,
    ctx: ServerContext,
  ): Promise<{ contents: { uri: string; mimeType: string; text: string }[] }> {
    const conversation = this.#mustBeOurs(uri, ctx)
    const state = await this.#door.read({ tenant: this.#options.tenant, conversation }).catch((error: unknown) => {
      if (!(error instanceof Refusal || error instanceof StoreError)) this.#options.onError(error)
      throw new ProtocolError(ProtocolErrorCode.InternalError, wordsFor(error))
    })
    const list = { session_id: conversation, seq: state.seq, tasks: tasksInView(state) }
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(list) }] }
  }

  /** Tells the client of changes that it subscribed to. In the newer era whoever carries the connection picks them out. */
  follow(): void {
    const { era, lasts } = this.#connection
    const { server } = this.#server
    const subscribed = new Set<string>()
    let stop = (): void => {}
    const start = (): void => {
      stop()
      stop = this.#options.changed.subscribe(event => {
        if (event.kind !== 'resource_updated' || !(era === 'modern' ? this.#ours : subscribed).has(event.uri)) return
        server.sendResourceUpdated({ uri: event.uri }).catch(this.#options.onError)
      })
    }
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no other way to hear of it
    server.onclose = () => stop()
    if (era === 'modern') {
      if (lasts) start()
      return
    }
    server.setRequestHandler('resources/subscribe', ({ params }, ctx) => {
      if (isTasksUri(params.uri)) this.#mustBeOurs(params.uri, ctx)
      subscribed.add(params.uri)
      start()
      return {}
    })
    server.setRequestHandler('resources/unsubscribe', ({ params }) => {
      subscribed.delete(params.uri)
      if (subscribed.size === 0) stop()
      return {}
    })
  }

  async #waiting(
    toolset: Toolset,
    tool: string,
    input: unknown,
    reviewId: string,
    bound: Bound,
    ctx: ServerContext,
  ): Promise<Answer> {
    const { conversation, record } = await this.#door.reviews.get(this.#options.tenant, reviewId)
    if (conversation !== bound.conversation) {
      throw new Refusal('review_not_found', { review_id: reviewId.slice(0, 64).toWellFormed() })
    }
    const { review } = record
    const context = await this.#context({ ...bound, turn: review.conversation_turn_id }, false)
    const round = this.#reviews.roundOf(ctx, tool, input)
    return this.#reviews.settle({ toolset, tool, input, review, context }, ctx, round)
  }

  /** Which conversation this is, is not the client's model to choose. */
  #mustBeOurs(uri: string, ctx: ServerContext): string {
    const { conversation } = this.#bound(ctx)
    if (uri === tasksUri(conversation)) return conversation
    throw new ResourceNotFoundError(uri, `There is only ${tasksUri(conversation)} here.`)
  }

  #bound(ctx: ServerContext): Bound {
    const client = this.#clientName(ctx)
    const bound = boundBy(ctx, () => this.#connection.conversation(ctx, client))
    this.#ours.add(tasksUri(bound.conversation))
    return bound
  }

  #clientName({ mcpReq }: ServerContext): string | undefined {
    const envelope = mcpReq.envelope as Readonly<Record<string, { readonly name?: string }>> | undefined
    return envelope?.['io.modelcontextprotocol/clientInfo']?.name ?? this.#server.server.getClientVersion()?.name
  }

  async #context(bound: Bound, creates: boolean): Promise<ToolContext> {
    const { tenant, host } = this.#options
    const { conversation, toolCallId, sources } = bound
    const turn = bound.turn ?? turnFor(await this.#door.read({ tenant, conversation }), creates)
    return { door: this.#door, tenant, conversation, turn, toolCallId, host, ...sources }
  }

  /** Always an answer. */
  async #guarded(work: () => Promise<Answer>): Promise<Answer> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Refusal || error instanceof StoreError)) this.#options.onError(error)
      return refused(`Error: ${wordsFor(error)}`)
    }
  }
}
