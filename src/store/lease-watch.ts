import { Lru } from './lru.ts'
import { type Lease, refKey } from './store.ts'

export interface WrittenLease extends Lease {
  /** Changes with each renewal. */
  readonly until: string
}

/** Leases remembered: more than turns that run at once. */
const MAX_SEEN = 10_000

interface Sighting {
  readonly written: string
  readonly since: number
}

/**
 * Detects an expired lease without comparing clocks: it has expired once this process has seen it unchanged for its
 * whole duration. A wrong or jumping clock neither ends a lease early nor prolongs it.
 */
export class LeaseWatch {
  readonly #elapsed: () => number
  /** Also has turns that now wait for a person. */
  readonly #seen = new Lru<Sighting>(MAX_SEEN)

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed
  }

  /** True if this process has seen no renewal for `ttlMs`. */
  isOver(lease: WrittenLease, ttlMs: number): boolean {
    return this.#elapsed() - this.saw(lease) >= ttlMs
  }

  saw(lease: WrittenLease): number {
    const written = `${lease.attempt} ${lease.until}`
    const seen = this.#seen.get(keyOf(lease))
    if (seen?.written === written) return seen.since
    const since = this.#elapsed()
    this.#seen.set(keyOf(lease), { written, since })
    return since
  }
}

const keyOf = (lease: Lease): string => `${refKey(lease)}/${lease.turn}`
