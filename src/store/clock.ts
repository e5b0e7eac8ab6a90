import { type Instant, instantOf } from '../core/model/instant.ts'
import { Lru } from './lru.ts'
import { type DueReview, type Ref, refKey } from './store.ts'

/**
 * Allowed drift between the wall clock and the monotonic clock per reading. More means a jump, or that the machine
 * slept.
 */
const MAX_DRIFT_MS = 100

/** Logs ahead of the clock that are remembered. */
const MAX_AHEAD = 10_000

export interface StoreClockOptions {
  readonly isAwaited: () => boolean
  /** Added to the machine's clock, so that tests can pass a deadline. */
  readonly skewMs?: (() => number) | undefined
}

/**
 * The clock of a store that has none of its own. It follows the wall clock, but ignores a jump while a review waits for
 * its deadline, which would otherwise come early or late; until then it advances monotonically. A log may be ahead of
 * it because the clock was set back or another process wrote it. Such a log keeps its own time, which continues from
 * the log's end.
 */
export class StoreClock {
  readonly #isAwaited: () => boolean
  readonly #skewMs: () => number
  /** Wall clock minus monotonic clock. */
  #offset = Date.now() - performance.now()
  /** For each log that is ahead: its time minus the elapsed milliseconds. */
  readonly #ahead = new Lru<number>(MAX_AHEAD)

  constructor({ isAwaited, skewMs = () => 0 }: StoreClockOptions) {
    this.#isAwaited = isAwaited
    this.#skewMs = skewMs
  }

  now(): Instant {
    return instantOf(this.#ms())
  }

  /** Milliseconds for measuring durations; not a date. */
  elapsed(): number {
    return performance.now() + this.#skewMs()
  }

  /** The time in a conversation whose last event is from `loggedAt`. */
  nowIn(ref: Ref, loggedAt: Instant | null): Instant {
    return instantOf(this.#ms() + this.aheadMs(ref, loggedAt))
  }

  /**
   * How far a conversation's time is ahead. `loggedAt`: the time of its last event; null uses what is already known.
   */
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

/** Splits reviews, by their deadlines on one clock, into those that are due and the time of the next. */
export function dueBy(
  reviews: readonly { readonly review: DueReview; readonly due_at: Instant }[],
  now: Instant,
): { readonly reviews: DueReview[]; readonly next?: Instant } {
  const sorted = reviews.toSorted((a, b) => (a.due_at < b.due_at ? -1 : 1))
  const next = sorted.find(({ due_at }) => due_at > now)?.due_at
  const due = sorted.filter(({ due_at }) => due_at <= now).map(({ review }) => review)
  return { reviews: due, ...(next === undefined ? {} : { next }) }
}
