/** The calls that are under way, so that whoever ends us lets them be answered. */
export class Calls {
  readonly #open = new Set<AbortSignal>()
  #wake = (): void => {}

  add(closed: AbortSignal): void {
    if (closed.aborted) return
    this.#open.add(closed)
    const over = (): void => {
      this.#open.delete(closed)
      if (this.#open.size === 0) this.#wake()
    }
    closed.addEventListener('abort', over, { once: true })
  }

  /** Once all are answered, or that took too long. */
  async over(withinMs: number): Promise<void> {
    if (this.#open.size === 0) return
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, withinMs)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
