import type { ElicitResult, ServerContext } from '@modelcontextprotocol/server'
import type { Elicitor, ElicitorDeps, Step, WaitingCall } from './elicitor.ts'

/** The longest timer that Node supports. */
const MAX_TIMER_MS = 2 ** 31 - 1

export interface LegacyElicitationDeps extends ElicitorDeps {
  readonly onError: (error: unknown) => void
}

/** Elicitation of the 2025 protocol: asks the client while its call is held, one request per review at a time. */
export class LegacyElicitation {
  readonly #deps: LegacyElicitationDeps
  readonly #elicitor: Elicitor
  /** Reviews that the client is being asked about. Each promise resolves when another call may ask. */
  readonly #asking = new Map<string, Promise<void>>()

  constructor(deps: LegacyElicitationDeps, elicitor: Elicitor) {
    this.#deps = deps
    this.#elicitor = elicitor
  }

  /** Asks, or waits while another call asks about the same review. `answered` aborts when the held call is answered. */
  async ask(call: WaitingCall, ctx: ServerContext, answered: AbortSignal): Promise<void> {
    const { review_id } = call.review
    // If the call that asks is cancelled or disconnected, this one takes over.
    for (let other = this.#asking.get(review_id); other; other = this.#asking.get(review_id)) {
      await Promise.race([other, aborted(answered)])
      if (answered.aborted) return
    }
    const done = Promise.withResolvers<void>()
    this.#asking.set(review_id, done.promise)
    const release = (): void => {
      if (this.#asking.get(review_id) === done.promise) this.#asking.delete(review_id)
      done.resolve()
    }
    const over = new AbortController()
    // A disconnected client may have missed the request, so another call may ask. A late answer still counts.
    ctx.http?.req?.signal.addEventListener('abort', release, { once: true, signal: over.signal })
    // Cancelling the call withdraws its request; answering it does not.
    const withdrawn = AbortSignal.any([this.#decided(call, over.signal), ctx.mcpReq.signal])
    try {
      await this.#climb(call, ctx, withdrawn, answered)
    } finally {
      over.abort()
      release()
    }
  }

  /** Aborts once the review is decided by any means, or with `over`. */
  #decided({ review, context }: WaitingCall, over: AbortSignal): AbortSignal {
    const decided = new AbortController()
    this.#deps.door.reviews
      .await(context.tenant, review.review_id, AbortSignal.any([over, this.#deps.closing]))
      .catch(() => {})
      .finally(() => decided.abort('The review was decided elsewhere.'))
      .catch(this.#deps.onError)
    return decided.signal
  }

  async #climb(call: WaitingCall, ctx: ServerContext, withdrawn: AbortSignal, answered: AbortSignal): Promise<void> {
    let step = await this.#elicitor.first(call, ctx)
    let last = step
    while (step.kind === 'ask' && !withdrawn.aborted) {
      last = step
      step = await this.#askOnce(step, call, ctx, withdrawn, answered)
    }
    if (step.kind === 'show_page' && !withdrawn.aborted) await this.#elicitor.showPage(call, ctx)
    if (step.kind === 'wait' && last.kind === 'ask' && last.question.screen === 'url') {
      await this.#completeWhen(withdrawn, call)
    }
  }

  async #askOnce(
    { question, error }: Extract<Step, { kind: 'ask' }>,
    call: WaitingCall,
    ctx: ServerContext,
    withdrawn: AbortSignal,
    answered: AbortSignal,
  ): Promise<Step> {
    const { params } = await this.#elicitor.request(call, question, ctx, error)
    const at = await this.#deps.door.now()
    const response = await this.#elicit(params, ctx, withdrawn, answered)
    if (response === undefined) return this.#elicitor.failed(call, question, ctx)
    return this.#elicitor.answered(call, { ...question, at }, response, ctx)
  }

  /** The client's response; undefined if it failed or the request was withdrawn. */
  async #elicit(
    params: unknown,
    ctx: ServerContext,
    signal: AbortSignal,
    answered: AbortSignal,
  ): Promise<ElicitResult | undefined> {
    // The review's own end withdraws the request, because a person may have extended it.
    const timeout = MAX_TIMER_MS
    // Uses the held call's stream, because the client may have no other open.
    const related = answered.aborted ? {} : { relatedRequestId: ctx.mcpReq.id }
    return ctx.mcpReq
      .elicitInput(params as Parameters<typeof ctx.mcpReq.elicitInput>[0], { signal, timeout, ...related })
      .catch(() => undefined)
  }

  /** Tells a client that shows a link that the review is over. */
  async #completeWhen(withdrawn: AbortSignal, { review }: WaitingCall): Promise<void> {
    await aborted(withdrawn)
    // Best effort: the client may not support the notification, or be gone.
    await this.#deps.server.server
      .createElicitationCompletionNotifier(review.review_id)()
      .catch(() => {})
  }
}

const aborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise(resolve => {
    if (signal.aborted) resolve(undefined)
    else signal.addEventListener('abort', resolve, { once: true })
  })
