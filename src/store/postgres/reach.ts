import { StoreError } from '../store-error.ts'

/** Whether the database can be reached, from what the connections met last: tells why a call ran out of time. */
export class Reach {
  #heardAt = Number.NEGATIVE_INFINITY
  #silentSince = Number.NEGATIVE_INFINITY

  heard(): void {
    this.#heardAt = performance.now()
  }

  /** What was asked then, by `performance.now()`, got no answer. */
  silent(askedAt: number): void {
    this.#silentSince = Math.max(this.#silentSince, askedAt)
  }

  /** For a call whose time is over, wherever it waited. */
  late(): StoreError {
    return this.#silentSince > this.#heardAt ? noAnswer() : busy()
  }
}

/** A connection gave no sign, though the database answers one at once, whatever it waits for. */
export const noAnswer = (): StoreError => new StoreError('io', 'The database did not answer in time.')

/** Others kept the database, or our connections to it, busy until the call's time was over. */
export const busy = (): StoreError => new StoreError('busy', 'The database was busy with others for too long.')
