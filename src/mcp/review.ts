import { createHash } from 'node:crypto'
import { setTimeout as after } from 'node:timers/promises'
import {
  type CallToolResult,
  type ElicitResult,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Json } from '../domain/event.ts'
import { awaitCall } from '../toolsets/calls.ts'
import { answered, pending } from './answers.ts'
import type { Complaint } from './form.ts'
import { type Asker, Ladder, type Rung, tasksIn, type WaitingCall } from './ladder.ts'

/** What a client brings back with each round; sealed, so that it is as we gave it. */
export interface Round {
  readonly review: string
  readonly rung: Rung
  readonly round: number
  /** Of the arguments: another call is not answered with this one's review. */
  readonly call: string
}

/** How often a form that does not fit is put before the person. */
const MOST_TRIES = 5
const ANSWER = 'review'

/** Asks a person in the best way that their client has, and waits as long as that client can. Whoever answers first decides. */
export class Reviews {
  readonly #by: Asker
  readonly #ladder: Ladder
  /** Those that this client is asked about, each until it is not any more. */
  readonly #asked = new Map<string, Promise<void>>()

  constructor(by: Asker) {
    this.#by = by
    this.#ladder = new Ladder(by)
  }

  /** The round that a request comes back with, where it is of this very call. */
  roundOf(ctx: ServerContext, tool: string, input: unknown): Round | undefined {
    const round = ctx.mcpReq.requestState<Round>()
    return round && round.call === printOf(tool, input) ? round : undefined
  }

  async settle(call: WaitingCall, ctx: ServerContext, round?: Round): Promise<CallToolResult | InputRequiredResult> {
    // However the client is asked: the person may go to the page, and it may have ended meanwhile.
    this.#by.page(call.review.session_id, false).catch(this.#by.onError)
    return this.#by.era === 'legacy' ? this.#held(call, ctx) : this.#inRounds(call, ctx, round)
  }

