import type { Decision, Door, Ref } from '../engine/door/door.ts'
import { Refusal } from '../core/model/refusal.ts'
import type { ReviewRequest } from '../core/model/review.ts'

/** Decides a review. Returns nothing to leave the decision to the page or to `Conversation.decide`. */
export type OnReview = (review: ReviewRequest) => Decision | undefined | void | Promise<Decision | undefined | void>

const HINT_AFTER_MS = 5_000

/** Asks `onReview` about the reviews opened in this process. Without `onReview`, it hints once at how to decide. */
export class Reviewer {
  readonly #onReview: OnReview | undefined
  readonly #onError: (error: unknown) => void
  readonly #asking = new Map<string, Promise<void>>()
  /** Reviews that the host decides by AI SDK approval. */
  readonly #left = new Set<string>()
  #hasHinted = false

  constructor(onReview: OnReview | undefined, onError: (error: unknown) => void) {
    this.#onReview = onReview
    this.#onError = onError
  }

  /** Called when a review opens: by a call, a turn that a runner drives, or a request to a handler. */
  opened(door: Door, ref: Ref, reviewId: string): void {
    if (this.#onReview) this.#ask(door, ref, reviewId).catch(this.#onError)
    else setTimeout(() => this.#hint(door, ref, reviewId).catch(this.#onError), HINT_AFTER_MS).unref()
  }

  /** The host decides it, so no hint is needed. */
  leave(reviewId: string): void {
    if (!this.#onReview) this.#left.add(reviewId)
  }

  /** Runs `wait` while `onReview` decides. If `onReview` throws, the call fails instead of waiting forever. */
  async during<T>(door: Door, ref: Ref, reviewId: string, wait: (ending: AbortSignal) => Promise<T>): Promise<T> {
    if (!this.#onReview) return wait(NEVER)
    const ending = new AbortController()
    const failed = this.#ask(door, ref, reviewId).then(() => new Promise<never>(() => {}))
    try {
      return await Promise.race([wait(ending.signal), failed])
    } finally {
      ending.abort()
    }
  }

  /** Calls `onReview` once per review at a time. */
  #ask(door: Door, ref: Ref, reviewId: string): Promise<void> {
    const asked = this.#asking.get(reviewId)
    if (asked) return asked
    const asking = this.#decide(door, ref, reviewId)
    this.#asking.set(reviewId, asking)
    const forget = (): boolean => this.#asking.delete(reviewId)
    asking.then(forget, forget)
    return asking
  }

  async #decide(door: Door, { tenant }: Ref, reviewId: string): Promise<void> {
    const { record } = await door.reviews.get(tenant, reviewId)
    if (record.resolution) return
    const decision = await this.#onReview?.(record.review)
    if (!decision) return
    try {
      await door.reviews.decide(tenant, reviewId, decision, 'library')
    } catch (error) {
      // Already decided or expired: the call returns that outcome.
      if (!(error instanceof Refusal)) throw error
      if (error.is('review_already_decided') || error.is('review_expired')) return
      // Not a Refusal: a Refusal would be reported to the model.
      throw new TypeError(`The decision of onReview was refused: ${error.message}`, { cause: error })
    }
  }

  async #hint(door: Door, ref: Ref, reviewId: string): Promise<void> {
    if (this.#left.delete(reviewId) || this.#hasHinted || door.hasPage()) return
    const review = (await door.read(ref)).reviews.get(reviewId)
    if (review?.status !== 'pending' || review.panels.length > 0 || this.#hasHinted) return
    this.#hasHinted = true
    process.stderr.write(
      `Runsheet: a plan waits for review (${reviewId} in conversation ${ref.conversation}), and nothing here can ask a person. ` +
        'Pass onReview to createRunsheet, call conversation.decide(), serve the page, or turn reviews off with policy: { review: false }.\n',
    )
  }
}

const NEVER = new AbortController().signal
