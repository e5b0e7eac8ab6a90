/** So that one flush stays short even when everybody comes at once. */
const MOST = 500

/** Collects who comes within one turn of the event loop and serves them together, one group at a time. */
export class Group<C> {
  readonly #serve: (calls: readonly C[]) => Promise<void>
  #waiting: C[] = []
  #busy: Promise<void> | undefined

  /** `serve` answers its callers itself and never rejects. */
  constructor(serve: (calls: readonly C[]) => Promise<void>) {
    this.#serve = serve
  }

  add(call: C): void {
    this.#waiting.push(call)
    this.#busy ??= this.#run()
  }

  /** Resolves when everybody was served. */
  async idle(): Promise<void> {
    while (this.#busy) await this.#busy
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      await new Promise(resolve => setImmediate(resolve))
      const calls = this.#waiting.splice(0, MOST)
      await this.#serve(calls)
    }
    this.#busy = undefined
  }
}