  /** 2025: one call that is held, while the client is asked beside it and can be told that it is settled. */
  async #held(call: WaitingCall, ctx: ServerContext): Promise<CallToolResult> {
    const held = new AbortController()
    this.#push(call, ctx, held.signal).catch(this.#by.onError)
    try {
      const result = await this.#within(this.#by.patience.holdMs, call, ctx)
      return result === undefined ? await this.#pending(call) : answered(result)
    } finally {
      held.abort()
    }
  }

  /** 2026: nothing is held while the person thinks. The client asks, and comes back. */
  async #inRounds(call: WaitingCall, ctx: ServerContext, last?: Round): Promise<CallToolResult | InputRequiredResult> {
    const { patience, isPerson } = this.#by
    const rung = last?.rung ?? (await this.#ladder.best(call, ctx))
    const round = {
      review: call.review.review_id,
      rung,
      round: (last?.round ?? 0) + 1,
      call: printOf(call.tool, call.input),
    }
    const requestState = await this.#by.codec.mint(round, ctx)
    if (!last && rung !== 'page') {
      return inputRequired({ inputRequests: { [ANSWER]: await this.#ladder.question(call, rung) }, requestState })
    }
    const said = inputResponse(ctx.mcpReq.inputResponses, ANSWER)
    if (said.kind === 'elicit' && isPerson && rung !== 'page') {
      const complaint = await this.#ladder.decide(call, rung, said)
      if (complaint !== undefined && round.round < patience.rounds) {
        return inputRequired({
          inputRequests: { [ANSWER]: await this.#ladder.question(call, rung, complaint) },
          requestState,
        })
      }
    }
    const result = await this.#within(patience.roundMs, call, ctx)
    if (result !== undefined) return answered(result)
    // Who is told to come back does so at once: not to one who is about to end.
    const isLast = round.round >= patience.rounds || this.#by.closing.aborted
    return isLast ? this.#pending(call) : inputRequired({ requestState })
  }

  /** The answer, once there is one; nothing, if this client cannot wait any longer. */
  async #within(ms: number, call: WaitingCall, ctx: ServerContext): Promise<Json | undefined> {
    const { review, context } = call
    const left = ctx.http?.req?.signal
    // Who has hung up did not hear the answer: it is left for when they ask again.
    const gone = left ? [ctx.mcpReq.signal, left] : [ctx.mcpReq.signal]
    const enough = AbortSignal.any([...gone, this.#by.closing, AbortSignal.timeout(ms)])
    const stopProgress = this.#progress(call, ctx)
    try {
      return await awaitCall(review.tool_call_id, context, enough)
    } catch (error) {
      if (!enough.aborted) throw error
      return undefined
    } finally {
      stopProgress()
    }
  }

  /** Shows a client that asked for it that the call is alive; those who go by it wait longer. */
  #progress({ review }: WaitingCall, { mcpReq }: ServerContext): () => void {
    const progressToken = mcpReq._meta?.progressToken
    if (progressToken === undefined) return () => {}
    let progress = 0
    const message = `Waiting for a person to decide on ${tasksIn(review)}`
    const tell = (): void => {
      progress += 1
      const params = { progressToken, progress, message }
      mcpReq.notify({ method: 'notifications/progress', params }).catch(this.#by.onError)
    }
    tell()
    const timer = setInterval(tell, this.#by.patience.progressMs)
    return () => clearInterval(timer)
  }

  /** Asks the client beside a call that is held, and goes on if that ends first. Not twice at once, however often it is called. */
  async #push(call: WaitingCall, ctx: ServerContext, answered: AbortSignal): Promise<void> {
    const { review_id } = call.review
    // Another call asks: should that be taken back or cut off, it is for this one to ask.
    for (let other = this.#asked.get(review_id); other; other = this.#asked.get(review_id)) {
      await Promise.race([other, abortOf(answered)])
      if (answered.aborted) return
    }
    const settled = new AbortController()
    const over = new AbortController()
    const asking = Promise.withResolvers<void>()
    this.#asked.set(review_id, asking.promise)
    const letOthers = (): void => {
      if (this.#asked.get(review_id) === asking.promise) this.#asked.delete(review_id)
      asking.resolve()
    }
    // Whose connection was cut may not have seen the question; if it has, its answer still counts.
    ctx.http?.req?.signal.addEventListener('abort', letOthers, { once: true, signal: over.signal })
    this.#by.door.reviews
      .await(call.context.tenant, review_id, AbortSignal.any([over.signal, this.#by.closing]))
      .catch(() => {})
      .finally(() => settled.abort('It was decided elsewhere.'))
      .catch(this.#by.onError)
    // A call that is taken back takes its question along; one that is answered leaves it standing.
    const withdrawn = AbortSignal.any([settled.signal, ctx.mcpReq.signal])
    try {
      await this.#pushUntil(withdrawn, call, ctx, answered)
    } finally {
      over.abort()
      // Who waits on and was not reached is asked once more.
      letOthers()
    }
  }

  async #pushUntil(
    withdrawn: AbortSignal,
    call: WaitingCall,
    ctx: ServerContext,
    answered: AbortSignal,
  ): Promise<void> {
    for (const rung of await this.#ladder.ways(call, ctx)) {
      let complaint: Complaint | undefined
      for (let tries = 0; tries < MOST_TRIES && !withdrawn.aborted; tries += 1) {
        const question = await this.#ladder.question(call, rung, complaint)
        const said = await this.#elicited(question.params, call, ctx, withdrawn, answered)
        if (said === undefined) break
        complaint = this.#by.isPerson ? await this.#ladder.decide(call, rung, said) : undefined
        if (complaint) continue
        if (rung === 'url') await this.#opened(call, withdrawn)
        return
      }
    }
  }

  /** What the client answers; nothing where it cannot, or is not to any more. */
  async #elicited(
    params: unknown,
    { review }: WaitingCall,
    ctx: ServerContext,
    signal: AbortSignal,
    answered: AbortSignal,
  ): Promise<ElicitResult | undefined> {
    const timeout = Math.max(1, Date.parse(review.expires_at) - Date.now()) + 1_000
    // On the call's own stream as long as there is one: a client need not listen on another.
    const related = answered.aborted ? {} : { relatedRequestId: ctx.mcpReq.id }
    return ctx.mcpReq
      .elicitInput(params as Parameters<typeof ctx.mcpReq.elicitInput>[0], { signal, timeout, ...related })
      .catch(() => undefined)
  }

  /** Tells a client that shows a link that what it was for is over. */
  async #opened({ review }: WaitingCall, withdrawn: AbortSignal): Promise<void> {
    await abortOf(withdrawn)
    // One that does not know the word, or is gone, needs no telling.
    await this.#by.server.server
      .createElicitationCompletionNotifier(review.review_id)()
      .catch(() => {})
  }

  async #pending({ review }: WaitingCall): Promise<CallToolResult> {
    const page = this.#by.page(review.session_id, false).catch(this.#by.onError)
    const where = await Promise.race([page, after(this.#by.patience.pageMs, undefined, { ref: false })])
    return pending(review.review_id, where ?? undefined)
  }
}

const abortOf = (signal: AbortSignal): Promise<unknown> =>
  new Promise(resolve => {
    if (signal.aborted) resolve(undefined)
    else signal.addEventListener('abort', resolve, { once: true })
  })

/** Of a call as it was sent: a client that comes back sends the same. */
const printOf = (tool: string, input: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify([tool, input]))
    .digest('base64url')
