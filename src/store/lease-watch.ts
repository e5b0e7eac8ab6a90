import { Lru } from './lru.ts'
import { type Lease, refKey } from './store.ts'

/** A lease as it was last written. */
export interface WrittenLease extends Lease {
  /** Changes with each renewal. */
  readonly until: string
}

/** Sightings to remember: more than turns that are driven at once. */
const MAX_SEEN = 10_000

interface Sighting {
  readonly written: string
  /** When it was first seen like this. */
  readonly since: number
}

/**
 * Tells when a lease is over without comparing clocks: once this process has seen it unchanged for as long as it lasts.
 * So a clock that jumps, or that is wrong, neither ends a lease early nor prolongs it.
 */
export class LeaseWatch {
  readonly #elapsed: () => number
  /** Also those of turns that wait for a person meanwhile. */
  readonly #seen = new Lru<Sighting>(MAX_SEEN)

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed
  }

  /** Whether it has not been renewed for `ttlMs`, as far as this process has seen. */
  isOver(lease: WrittenLease, ttlMs: number): boolean {
    return this.#elapsed() - this.saw(lease) >= ttlMs
  }

  /** Notes a lease, and returns since when it has been seen like this. */
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
