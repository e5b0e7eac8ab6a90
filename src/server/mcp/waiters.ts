import { setTimeout as delay } from 'node:timers/promises'
import { createHash } from 'node:crypto'
import {
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  type CallToolResult,
  type InputRequiredResult,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Json } from '../../core/model/event.ts'
import { clientOf } from './client-info.ts'
import {
  Elicitor,
  LegacyElicitation,
  type LegacyElicitationDeps,
  type Question,
  type Step,
  type WaitingCall,
} from './elicitor.ts'
import { DEFAULT_WAIT_LIMITS, limitsOf, type WaitLimits } from '../../hosts/hosts.ts'
import { countTasks } from './review-form.ts'
import { checkingResult, errorResult, pendingResult, toolResult } from './tool-schemas.ts'
import { awaitCall, callHash, type CheckingCall } from '../../engine/toolsets/calls.ts'
import type { ToolContext } from '../../engine/toolsets/view.ts'
import type { JsonObject } from '../../engine/toolsets/toolset.ts'
import { awaitClaims, claimIdOf } from '../../engine/toolsets/waiting.ts'
import type { Instant } from '../../core/model/instant.ts'

const QUESTION = 'review'

export interface ReviewWaiterDeps extends Omit<LegacyElicitationDeps, 'waitLimits'> {
  readonly codec: RequestStateCodec<RoundState>
  /** Override the defaults and the host's known limits. */
  readonly waitLimits?: Partial<WaitLimits> | undefined
}

/**
 * Asks a person about a call's review and waits as long as the client can. The first decision wins, wherever it is
 * made.
 */
export class ReviewWaiter {
  readonly #deps: ReviewWaiterDeps
  readonly #elicitor: Elicitor
  readonly #legacy: LegacyElicitation

  constructor(deps: ReviewWaiterDeps) {
    this.#deps = deps
    const withLimits = { ...deps, waitLimits: { ...DEFAULT_WAIT_LIMITS, ...deps.waitLimits } }
    this.#elicitor = new Elicitor(withLimits)
    this.#legacy = new LegacyElicitation(withLimits, this.#elicitor)
  }

  /** The round state of a repeated request, if it belongs to this very call. */
  roundState(ctx: ServerContext, tool: string, input: unknown): RoundState | undefined {
    const state = ctx.mcpReq.requestState<RoundState>()
    return state && state.call === callHash(tool, input) ? state : undefined
  }

  async wait(call: WaitingCall, ctx: ServerContext, last?: RoundState): Promise<CallToolResult | InputRequiredResult> {
    return this.#deps.era === 'legacy' ? this.#hold(call, ctx) : this.#waitInRounds(call, ctx, last)
  }

