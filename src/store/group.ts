import { setImmediate } from 'node:timers/promises'

/** Calls per group: keeps one flush short under load. */
const MAX_CALLS = 500
/** How long groups may run back to back before the event loop gets a turn. */
const MAX_RUN_MS = 2
/** Microtasks that a caller needs between an answer and its next call. */
const MICROTASKS = 5

/** Answers all calls itself and never rejects. No call arrived before `since` (`performance.now()`). */
type Serve<C> = (calls: readonly C[], since: number) => Promise<void> | undefined

/** Collects the calls of one event loop turn and serves them together, one group at a time. */
export class Group<C> {
  readonly #serve: Serve<C>
  readonly #onIdle: () => void
  #waiting: C[] = []
  #since = 0
  #busy: Promise<void> | undefined

  constructor(serve: Serve<C>, onIdle: () => void = () => {}) {
    this.#serve = serve
    this.#onIdle = onIdle
  }

  add(call: C): void {
    if (this.#waiting.length === 0) this.#since = performance.now()
    this.#waiting.push(call)
    this.#busy ??= this.#run()
  }

  async idle(): Promise<void> {
    while (this.#busy) await this.#busy
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        await setImmediate()
        const turn = performance.now()
        do {
          await this.#serve(this.#waiting.splice(0, MAX_CALLS), this.#since)
          // A caller that works through a list calls again immediately; serve that call in the same turn.
          for (let hop = 0; hop < MICROTASKS; hop += 1) await Promise.resolve()
        } while (this.#waiting.length > 0 && performance.now() - turn < MAX_RUN_MS)
      }
    } finally {
      this.#busy = undefined
      this.#onIdle()
    }
  }
}
