import { closed } from '../store-error.ts'
import type { Database } from './connections.ts'

/** Tracks work in flight, so that `close` can wait for it and refuse new work. */
export class InFlight {
  readonly #drained = Promise.withResolvers<void>()
  #count = 0
  #closed = false

  check(): void {
    if (this.#closed) throw closed()
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    this.check()
    this.#count += 1
    try {
      return await work()
    } finally {
      this.#count -= 1
      if (this.#closed && this.#count === 0) this.#drained.resolve()
    }
  }

  close(): Promise<void> {
    this.#closed = true
    if (this.#count === 0) this.#drained.resolve()
    return this.#drained.promise
  }
}

/** The same database, with its work tracked. */
export const tracked = (inFlight: InFlight, database: Database): Database => ({
  query: (statement, values) => inFlight.run(() => database.query(statement, values)),
  use: (work, maxWaitMs) => inFlight.run(() => database.use(work, maxWaitMs)),
})
