/** Admits a limited number at once; the others wait in order. */
export class Slots {
  readonly #waiting = new Set<() => void>()
  #free: number

  constructor(size: number) {
    this.#free = size
  }

  /** Whether a slot became free in time. */
  async take(ms: number): Promise<boolean> {
    if (this.#free > 0) {
      this.#free -= 1
      return true
    }
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const admit = (): void => resolve(true)
    this.#waiting.add(admit)
    const timer = setTimeout(() => {
      this.#waiting.delete(admit)
      resolve(false)
    }, ms)
    // The process is kept alive by what those in front wait for.
    timer.unref()
    try {
      return await promise
    } finally {
      clearTimeout(timer)
    }
  }

  give(): void {
    const [next] = this.#waiting
    if (!next) {
      this.#free += 1
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
