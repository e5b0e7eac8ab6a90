/** So that one flush stays short even when everybody comes at once. */
const MOST = 500
/** How long groups may follow each other before the event loop gets a turn. */
const IN_A_ROW_MS = 2
/** How many microtasks it takes whoever was just answered to come back with the next call. */
const HOPS = 5

/** Collects who comes within one turn of the event loop and serves them together, one group at a time. */
export class Group<C> {
  readonly #serve: (calls: readonly C[]) => Promise<void> | undefined
  #waiting: C[] = []
  #busy: Promise<void> | undefined

  /** `serve` answers its callers itself and never rejects. */
  constructor(serve: (calls: readonly C[]) => Promise<void> | undefined) {
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
    try {
      while (this.#waiting.length > 0) {
        await new Promise(resolve => setImmediate(resolve))
        const turn = performance.now()
        do {
          await this.#serve(this.#waiting.splice(0, MOST))
          // A caller who works through a list comes back at once: it need not wait for the event loop to come round.
          for (let hop = 0; hop < HOPS; hop += 1) await Promise.resolve()
        } while (this.#waiting.length > 0 && performance.now() - turn < IN_A_ROW_MS)
      }
    } finally {
      this.#busy = undefined
    }
  }
}
