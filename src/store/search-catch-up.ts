import { setImmediate, setTimeout as delay } from 'node:timers/promises'

/**
 * `more`: a slice was indexed and more is left. `done`: everything is indexed. `busy`: another process holds the lock.
 */
export type SliceOutcome = 'more' | 'done' | 'busy'

/** Debounce: commits in quick succession are indexed together. */
const QUIET_MS = 200
/** Share of the time that background indexing may take: while commits arrive, and while none do. */
const BUSY_SHARE = 0.02
const IDLE_SHARE = 0.5
const MAX_WAIT_MS = 1_000

export class CatchUp {
  readonly #slice: () => Promise<SliceOutcome>
  #timer: NodeJS.Timeout | undefined
  #isNoted = false
  #working: Promise<SliceOutcome> | undefined
  #stopped = false

  constructor(slice: () => Promise<SliceOutcome>) {
    this.#slice = slice
    // Another process may have left events unindexed.
    this.note()
  }

  /** Call after each commit. */
  note(): void {
    this.#isNoted = true
    this.#schedule(QUIET_MS)
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
      if (!isDone) this.#schedule(QUIET_MS)
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

  #schedule(ms: number): void {
    if (this.#stopped || this.#timer) return
    this.#timer = setTimeout(() => void this.#background(), ms).unref()
  }

  async #background(): Promise<void> {
    const share = this.#isNoted ? BUSY_SHARE : IDLE_SHARE
    this.#isNoted = false
    const start = performance.now()
    // A search that fails in the same way reports it; the next commit retries.
    const outcome = await this.#run().catch(() => 'done' as const)
    this.#timer = undefined
    if (outcome === 'more') this.#schedule((performance.now() - start) * (1 / share - 1))
    else if (outcome === 'busy' || this.#isNoted) this.#schedule(QUIET_MS)
  }

  /** Runs one slice at a time. */
  #run(): Promise<SliceOutcome> {
    this.#working ??= this.#slice().finally(() => {
      this.#working = undefined
    })
    return this.#working
  }
}
