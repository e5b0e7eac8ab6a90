import type { ElicitResult, ServerContext } from '@modelcontextprotocol/server'
import type { Elicitor, ElicitorDeps, ElicitMethod, WaitingCall } from './elicitor.ts'
import type { FormError } from './review-form.ts'

/** How often an invalid form is shown again. */
const MAX_ATTEMPTS = 5
/** The review expires first, so that its answer is `review_timeout`. */
const EXPIRY_MARGIN_MS = 1_000
/** The longest timer there is. */
const MAX_TIMER_MS = 2 ** 31 - 1

export interface LegacyElicitationDeps extends ElicitorDeps {
  readonly onError: (error: unknown) => void
}

/** Elicitation of the 2025 protocol: the client is asked while its call is held, one request per review at a time. */
export class LegacyElicitation {
  readonly #deps: LegacyElicitationDeps
  readonly #elicitor: Elicitor
  /** The reviews that the client is being asked about. Each promise resolves when another call may ask. */
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
      await this.#askByEachMethod(call, ctx, withdrawn, answered)
    } finally {
      over.abort()
      release()
    }
  }

  /** A signal that aborts once the review is decided, by any means, or there is no more need to know. */
  #decided({ review, context }: WaitingCall, over: AbortSignal): AbortSignal {
    const decided = new AbortController()
    this.#deps.door.reviews
      .await(context.tenant, review.review_id, AbortSignal.any([over, this.#deps.closing]))
      .catch(() => {})
      .finally(() => decided.abort('The review was decided elsewhere.'))
      .catch(this.#deps.onError)
    return decided.signal
  }

  async #askByEachMethod(
    call: WaitingCall,
    ctx: ServerContext,
    withdrawn: AbortSignal,
    answered: AbortSignal,
  ): Promise<void> {
    for (const method of await this.#elicitor.methods(call, ctx)) {
      if (await this.#askBy(method, call, ctx, withdrawn, answered)) return
    }
  }

  /** Whether the client answered. If it failed, the next method is tried. */
  async #askBy(
    method: ElicitMethod,
    call: WaitingCall,
    ctx: ServerContext,
    withdrawn: AbortSignal,
    answered: AbortSignal,
  ): Promise<boolean> {
    let error: FormError | undefined
    for (let attempt = 0; attempt < MAX_ATTEMPTS && !withdrawn.aborted; attempt += 1) {
      const { params } = await this.#elicitor.request(call, method, error)
      const response = await this.#elicit(params, call, ctx, withdrawn, answered)
      if (response === undefined) return false
      error = this.#deps.isPerson ? await this.#elicitor.submit(call, method, response) : undefined
      if (error) continue
      if (method === 'url') await this.#completeWhen(withdrawn, call)
      return true
    }
    return false
  }

  /** The client's response; undefined if it failed or the request was withdrawn. */
  async #elicit(
    params: unknown,
    { review }: WaitingCall,
    ctx: ServerContext,
    signal: AbortSignal,
    answered: AbortSignal,
  ): Promise<ElicitResult | undefined> {
    const now = Date.parse(await this.#deps.door.now())
    const expiry = review.expires_at === null ? Infinity : Math.max(0, Date.parse(review.expires_at) - now)
    const timeout = Math.min(expiry + EXPIRY_MARGIN_MS, MAX_TIMER_MS)
    // On the held call's own stream: the client may have no other open.
    const related = answered.aborted ? {} : { relatedRequestId: ctx.mcpReq.id }
    return ctx.mcpReq
      .elicitInput(params as Parameters<typeof ctx.mcpReq.elicitInput>[0], { signal, timeout, ...related })
      .catch(() => undefined)
  }

  /** Tells a client that shows a link when the review is over. */
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
