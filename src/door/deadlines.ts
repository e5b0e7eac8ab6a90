import type { Instant } from '../domain/instant.ts'
import type { DueReview, Store } from '../store/store.ts'

/** The regular sweep, which finds the deadlines of other processes. */
const SWEEP_INTERVAL_MS = 2_000
const BATCH_SIZE = 100

/** Expires overdue reviews, with one timer for all deadlines. Any process may expire a review; the first one wins. */
export class Deadlines {
  readonly #store: Store
  readonly #expire: (review: DueReview) => Promise<unknown>
  readonly #onError: (error: unknown) => void
  #timer: NodeJS.Timeout | undefined
  #firesAt = Number.POSITIVE_INFINITY
  #sweeping: Promise<void> | undefined
  #stopped = false

  constructor(store: Store, expire: (review: DueReview) => Promise<unknown>, onError: (error: unknown) => void) {
    this.#store = store
    this.#expire = expire
    this.#onError = onError
    this.sweepWithin(0)
  }

  /** Makes sure that the next sweep starts within `ms`. */
  sweepWithin(ms: number): void {
    const at = performance.now() + Math.max(0, Math.min(ms, SWEEP_INTERVAL_MS))
    if (this.#stopped || at >= this.#firesAt) return
    this.#firesAt = at
    if (!this.#sweeping) this.#arm()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#sweeping
  }

  #arm(): void {
    clearTimeout(this.#timer)
    if (this.#stopped) return
    this.#timer = setTimeout(() => this.#fire(), Math.max(0, Math.ceil(this.#firesAt - performance.now())))
    // A pending review must not keep an idle process alive.
    this.#timer.unref()
  }

  #fire(): void {
    this.#firesAt = Number.POSITIVE_INFINITY
    this.#sweeping = this.#sweep().then(next => {
      this.#sweeping = undefined
      this.sweepWithin(next)
      // An earlier deadline may have been set during the sweep.
      this.#arm()
    })
  }

  /** Expires what is due. Returns the milliseconds until the next sweep. */
  async #sweep(): Promise<number> {
    try {
      for (let limit = BATCH_SIZE; ; ) {
        const { reviews, next } = await this.#store.due(limit)
        const outcomes = await Promise.allSettled(reviews.map(review => this.#expire(review)))
        const failures = outcomes.filter(outcome => outcome.status === 'rejected')
        for (const { reason } of failures) if (!this.#stopped) this.#onError(reason)
        if (reviews.length < limit || this.#stopped) return next ? await this.#until(next) : SWEEP_INTERVAL_MS
        // Reviews that fail now must not block the others.
        limit += failures.length
      }
    } catch (error) {
      if (!this.#stopped) this.#onError(error)
      return SWEEP_INTERVAL_MS
    }
  }

  async #until(moment: Instant): Promise<number> {
    return Date.parse(moment) - Date.parse(await this.#store.now())
  }
}
