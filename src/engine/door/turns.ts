import type { Need } from '../../core/model/needs.ts'
import type { ClaimOptions, Lease, Ref } from '../../store/store.ts'
import { type CheckMaker, isGone } from './checks.ts'
import type { Seam } from './seam.ts'
import { type Service, ServiceWatch } from './service-watch.ts'

export type Turns = ReturnType<typeof turnsIn>

/** The leases of turns. */
export function turnsIn(store: Seam, checks: CheckMaker) {
  const services = new ServiceWatch(
    need => store.served(need),
    need => isGone(checks, need),
  )
  const listeners = new Set<(lease: Lease) => void>()
  return {
    /** Claims an unleased turn that needs one of the abilities, or the wanted one; undefined if there is none. */
    claim: (runner: string, ttlMs: number, options: ClaimOptions) => store.claim(runner, ttlMs, options),
    served: (need: Need) => store.served(need),
    /** Extends a lease. Resolves with false if another worker has taken over. */
    renew: (lease: Lease, ttlMs: number) => store.renew(lease, ttlMs),
    release: async (lease: Lease): Promise<void> => {
      await store.release(lease)
      for (const listener of listeners) listener(lease)
    },
    onRelease: (listener: (lease: Lease) => void): (() => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    /** Tracks whether a live process serves the needs of a caller that waits in this conversation. */
    watch: (ref: Ref): Service => services.watch(ref),
    onUnserved: (listener: (ref: Ref, need: Need) => void): (() => void) => services.onUnserved(listener),
  }
}
