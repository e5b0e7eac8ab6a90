import { isExclusive, type Need } from '../domain/needs.ts'
import type { StoreClock } from './clock.ts'
import type { Entry, TurnLease } from './memory-entry.ts'
import { type ClaimOptions, type Lease, refKey } from './store.ts'

/** Leases of turns. */
export class MemoryLeases {
  readonly #entries: ReadonlyMap<string, Entry>
  readonly #clock: StoreClock

  constructor(entries: ReadonlyMap<string, Entry>, clock: StoreClock) {
    this.#entries = entries
    this.#clock = clock
  }

  claim(ttlMs: number, { abilities, wanted }: ClaimOptions): Lease | undefined {
    const able = new Set<Need | null>(abilities.filter(need => !isExclusive(need) || !this.served(need)))
    for (const [entry, row] of this.#rows()) {
      if (wanted && (refKey(entry.ref) !== refKey(wanted) || row.turn !== wanted.turn)) continue
      if (!able.has(row.needs) || this.#isHeld(row)) continue
      if (isExclusive(row.needs)) this.#overtake(row.needs)
      const attempt = row.attempt + 1
      entry.turns.set(row.turn, { ...row, attempt, until: this.#clock.elapsed() + ttlMs, serves: row.needs })
      return { ...entry.ref, turn: row.turn, attempt }
    }
    return undefined
  }

  served(need: Need): boolean {
    return this.#rows().some(([, row]) => row.serves === need && this.#isHeld(row))
  }

  renew(lease: Lease, ttlMs: number): boolean {
    const until = this.#clock.elapsed() + ttlMs
    return this.#change(lease, row => ({ ...row, until }))
  }

  release(lease: Lease): void {
    this.#change(lease, row => ({ ...row, until: null, serves: null }))
  }

  #change(lease: Lease, change: (row: TurnLease) => TurnLease): boolean {
    const turns = this.#entries.get(refKey(lease))?.turns
    const row = turns?.get(lease.turn)
    if (!turns || row?.attempt !== lease.attempt || row.until === null) return false
    turns.set(lease.turn, change(row))
    return true
  }

  /** Ends the leases for a need that are over: their holders may be late, and must not go on. */
  #overtake(need: Need | null): void {
    for (const [{ turns }, row] of this.#rows()) {
      if (row.serves !== need) continue
      turns.set(row.turn, { ...row, attempt: row.attempt + 1, until: null, serves: null })
    }
  }

  #isHeld({ until }: TurnLease): boolean {
    return until !== null && until > this.#clock.elapsed()
  }

  #rows(): (readonly [Entry, TurnLease])[] {
    return [...this.#entries.values()].flatMap(entry => [...entry.turns.values()].map(row => [entry, row] as const))
  }
}
