/** Requests in progress, so that closing can wait for their answers. */
export class OpenRequests {
  readonly #open = new Set<AbortSignal>()
  #onDrained = (): void => {}

  add(closed: AbortSignal): void {
    if (closed.aborted) return
    this.#open.add(closed)
    const remove = (): void => {
      this.#open.delete(closed)
      if (this.#open.size === 0) this.#onDrained()
    }
    closed.addEventListener('abort', remove, { once: true })
  }

  /** Resolves once all have ended, or after `timeoutMs`. */
  async drained(timeoutMs: number): Promise<void> {
    if (this.#open.size === 0) return
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, timeoutMs)
      this.#onDrained = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
