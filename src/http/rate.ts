const WINDOW_MS = 60_000

export class Rate {
  readonly perMinute: number
  /** Cleared with each window, so it holds only active keys. */
  readonly #counts = new Map<string, number>()
  #endsAt = 0

  constructor(perMinute: number) {
    this.perMinute = perMinute
  }

  /** Counts one; returns the milliseconds until the next window if this one is used up. */
  count(key: string): number | undefined {
    const now = performance.now()
    if (now >= this.#endsAt) {
      this.#counts.clear()
      this.#endsAt = now + WINDOW_MS
    }
    const count = this.#counts.get(key) ?? 0
    if (count >= this.perMinute) return this.#endsAt - now
    this.#counts.set(key, count + 1)
    return undefined
  }
}
