/** Waits for conditions that are checked again with each change. */
export class Looks {
  readonly #looks = new Set<() => void>()

  /** Resolves once it holds. */
  until(holds: () => boolean): Promise<void> {
    return new Promise(resolve => {
      const look = (): void => {
        if (!holds()) return
        this.#looks.delete(look)
        resolve()
      }
      this.#looks.add(look)
      look()
    })
  }

  again(): void {
    for (const look of this.#looks) look()
  }
}
