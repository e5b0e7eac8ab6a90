/** The idle time between two pieces of work under one lease. */
export class Rest {
  #end: ((isMore: boolean) => void) | undefined
  #isWoken = false
  #isOver = false

  get isOn(): boolean {
    return this.#end !== undefined
  }

  /** Resolves with true when woken; with false after `ms`, or once it has ended for good. */
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

  /** Wakes it now, or as soon as it begins. */
  wake(): void {
    this.#isWoken = true
    this.#end?.(true)
  }

  /** Ends it for good: the lease is lost, or wanted elsewhere. */
  end(): void {
    this.#isOver = true
    this.#end?.(false)
  }
}
