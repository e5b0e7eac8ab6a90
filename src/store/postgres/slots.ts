/** A counting semaphore; waiters are served in order. */
export class Slots {
  readonly #waiting = new Set<() => void>()
  #free: number

  constructor(size: number) {
    this.#free = size
  }

  /** Resolves with false on timeout. */
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
    // The work that holds the slots keeps the process alive.
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
