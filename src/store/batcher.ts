/** Calls per batch, to keep one flush short. */
const MAX_BATCH = 500
/** How long batches may follow one another before the event loop gets a turn. */
const MAX_BLOCKING_MS = 2
/** Microtasks until a caller that was just answered makes its next call. */
const MICROTASK_HOPS = 5

/** Batches the calls of one turn of the event loop (group commit). Batches run one after the other. */
export class Batcher<C> {
  readonly #serve: (calls: readonly C[]) => Promise<void> | undefined
  #waiting: C[] = []
  #busy: Promise<void> | undefined

  /** `serve` settles its calls itself and never rejects. */
  constructor(serve: (calls: readonly C[]) => Promise<void> | undefined) {
    this.#serve = serve
  }

  add(call: C): void {
    this.#waiting.push(call)
    this.#busy ??= this.#run()
  }

  /** Resolves when all calls are settled. */
  async idle(): Promise<void> {
    while (this.#busy) await this.#busy
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        await new Promise(resolve => setImmediate(resolve))
        const turn = performance.now()
        do {
          await this.#serve(this.#waiting.splice(0, MAX_BATCH))
          // A caller that commits in a loop calls again at once: spare it a turn of the event loop.
          for (let hop = 0; hop < MICROTASK_HOPS; hop += 1) await Promise.resolve()
        } while (this.#waiting.length > 0 && performance.now() - turn < MAX_BLOCKING_MS)
      }
    } finally {
      this.#busy = undefined
    }
  }
}
