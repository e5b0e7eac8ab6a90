import { setImmediate, setTimeout as delay } from 'node:timers/promises'

/** A slice was indexed and more is left; all is indexed; or another process holds the lock. */
export type SliceOutcome = 'more' | 'done' | 'busy'

/** How long a commit waits for its index entries at least: commits that follow each other are indexed together. */
const QUIET_MS = 200
/** The share of the time that indexing takes in the background: while commits come in, and while none do. */
const BUSY_SHARE = 0.02
const IDLE_SHARE = 0.5
/** How long a search waits for what is not indexed yet. */
const MAX_WAIT_MS = 1_000

/** Indexes committed events slice by slice: in the background, or at once for a search that waits. */
export class CatchUp {
  readonly #slice: () => Promise<SliceOutcome>
  #timer: NodeJS.Timeout | undefined
  #isNoted = false
  #working: Promise<SliceOutcome> | undefined
  #stopped = false

  /** `slice` indexes the next few events. */
  constructor(slice: () => Promise<SliceOutcome>) {
    this.#slice = slice
    // What another process left.
    this.note()
  }

  /** Something was committed. */
  note(): void {
    this.#isNoted = true
    this.#schedule(QUIET_MS)
  }

  /** Indexes all that was committed before the call. False if that takes too long or fails: a search then says so. */
  async finish(): Promise<boolean> {
    const ending = new AbortController()
    const { signal } = ending
    try {
      // A slice that hangs goes on without the search.
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
    // It may have read the log before what this call has to include.
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
    // What fails here fails again in a search, which says so; the next commit tries again.
    const outcome = await this.#run().catch(() => 'done' as const)
    this.#timer = undefined
    if (outcome === 'more') this.#schedule((performance.now() - start) * (1 / share - 1))
    else if (outcome === 'busy' || this.#isNoted) this.#schedule(QUIET_MS)
  }

  /** One slice at a time. */
  #run(): Promise<SliceOutcome> {
    this.#working ??= this.#slice().finally(() => {
      this.#working = undefined
    })
    return this.#working
  }
}
