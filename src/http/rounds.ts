/** How long agents may keep the event loop before everybody else is heard. */
const MAX_MS = 5

/**
 * Gives requests of agents their turn: a few milliseconds of work in each round of the event loop, then a round of their
 * own for each that waits. What others send comes in between, and so waits for one of them at most, not for all.
 */
export class Rounds {
  readonly #waiting: (() => void)[] = []
  #startedAt: number | undefined

  /** Resolves when it is this request's turn; undefined if that is at once. */
  turn(): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#hasTime()) return undefined
    return new Promise(resolve => {
      this.#waiting.push(resolve)
    })
  }

  #hasTime(): boolean {
    if (this.#startedAt !== undefined) return performance.now() - this.#startedAt < MAX_MS
    this.#begin()
    return true
  }

  #begin(): void {
    this.#startedAt = performance.now()
    setImmediate(() => {
      this.#startedAt = undefined
      const next = this.#waiting.shift()
      if (!next) return
      this.#begin()
      next()
    })
  }
}
