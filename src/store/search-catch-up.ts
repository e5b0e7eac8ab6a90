import { setImmediate, setTimeout as delay } from 'node:timers/promises'

/**
 * `more`: a slice was indexed and more is left. `done`: everything is indexed. `busy`: another process holds the lock.
 */
export type SliceOutcome = 'more' | 'done' | 'busy'

/** Between a commit and a slice, and between slices, so that indexing takes a small share of the time. */
const PAUSE_MS = 200
const MAX_WAIT_MS = 1_000

export class CatchUp {
  readonly #slice: () => Promise<SliceOutcome>
  #timer: NodeJS.Timeout | undefined
  #working: Promise<SliceOutcome> | undefined
  #stopped = false

  constructor(slice: () => Promise<SliceOutcome>) {
    this.#slice = slice
    // Another process may have left events unindexed.
    this.note()
  }

  /** Call after each commit. */
  note(): void {
    if (this.#stopped || this.#timer) return
    this.#timer = setTimeout(() => void this.#background(), PAUSE_MS).unref()
  }

  /**
   * Indexes everything committed before the call. Resolves with false if that takes too long or fails; the search then
   * reports it.
   */
  async finish(): Promise<boolean> {
    const ending = new AbortController()
    const { signal } = ending
    try {
      // A slice that hangs continues without the search.
      const isDone = await Promise.race([this.#all(signal), delay(MAX_WAIT_MS, false, { signal })])
      if (!isDone) this.note()
      return isDone
    } finally {
      ending.abort()
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#working?.catch(() => {})
  }

  async #all(signal: AbortSignal): Promise<boolean> {
    // The slice in progress may have read the log before the newest commit.
    await this.#working?.catch(() => {})
    while (!this.#stopped && !signal.aborted) {
      const outcome = await this.#run().catch(() => undefined)
      if (outcome === 'done') return true
      if (outcome === undefined) return false
      await (outcome === 'busy' ? delay(5) : setImmediate())
    }
    return false
  }

  async #background(): Promise<void> {
    this.#timer = undefined
    // A search that fails in the same way reports it; the next commit retries.
    const outcome = await this.#run().catch(() => 'done' as const)
    if (outcome !== 'done') this.note()
  }

  /** Runs one slice at a time. */
  #run(): Promise<SliceOutcome> {
    this.#working ??= this.#slice().finally(() => {
      this.#working = undefined
    })
    return this.#working
  }
}
