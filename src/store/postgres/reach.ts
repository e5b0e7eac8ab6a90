import { StoreError } from '../store-error.ts'

/** Tracks whether the database is reachable, to explain why a call timed out. */
export class Reach {
  #heardAt = Number.NEGATIVE_INFINITY
  #silentSince = Number.NEGATIVE_INFINITY

  heard(): void {
    this.#heardAt = performance.now()
  }

  /** A request sent at `askedAt` (`performance.now()`) got no response. */
  silent(askedAt: number): void {
    this.#silentSince = Math.max(this.#silentSince, askedAt)
  }

  late(): StoreError {
    return this.#silentSince > this.#heardAt ? noAnswer() : busy()
  }
}

/** The connection was silent, although the server always acknowledges at once, even if the statement then waits. */
export const noAnswer = (): StoreError => new StoreError('io', 'The database did not answer in time.')

export const busy = (): StoreError => new StoreError('busy', 'The database was busy with others for too long.')
