import type { Need } from '../domain/needs.ts'

/** How often to look whether a lease is held: nothing in the log tells. */
const LOOK_MS = 2_000
/** Looks in a row that find no lease before nobody counts as alive. Counted, since a frozen process looks at nothing. */
const MAX_MISSES = 5

/** Follows whether a process is alive that can do what somebody waits for. */
export interface Service {
  /** Aborted once no lease for the need was held for over 8 s. */
  readonly gone: AbortSignal
  /** What is needed now; null if it is not a process that has to act. */
  needs(need: Need | null): void
  end(): void
}

/** Looks for all who wait in this process with one timer, which runs only while somebody does. */
export class ServiceWatch {
  readonly #served: (need: Need) => Promise<boolean>
  readonly #watched = new Set<Watched>()
  #timer: NodeJS.Timeout | undefined

  constructor(served: (need: Need) => Promise<boolean>) {
    this.#served = served
  }

  watch(): Service {
    const watched = new Watched(() => this.#forget(watched))
    this.#watched.add(watched)
    // Unref'd: who waits holds a tail, which keeps the process alive.
    this.#timer ??= setInterval(() => void this.#look(), LOOK_MS).unref()
    return watched
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
        // While storage fails, nobody can tell.
        const isServed = await this.#served(need).catch(() => true)
        for (const watched of this.#watched) if (watched.need === need) watched.saw(isServed)
      }),
    )
  }
}

class Watched implements Service {
  readonly end: () => void
  readonly #gone = new AbortController()
  #misses = 0
  need: Need | null = null

  constructor(end: () => void) {
    this.end = end
  }

  get gone(): AbortSignal {
    return this.#gone.signal
  }

  needs(need: Need | null): void {
    if (need !== this.need) this.#misses = 0
    this.need = need
  }

  saw(isServed: boolean): void {
    this.#misses = isServed ? 0 : this.#misses + 1
    if (this.#misses >= MAX_MISSES) this.#gone.abort()
  }
}