  /** 2025: holds the call and asks the client meanwhile. */
  async #hold(call: WaitingCall, ctx: ServerContext): Promise<CallToolResult> {
    const answered = new AbortController()
    this.#legacy.ask(call, ctx, answered.signal).catch(this.#deps.onError)
    try {
      const answer = await this.#answerWithin(this.limits(ctx).holdMs, call, ctx)
      return answer === undefined ? await this.#pending(call) : toolResult(answer)
    } finally {
      answered.abort()
    }
  }

  /** 2026: the client asks the person and repeats the call with their answer; nothing is held meanwhile. */
  async #waitInRounds(
    call: WaitingCall,
    ctx: ServerContext,
    last?: RoundState,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { closing, codec, door } = this.#deps
    const { maxRounds, roundMs } = this.limits(ctx)
    const round = (last?.round ?? 0) + 1
    const waiting = { review: call.review.review_id, round, call: callHash(call.tool, call.input) }
    const step = await this.#step(call, ctx, last)
    if (step.kind === 'ask' && round < maxRounds) {
      const request = await this.#elicitor.request(call, step.question, ctx, step.error)
      const asked = { ...step.question, at: await door.now() }
      const requestState = await codec.mint({ ...waiting, asked }, ctx)
      return inputRequired({ inputRequests: { [QUESTION]: request }, requestState })
    }
    if (step.kind === 'show_page') await this.#elicitor.showPage(call, ctx)
    const answer = await this.#answerWithin(roundMs, call, ctx)
    if (answer !== undefined) return toolResult(answer)
    // The client repeats the call at once, so not during shutdown.
    const isLast = round >= maxRounds || closing.aborted
    return isLast ? this.#pending(call) : inputRequired({ requestState: await codec.mint(waiting, ctx) })
  }

  /** A client that repeats a call without an answer keeps waiting. */
  async #step(call: WaitingCall, ctx: ServerContext, last?: RoundState): Promise<Step> {
    if (!last) return this.#elicitor.first(call, ctx)
    const response = inputResponse(ctx.mcpReq.inputResponses, QUESTION)
    if (!last.asked || response.kind !== 'elicit') return { kind: 'wait' }
    return this.#elicitor.answered(call, last.asked, response, ctx)
  }

  /** Calls the person about a dispute, and adds to its answer where they can answer it. */
  async disputed(answer: Json, { conversation }: ToolContext, ctx: ServerContext): Promise<CallToolResult> {
    const url = await this.#pageUrl(conversation)
    if (url !== undefined) this.#elicitor.openOnce(conversation, url, ctx)
    const where = url === undefined ? '' : ` at ${url}`
    const told = { message: `The user was told, and can answer${where}. Go on with the other tasks.` }
    return toolResult({ ...(answer as JsonObject), ...told })
  }

  /** The call's answer, or undefined after `ms`, on disconnect or at shutdown. */
  async #answerWithin(ms: number, { review, context }: WaitingCall, ctx: ServerContext): Promise<Json | undefined> {
    const { pageUrl, onError } = this.#deps
    const text = `Waiting for a person to decide on ${countTasks(review)}`
    // Restarts the page's server if it has exited, so that a person can always decide there. Its URL comes first,
    // because hosts cut long lines.
    const page = pageUrl(review.session_id, false).catch(onError)
    const withUrl = page.then(url => (url === undefined ? undefined : `${url} · ${text}`))
    return this.#waitWithin(ms, ctx, [text, withUrl], signal => awaitCall(review.tool_call_id, context, signal))
  }

  /** Waits for a call's checks as long as the client can. */
  async waitForClaims(call: CheckingCall, context: ToolContext, ctx: ServerContext): Promise<CallToolResult> {
    const text = 'Running the checks of this task'
    const { holdMs } = this.limits(ctx)
    const answer = await this.#waitWithin(holdMs, ctx, [text], signal => awaitClaims(call, context, signal))
    if (!answer) return checkingResult(claimIdOf(call), call.claim_ids.length > 0)
    return answer.ok ? toolResult(answer.result) : errorResult(answer.result)
  }

  /**
   * The result of `work`, or undefined after `ms`, on disconnect or at shutdown. Meanwhile sends progress if the client
   * requested it, which extends some clients' timeouts.
   */
  async #waitWithin<T>(
    ms: number,
    ctx: ServerContext,
    [first, later]: readonly [string, Promise<string | undefined>?],
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    const disconnected = ctx.http?.req?.signal
    const signal = AbortSignal.any([
      ctx.mcpReq.signal,
      this.#deps.closing,
      // A disconnected client would miss the answer: it stays undelivered until the call is repeated.
      ...(disconnected ? [disconnected] : []),
      ...(ms === Infinity ? [] : [AbortSignal.timeout(ms)]),
    ])
    const stopProgress = this.#sendProgress(ctx, first, later)
    try {
      return await work(signal)
    } catch (error) {
      if (!signal.aborted) throw error
      return undefined
    } finally {
      stopProgress()
    }
  }

  /** Returns a function that stops it. */
  #sendProgress(ctx: ServerContext, first: string, later?: Promise<string | undefined>): () => void {
    const progressToken = ctx.mcpReq._meta?.progressToken
    if (progressToken === undefined) return () => {}
    let progress = 0
    let message = first
    let isOver = false
    const send = (): void => {
      progress += 1
      const params = { progressToken, progress, message }
      ctx.mcpReq.notify({ method: 'notifications/progress', params }).catch(this.#deps.onError)
    }
    send()
    const timer = setInterval(send, this.limits(ctx).progressIntervalMs)
    void later?.then(better => {
      if (better === undefined || isOver) return
      message = better
      send()
    })
    return () => {
      clearInterval(timer)
      isOver = true
    }
  }

  async #pending({ review, context }: WaitingCall): Promise<CallToolResult> {
    const { record } = await this.#deps.door.reviews.get(context.tenant, review.review_id)
    if (record.review.status !== 'pending') return pendingResult(review.review_id, undefined, true)
    return pendingResult(review.review_id, await this.#pageUrl(review.session_id))
  }

  /** The page's URL, if available soon. */
  async #pageUrl(conversation: string): Promise<string | undefined> {
    const { pageUrl, onError } = this.#deps
    const { pageUrlMs } = { ...DEFAULT_WAIT_LIMITS, ...this.#deps.waitLimits }
    const url = pageUrl(conversation, false).catch(onError)
    return (await Promise.race([url, delay(pageUrlMs, undefined, { ref: false })])) ?? undefined
  }

  limits(ctx: ServerContext): WaitLimits {
    const { traits } = clientOf(this.#deps.server, ctx)
    const ofHost = limitsOf(traits, ctx.mcpReq._meta?.progressToken !== undefined)
    return { ...DEFAULT_WAIT_LIMITS, ...ofHost, ...this.#deps.waitLimits }
  }
}

/** Returned by a 2026 client with each round of a waiting call. Sealed, so that clients cannot alter it. */
export interface RoundState {
  readonly review: string
  /** The client's question and its store time; absent while it only waits. */
  readonly asked?: Question & { readonly at: Instant }
  readonly round: number
  /** A hash of the call, the same in every round, so that the state is useless for another call. */
  readonly call: string
}

/** A century: the review decides how long it is valid, and a review may have no deadline. */
const TTL_S = 100 * 365 * 86_400

/** Seals round states. Any node with the same secret can open them. */
export const roundStateCodec = (secret: string): RequestStateCodec<RoundState> =>
  createRequestStateCodec<RoundState>({
    key: createHash('sha256').update('runsheet rounds\0').update(secret).digest(),
    ttlSeconds: TTL_S,
    bind: ({ mcpReq }) => mcpReq.method,
  })
