import type { Instant } from '../domain/instant.ts'
import type { DueReview, Store } from '../store/store.ts'

/** How late a deadline may be noticed that a process set which is gone. */
const LOOK_EVERY_MS = 2_000
const AT_ONCE = 100

/** One timer for all deadlines that there are, whoever set them. Any process may expire a review: the first one does. */
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
    this.within(0)
  }

  /** Sees to it that the next look is not later than this. */
  within(ms: number): void {
    const at = performance.now() + Math.max(0, Math.min(ms, LOOK_EVERY_MS))
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
    this.#timer = setTimeout(() => this.#look(), Math.max(0, Math.ceil(this.#firesAt - performance.now())))
    // Waiting for a person must not keep a process alive that has nothing else to do.
    this.#timer.unref()
  }

  #look(): void {
    this.#firesAt = Number.POSITIVE_INFINITY
    this.#sweeping = this.#sweep().then(next => {
      this.#sweeping = undefined
      this.within(next)
      // Also when a deadline that was set meanwhile is the sooner one.
      this.#arm()
    })
  }

  /** Expires what is due, and says in how many milliseconds to look again. */
  async #sweep(): Promise<number> {
    try {
      for (let limit = AT_ONCE; ; ) {
        const { reviews, next } = await this.#store.due(limit)
        const outcomes = await Promise.allSettled(reviews.map(review => this.#expire(review)))
        const failures = outcomes.filter(outcome => outcome.status === 'rejected')
        for (const { reason } of failures) if (!this.#stopped) this.#onError(reason)
        if (reviews.length < limit || this.#stopped) return next ? await this.#until(next) : LOOK_EVERY_MS
        // Those that cannot be written now must not stand in the way of the others.
        limit += failures.length
      }
    } catch (error) {
      if (!this.#stopped) this.#onError(error)
      return LOOK_EVERY_MS
    }
  }

  async #until(moment: Instant): Promise<number> {
    return Date.parse(moment) - Date.parse(await this.#store.now())
  }
}
