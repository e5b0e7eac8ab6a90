import type { Need } from '../domain/needs.ts'
import type { ClaimOptions, Lease, Ref } from '../store/store.ts'
import { type CheckMaker, isGone } from './checks.ts'
import type { Seam } from './seam.ts'
import { type Service, ServiceWatch } from './service-watch.ts'

/** Leases: the right to act on a turn. */
export class Turns {
  readonly #store: Seam
  readonly #services: ServiceWatch
  readonly #listeners = new Set<(lease: Lease) => void>()

  constructor(store: Seam, checks: CheckMaker) {
    this.#store = store
    this.#services = new ServiceWatch(
      need => store.served(need),
      need => isGone(checks, need),
    )
  }

  /** Claims a turn that needs one of the abilities and has no lease, or the wanted one; undefined if there is none. */
  claim(runner: string, ttlMs: number, options: ClaimOptions): Promise<Lease | undefined> {
    return this.#store.claim(runner, ttlMs, options)
  }

  /** Whether a lease for this need is held now, by whichever process. */
  served(need: Need): Promise<boolean> {
    return this.#store.served(need)
  }

  /** Follows whether a process is alive that does what is needed in this conversation: for who waits for it. */
  watch(ref: Ref): Service {
    return this.#services.watch(ref)
  }

  /** Adds a listener for needs that somebody in this process waits for and no process serves. Returns a function that removes it. */
  onUnserved(listener: (ref: Ref, need: Need) => void): () => void {
    return this.#services.onUnserved(listener)
  }

  /** Extends a lease. Resolves with false if another runner has taken over. */
  renew(lease: Lease, ttlMs: number): Promise<boolean> {
    return this.#store.renew(lease, ttlMs)
  }

  /** Gives a lease back. */
  async release(lease: Lease): Promise<void> {
    await this.#store.release(lease)
    for (const listener of this.#listeners) listener(lease)
  }

  /** Adds a listener for leases that this process gave back. Returns a function that removes it. */
  onRelease(listener: (lease: Lease) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
