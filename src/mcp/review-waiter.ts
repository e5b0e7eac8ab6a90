import { setTimeout as delay } from 'node:timers/promises'
import {
  type CallToolResult,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Json } from '../domain/event.ts'
import { awaitCall } from '../toolsets/calls.ts'
import { countTasks, Elicitor, type WaitingCall } from './elicitor.ts'
import { LegacyElicitation, type LegacyElicitationDeps } from './legacy-elicitation.ts'
import { callHash, type RoundState } from './round-state.ts'
import { pendingResult, toolResult } from './tool-result.ts'

/** The key of our question in a 2026 result. */
const QUESTION = 'review'

export interface ReviewWaiterDeps extends LegacyElicitationDeps {
  readonly codec: RequestStateCodec<RoundState>
}

/** Asks a person about a call's review and waits as long as the client can. The first decision counts, wherever it is made. */
export class ReviewWaiter {
  readonly #deps: ReviewWaiterDeps
  readonly #elicitor: Elicitor
  readonly #legacy: LegacyElicitation

  constructor(deps: ReviewWaiterDeps) {
    this.#deps = deps
    this.#elicitor = new Elicitor(deps)
    this.#legacy = new LegacyElicitation(deps, this.#elicitor)
  }

  /** The round state that a request brings back, if it belongs to this very call. */
  roundState(ctx: ServerContext, tool: string, input: unknown): RoundState | undefined {
    const state = ctx.mcpReq.requestState<RoundState>()
    return state && state.call === callHash(tool, input) ? state : undefined
  }

  async wait(call: WaitingCall, ctx: ServerContext, last?: RoundState): Promise<CallToolResult | InputRequiredResult> {
    // Starts the page's server if it has exited: a person may always decide there.
    this.#deps.pageUrl(call.review.session_id, false).catch(this.#deps.onError)
    return this.#deps.era === 'legacy' ? this.#hold(call, ctx) : this.#waitInRounds(call, ctx, last)
  }

  /** 2025: the call is held, and the client asked meanwhile. */
  async #hold(call: WaitingCall, ctx: ServerContext): Promise<CallToolResult> {
    const answered = new AbortController()
    this.#legacy.ask(call, ctx, answered.signal).catch(this.#deps.onError)
    try {
      const answer = await this.#answerWithin(this.#deps.waitLimits.holdMs, call, ctx)
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
    const { waitLimits, isPerson, closing, codec } = this.#deps
    const method = last?.method ?? (await this.#elicitor.bestMethod(call, ctx))
    const round = (last?.round ?? 0) + 1
    const state = { review: call.review.review_id, method, round, call: callHash(call.tool, call.input) }
    const requestState = await codec.mint(state, ctx)
    if (!last && method !== 'page') {
      return inputRequired({ inputRequests: { [QUESTION]: await this.#elicitor.request(call, method) }, requestState })
    }
    const response = inputResponse(ctx.mcpReq.inputResponses, QUESTION)
    if (response.kind === 'elicit' && isPerson && method !== 'page') {
      const error = await this.#elicitor.submit(call, method, response)
      if (error !== undefined && round < waitLimits.maxRounds) {
        const again = await this.#elicitor.request(call, method, error)
        return inputRequired({ inputRequests: { [QUESTION]: again }, requestState })
      }
    }
    const answer = await this.#answerWithin(waitLimits.roundMs, call, ctx)
    if (answer !== undefined) return toolResult(answer)
    // The client repeats the call at once, so not while this process is ending.
    const isLast = round >= waitLimits.maxRounds || closing.aborted
    return isLast ? this.#pending(call) : inputRequired({ requestState })
  }

  /** The call's answer, or undefined after `ms`, on disconnect or at shutdown. */
  async #answerWithin(ms: number, { review, context }: WaitingCall, ctx: ServerContext): Promise<Json | undefined> {
    const disconnected = ctx.http?.req?.signal
    // A disconnected client would not get the answer: it stays undelivered until the call is repeated.
    const gone = disconnected ? [ctx.mcpReq.signal, disconnected] : [ctx.mcpReq.signal]
    const signal = AbortSignal.any([...gone, this.#deps.closing, AbortSignal.timeout(ms)])
    const stopProgress = this.#sendProgress(countTasks(review), ctx)
    try {
      return await awaitCall(review.tool_call_id, context, signal)
    } catch (error) {
      if (!signal.aborted) throw error
      return undefined
    } finally {
      stopProgress()
    }
  }

  /** Sends progress if the client asked for it; some clients wait longer then. Returns a function that stops it. */
  #sendProgress(tasks: string, { mcpReq }: ServerContext): () => void {
    const progressToken = mcpReq._meta?.progressToken
    if (progressToken === undefined) return () => {}
    let progress = 0
    const message = `Waiting for a person to decide on ${tasks}`
    const send = (): void => {
      progress += 1
      const params = { progressToken, progress, message }
      mcpReq.notify({ method: 'notifications/progress', params }).catch(this.#deps.onError)
    }
    send()
    const timer = setInterval(send, this.#deps.waitLimits.progressIntervalMs)
    return () => clearInterval(timer)
  }

  async #pending({ review }: WaitingCall): Promise<CallToolResult> {
    const { pageUrl, waitLimits, onError } = this.#deps
    const url = pageUrl(review.session_id, false).catch(onError)
    const known = await Promise.race([url, delay(waitLimits.pageUrlMs, undefined, { ref: false })])
    return pendingResult(review.review_id, known ?? undefined)
  }
}
