import { closed } from '../store-error.ts'
import type { Database } from './connections.ts'

/** Admits work until closed; `close` resolves when all admitted work is done. */
export class Gate {
  readonly #empty = Promise.withResolvers<void>()
  #inside = 0
  #closed = false

  check(): void {
    if (this.#closed) throw closed()
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    this.check()
    this.#inside += 1
    try {
      return await work()
    } finally {
      this.#inside -= 1
      if (this.#closed && this.#inside === 0) this.#empty.resolve()
    }
  }

  close(): Promise<void> {
    this.#closed = true
    if (this.#inside === 0) this.#empty.resolve()
    return this.#empty.promise
  }
}

export const behind = (gate: Gate, database: Database): Database => ({
  query: (statement, values) => gate.run(() => database.query(statement, values)),
  write: (statement, values) => gate.run(() => database.write(statement, values)),
  use: (work, options) => gate.run(() => database.use(work, options)),
  late: () => database.late(),
})
