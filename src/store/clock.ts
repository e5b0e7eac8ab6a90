import { type Instant, instantOf } from '../core/model/instant.ts'

/**
 * Allowed drift between the wall clock and the monotonic clock per reading. More means a jump, or that the machine
 * slept.
 */
const MAX_DRIFT_MS = 100

export interface StoreClockOptions {
  readonly isAwaited: () => boolean
  /** Added to the machine's clock, so that tests can pass a deadline. */
  readonly skewMs?: (() => number) | undefined
}

/**
 * The clock of a store that has none of its own. It follows the wall clock, but ignores a jump while a review waits for
 * its deadline, which would otherwise come early or late; until then it advances monotonically.
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
    const wall = Date.now()
    const even = performance.now() + this.#offset
    if (Math.abs(wall - even) > MAX_DRIFT_MS && this.#isAwaited()) return instantOf(even + this.#skewMs())
    this.#offset += wall - even
    return instantOf(wall + this.#skewMs())
  }

  /** The wall clock, on which all processes agree: for leases. */
  wall(): number {
    return Date.now() + this.#skewMs()
  }
}
