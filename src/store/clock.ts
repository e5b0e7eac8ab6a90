import { type Conversation, nextDeadline } from '../domain/conversation.ts'
import { type Instant, instantOf } from '../domain/instant.ts'

/** How far the wall clock may get away from even time between two readings: more is a jump, or the machine slept. */
const MAX_DRIFT_MS = 100

export interface StoreClockOptions {
  /** Whether a review waits for its deadline. */
  readonly isAwaited: () => boolean
  /** How far it is ahead of the machine's clock: lets tests pass a deadline. */
  readonly skewMs?: (() => number) | undefined
}

/**
 * The clock of a store without a clock of its own: the wall clock, except that a jump is not followed while a review waits
 * for its deadline, which would come early or late. Then time goes on evenly.
 */
export class StoreClock {
  readonly #isAwaited: () => boolean
  readonly #skewMs: () => number
  /** Wall clock minus monotonic clock. */
  #offset = Date.now() - performance.now()

  constructor({ isAwaited, skewMs = () => 0 }: StoreClockOptions) {
    this.#isAwaited = isAwaited
    this.#skewMs = skewMs
  }

  now(): Instant {
    return instantOf(this.#ms())
  }

  /** Milliseconds by which to measure how long something lasts. They have no date. */
  elapsed(): number {
    return performance.now() + this.#skewMs()
  }

  /**
   * `loggedAt` is the newest time in the log of the review that is due next. If that is later than now, a clock ahead of
   * this one has set the deadline, and time goes on from there.
   */
  catchUp(loggedAt: Instant): void {
    if (this.#isBehind(loggedAt)) this.#offset = Date.parse(loggedAt) - this.elapsed()
  }

  /** Whether a deadline was just set that lies too far ahead, because the log was ahead of this clock. */
  isOvertaken(state: Conversation): boolean {
    return nextDeadline(state) !== undefined && state.updated_at !== null && this.#isBehind(state.updated_at)
  }

  #isBehind(at: Instant): boolean {
    return Date.parse(at) - this.#ms() > MAX_DRIFT_MS
  }

  #ms(): number {
    const wall = Date.now()
    const even = performance.now() + this.#offset
    if (Math.abs(wall - even) > MAX_DRIFT_MS && this.#isAwaited()) return even + this.#skewMs()
    this.#offset += wall - even
    return wall + this.#skewMs()
  }
}
