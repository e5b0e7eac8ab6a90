/** How long agents' work may occupy the event loop before it yields. */
const MAX_MS = 20
/** Event loop rounds without agents' work. One is not enough: each round accepts a single connection. */
const FREE_ROUNDS = 32
/** Rounds take long when others keep the event loop busy; after this, agents continue. */
const MAX_FREE_MS = 100

/**
 * Schedules agents' work in short slices and yields the event loop between them. A person's request waits for one slice
 * at most, not for the whole queue.
 */
export class Rounds {
  readonly #now: () => number
  readonly #waiting: (() => void)[] = []
  #startedAt: number | undefined
  #free = 0
  #freeSince = 0

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  turn(): Promise<void> {
    return new Promise(resolve => {
      this.#waiting.push(resolve)
      // One per task: Node finishes the work of one callback before it calls the next.
      setImmediate(() => this.#next())
    })
  }

  #next(): void {
    if (this.#free > 0) return
    if (this.#startedAt === undefined) {
      this.#startedAt = this.#now()
      setImmediate(() => this.#endRound())
    }
    if (this.#hasTime()) this.#waiting.shift()?.()
  }

  #endRound(): void {
    if (this.#free > 0) this.#free = this.#isFreeForLong() ? 0 : this.#free - 1
    else if (!this.#hasTime()) {
      this.#free = FREE_ROUNDS
      this.#freeSince = this.#now()
    }
    if (this.#free > 0) return void setImmediate(() => this.#endRound())
    this.#startedAt = undefined
    for (const _ of this.#waiting) setImmediate(() => this.#next())
  }

  #isFreeForLong(): boolean {
    return this.#now() - this.#freeSince >= MAX_FREE_MS
  }

  #hasTime(): boolean {
    return this.#now() - (this.#startedAt ?? 0) < MAX_MS
  }
}
