/** How long agents may keep the event loop before everybody else is heard. */
const MAX_MS = 5

/**
 * Gives requests of agents their turn: a few milliseconds of work in each round of the event loop; the others wait for
 * the next. What people send is read in between, and so waits for one of them at most, not for all.
 */
export class Rounds {
  readonly #waiting: (() => void)[] = []
  #startedAt: number | undefined

  /** Resolves when it is this request's turn. */
  turn(): Promise<void> {
    return new Promise(resolve => {
      this.#waiting.push(resolve)
      // One for each: Node does the work of one before it calls the next.
      setImmediate(() => this.#next())
    })
  }

  #next(): void {
    if (this.#startedAt === undefined) {
      this.#startedAt = performance.now()
      setImmediate(() => this.#endRound())
    }
    if (performance.now() - this.#startedAt < MAX_MS) this.#waiting.shift()?.()
  }

  #endRound(): void {
    this.#startedAt = undefined
    if (this.#waiting.length > 0) this.#next()
  }
}
