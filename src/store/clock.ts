import { type Instant, instantOf } from '../domain/instant.ts'
import { Lru } from './lru.ts'
import { type Ref, refKey } from './store.ts'

/** How far the wall clock may get away from even time between two readings: more is a jump, or the machine slept. */
const MAX_DRIFT_MS = 100

/** Logs ahead of the clock to remember. */
const MAX_AHEAD = 10_000

export interface StoreClockOptions {
  /** Whether a review waits for its deadline. */
  readonly isAwaited: () => boolean
  /** How far it is ahead of the machine's clock: lets tests pass a deadline. */
  readonly skewMs?: (() => number) | undefined
}

/**
 * The clock of a store without a clock of its own: the wall clock, except that a jump is not followed while a review waits
 * for its deadline, which would come early or late. Then time goes on evenly. A log that is ahead of it, because the clock
 * went back or another process wrote it, has its own time: that goes on from the log's end.
 */
export class StoreClock {
  readonly #isAwaited: () => boolean
  readonly #skewMs: () => number
  /** Wall clock minus monotonic clock. */
  #offset = Date.now() - performance.now()
  /** Of each log that is ahead, how much later it is there than the elapsed milliseconds. */
  readonly #ahead = new Lru<number>(MAX_AHEAD)

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

  /** The time in a conversation whose log ends at `loggedAt`. */
  nowIn(ref: Ref, loggedAt: Instant | null): Instant {
    return instantOf(this.#ms() + this.aheadMs(ref, loggedAt))
  }

  /** How far the time in a conversation is ahead. `loggedAt`: where its log ends; null: as far as is known. */
  aheadMs(ref: Ref, loggedAt: Instant | null): number {
    const [key, elapsed] = [refKey(ref), this.elapsed()]
    const known = this.#ahead.get(key) ?? Number.NEGATIVE_INFINITY
    const offset = loggedAt === null ? known : Math.max(known, Date.parse(loggedAt) - elapsed)
    const aheadMs = elapsed + offset - this.#ms()
    if (aheadMs > MAX_DRIFT_MS) {
      this.#ahead.set(key, offset)
      return Math.round(aheadMs)
    }
    this.#ahead.delete(key)
    return 0
  }

  /** Whether a log is known to be ahead. */
  get hasLogsAhead(): boolean {
    return this.#ahead.size > 0
  }

  #ms(): number {
    const wall = Date.now()
    const even = performance.now() + this.#offset
    if (Math.abs(wall - even) > MAX_DRIFT_MS && this.#isAwaited()) return even + this.#skewMs()
    this.#offset += wall - even
    return wall + this.#skewMs()
  }
}
