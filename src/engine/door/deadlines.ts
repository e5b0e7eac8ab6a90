import { setTimeout as delay } from 'node:timers/promises'
import type { Instant } from '../../core/model/instant.ts'
import type { DueReview, Store } from '../../store/store.ts'

/** The longest delay for a deadline set by a process that has died. */
const POLL_MS = 2_000
const BATCH = 100

/** One timer for the deadlines of all processes. Any process may expire a review; the first one wins. */
export class Deadlines {
  readonly #store: Store
  readonly #expire: (review: DueReview) => Promise<unknown>
  readonly #onError: (error: unknown) => void
  /** Expiries in flight. They may block on a locked conversation, so the next sweep does not wait for them. */
  readonly #expiring = new Map<string, Promise<void>>()
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

  within(ms: number): void {
    const at = performance.now() + Math.max(0, Math.min(ms, POLL_MS))
    if (this.#stopped || at >= this.#firesAt) return
    this.#firesAt = at
    if (!this.#sweeping) this.#arm()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#sweeping
    await Promise.all(this.#expiring.values())
  }

  #arm(): void {
    clearTimeout(this.#timer)
    if (this.#stopped) return
    this.#timer = setTimeout(() => this.#look(), Math.max(0, Math.ceil(this.#firesAt - performance.now())))
    // Waiting for a person must not keep an otherwise idle process alive.
    this.#timer.unref()
  }

  #look(): void {
    this.#firesAt = Number.POSITIVE_INFINITY
    this.#sweeping = this.#sweep().then(next => {
      this.#sweeping = undefined
      this.within(next)
      // A deadline set during the sweep may be sooner.
      this.#arm()
    })
  }

  async #sweep(): Promise<number> {
    const failed = new Set<string>()
    try {
      for (;;) {
        // Reviews that fail or take long must not hold up the others.
        const limit = BATCH + failed.size + this.#expiring.size
        const { reviews, next } = await this.#store.due(limit)
        const fresh = reviews.filter(({ review_id: id }) => !failed.has(id) && !this.#expiring.has(id))
        const batch = Promise.all(fresh.map(review => this.#expireOne(review, failed)))
        if (reviews.length < limit || this.#stopped) return next ? await this.#until(next) : POLL_MS
        await Promise.race([batch, delay(POLL_MS, undefined, { ref: false })])
      }
    } catch (error) {
      if (!this.#stopped) this.#onError(error)
      return POLL_MS
    }
  }

  #expireOne(review: DueReview, failed: Set<string>): Promise<void> {
    const { review_id } = review
    const expiring = this.#expire(review)
      .catch((error: unknown) => {
        failed.add(review_id)
        if (!this.#stopped) this.#onError(error)
      })
      .then(() => void this.#expiring.delete(review_id))
    this.#expiring.set(review_id, expiring)
    return expiring
  }

  async #until(moment: Instant): Promise<number> {
    return Date.parse(moment) - Date.parse(await this.#store.now())
  }
}
