import type { Need } from '../../core/model/needs.ts'
import type { ClaimOptions, Lease, Ref } from '../../store/store.ts'
import { type CheckMaker, isGone } from './checks.ts'
import type { Seam } from './seam.ts'
import { type Service, ServiceWatch } from './service-watch.ts'

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

  /** Claims an unleased turn that needs one of the abilities, or the wanted one; undefined if there is none. */
  claim(runner: string, ttlMs: number, options: ClaimOptions): Promise<Lease | undefined> {
    return this.#store.claim(runner, ttlMs, options)
  }

  served(need: Need): Promise<boolean> {
    return this.#store.served(need)
  }

  /** Tracks whether a live process serves the needs of a caller that waits in this conversation. */
  watch(ref: Ref): Service {
    return this.#services.watch(ref)
  }

  onUnserved(listener: (ref: Ref, need: Need) => void): () => void {
    return this.#services.onUnserved(listener)
  }

  /** Extends a lease. Resolves with false if another worker has taken over. */
  renew(lease: Lease, ttlMs: number): Promise<boolean> {
    return this.#store.renew(lease, ttlMs)
  }

  async release(lease: Lease): Promise<void> {
    await this.#store.release(lease)
    for (const listener of this.#listeners) listener(lease)
  }

  onRelease(listener: (lease: Lease) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
