/** How long agents may keep the event loop before everybody else is heard. */
const MAX_MS = 20
/** How often the event loop then goes round without them. Once is not enough: it accepts one connection each time. */
const FREE_ROUNDS = 32
/** Rounds are long where others keep the event loop: after this, agents are heard again. */
const MAX_FREE_MS = 100

/**
 * Gives work for agents its turn: a few milliseconds of it, or one long piece; then everybody else is heard before the
 * rest. What people send waits for one piece of work at most, not for all.
 */
export class Rounds {
  readonly #now: () => number
  readonly #waiting: (() => void)[] = []
  #startedAt: number | undefined
  /** How many rounds are still free of agents, and since when. */
  #free = 0
  #freeSince = 0

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Resolves when it is this work's turn. */
  turn(): Promise<void> {
    return new Promise(resolve => {
      this.#waiting.push(resolve)
      // One for each: Node does the work of one before it calls the next.
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
