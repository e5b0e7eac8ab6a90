import type { Decision, Door } from '../door/door.ts'
import { Refusal } from '../domain/refusal.ts'
import type { ReviewRequest } from '../domain/review.ts'

/** Decides a review, or returns nothing to leave it to a person on the page or to `Conversation.decide`. */
export type OnReview = (review: ReviewRequest) => Decision | undefined | void | Promise<Decision | undefined | void>

const HINT_AFTER_MS = 5_000

/** Asks the program about plans that wait for a review. Without `onReview` it hints once that no one can be asked. */
export class Reviewer {
  readonly #door: Door
  readonly #tenant: string
  readonly #onReview: OnReview | undefined
  readonly #asked = new Set<string>()
  #hasHinted = false

  constructor(door: Door, tenant: string, onReview: OnReview | undefined) {
    this.#door = door
    this.#tenant = tenant
    this.#onReview = onReview
  }

  /** Runs `wait` while the review is asked about. A throwing `onReview` fails the call instead of leaving it waiting. */
  async during<T>(reviewId: string, wait: (ending: AbortSignal) => Promise<T>): Promise<T> {
    const ending = new AbortController()
    const timer = this.#onReview ? undefined : setTimeout(() => void this.#hint(reviewId), HINT_AFTER_MS)
    timer?.unref()
    const failed = this.#ask(reviewId).then(
      () => new Promise<never>(() => {}),
      (error: unknown) => Promise.reject(error),
    )
    try {
      return await Promise.race([wait(ending.signal), failed])
    } finally {
      clearTimeout(timer)
      ending.abort()
    }
  }

  async #ask(reviewId: string): Promise<void> {
    if (!this.#onReview || this.#asked.has(reviewId)) return
    this.#asked.add(reviewId)
    try {
      const { record } = await this.#door.reviews.get(this.#tenant, reviewId)
      if (record.resolution) return
      const decision = await this.#onReview(record.review)
      if (decision) await this.#decide(reviewId, decision)
    } finally {
      this.#asked.delete(reviewId)
    }
  }

  async #decide(reviewId: string, decision: Decision): Promise<void> {
    try {
      await this.#door.reviews.decide(this.#tenant, reviewId, decision, 'library')
    } catch (error) {
      // Somebody else decided first, or the deadline did: the call is answered with that.
      const isOver = error instanceof Refusal && (error.is('review_already_decided') || error.is('review_expired'))
      if (!isOver) throw error
    }
  }

  async #hint(reviewId: string): Promise<void> {
    if (this.#hasHinted || this.#door.hasPage()) return
    const { record, ...ref } = await this.#door.reviews.get(this.#tenant, reviewId)
    const isShown = ((await this.#door.read(ref)).reviews.get(reviewId)?.panels.length ?? 0) > 0
    if (record.resolution || isShown || this.#hasHinted) return
    this.#hasHinted = true
    process.stderr.write(
      `Runsheet: a plan waits for review (${reviewId} in conversation ${ref.conversation}), and nothing here can ask a person. ` +
        'Pass onReview to createRunsheet, call conversation.decide(), serve the page, or turn reviews off with policy: { review: false }.\n',
    )
  }
}
