import type { Need } from '../../core/model/needs.ts'
import type { ClaimOptions, Lease, Ref } from '../../store/store.ts'
import { isGone, type CheckMaker } from './checks.ts'
import type { Seam } from './storage-health.ts'

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

/** Poll interval: the log does not show whether a lease is held. */
const LOOK_MS = 2_000
/**
 * Missed polls before a worker counts as dead. Counted in polls, not in time, because a frozen process does not poll.
 */
const MAX_MISSES = 5

export interface Service {
  /** Aborted once no lease for the need was held for over 8 s, or no process can serve it. */
  readonly gone: AbortSignal
  needs(need: Need | null): void
  end(): void
}

type Listener = (ref: Ref, need: Need) => void

interface Watched {
  readonly ref: Ref
  readonly gone: AbortController
  need: Need | null
  misses: number
}

/** Polls for all waiting callers in this process with one timer, which runs only while there are any. */
export class ServiceWatch {
  readonly #served: (need: Need) => Promise<boolean>
  readonly #isGone: (need: Need) => boolean
  readonly #watched = new Set<Watched>()
  readonly #listeners = new Set<Listener>()
  #timer: NodeJS.Timeout | undefined

  constructor(served: (need: Need) => Promise<boolean>, isGone: (need: Need) => boolean = () => false) {
    this.#served = served
    this.#isGone = isGone
  }

  watch(ref: Ref): Service {
    const watched: Watched = { ref, gone: new AbortController(), need: null, misses: 0 }
    this.#watched.add(watched)
    // Unref'd: each waiting caller holds a tail, which keeps the process alive.
    this.#timer ??= setInterval(() => void this.#look(), LOOK_MS).unref()
    return {
      gone: watched.gone.signal,
      needs: need => {
        if (need === watched.need) return
        watched.need = need
        watched.misses = 0
        if (need !== null && this.#isGone(need)) this.#miss(watched, need, MAX_MISSES)
      },
      end: () => this.#forget(watched),
    }
  }

  onUnserved(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #forget(watched: Watched): void {
    this.#watched.delete(watched)
    if (this.#watched.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #look(): Promise<void> {
    const needs = new Set([...this.#watched].flatMap(({ need }) => need ?? []))
    await Promise.all(
      [...needs].map(async need => {
        // Unknown while storage fails.
        const isServed = await this.#served(need).catch(() => true)
        for (const watched of this.#watched) {
          if (watched.need === need) this.#miss(watched, need, isServed ? 0 : watched.misses + 1)
        }
      }),
    )
  }

  #miss(watched: Watched, need: Need, misses: number): void {
    watched.misses = misses % MAX_MISSES
    if (misses < MAX_MISSES) return
    watched.gone.abort()
    for (const listener of this.#listeners) listener(watched.ref, need)
  }
}
