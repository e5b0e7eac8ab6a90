import { setTimeout as delay } from 'node:timers/promises'

/** How long agents may keep the event loop before everybody else is heard. */
const MAX_MS = 5
/** How long everybody else is heard. One round is not enough: Node accepts a single connection in each. */
const PAUSE_MS = 5

/**
 * Gives work for agents its turn: a few milliseconds of it, or one long piece; then a pause before the rest. What people
 * send in the meantime waits for one piece of work at most, not for all.
 */
export class Rounds {
  readonly #waiting: (() => void)[] = []
  #startedAt: number | undefined
  #isPaused = false

  /** Resolves when it is this work's turn. */
  turn(): Promise<void> {
    return new Promise(resolve => {
      this.#waiting.push(resolve)
      // One for each: Node does the work of one before it calls the next.
      setImmediate(() => this.#next())
    })
  }

  #next(): void {
    if (this.#isPaused) return
    if (this.#startedAt === undefined) {
      this.#startedAt = performance.now()
      setImmediate(() => this.#endRound())
    }
    if (this.#hasTime()) this.#waiting.shift()?.()
  }

  #endRound(): void {
    this.#isPaused = !this.#hasTime()
    this.#startedAt = undefined
    if (this.#isPaused) void delay(PAUSE_MS).then(() => this.#resume())
    else if (this.#waiting.length > 0) this.#next()
  }

  #resume(): void {
    this.#isPaused = false
    if (this.#waiting.length > 0) this.#next()
  }

  #hasTime(): boolean {
    return performance.now() - (this.#startedAt ?? 0) < MAX_MS
  }
}
