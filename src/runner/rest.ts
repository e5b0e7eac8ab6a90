/** The time between two pieces of work under one lease. */
export class Rest {
  #end: ((isMore: boolean) => void) | undefined
  #isWoken = false
  #isOver = false

  /** Whether it has begun and not ended. */
  get isOn(): boolean {
    return this.#end !== undefined
  }

  /** Resolves with true once there is more to do; with false after `ms`, or once it is over for good. */
  async begin(ms: number): Promise<boolean> {
    if (this.#isOver) return false
    if (this.#isWoken) {
      this.#isWoken = false
      return true
    }
    let timer: NodeJS.Timeout | undefined
    const isMore = await new Promise<boolean>(resolve => {
      this.#end = resolve
      timer = setTimeout(resolve, ms, false).unref()
    })
    clearTimeout(timer)
    this.#end = undefined
    this.#isWoken = false
    return isMore
  }

  /** There is more to do, now or as soon as it would rest. */
  wake(): void {
    this.#isWoken = true
    this.#end?.(true)
  }

  /** There is no more rest: the lease is lost, or wanted elsewhere. */
  end(): void {
    this.#isOver = true
    this.#end?.(false)
  }
}
