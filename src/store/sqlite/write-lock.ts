import { basename } from 'node:path'
import { StoreError } from '../store-error.ts'
import { MAX_WAIT_MS, ranAtOnce, retryWhileBusy } from './open.ts'
import { isBusy, toStoreError } from './to-store-error.ts'

/** A file's exclusive lock between processes. It cannot be taken away, except by ending its holder. */
export class WriteLock {
  readonly #file: string
  /** Shared by all callers that time out on the same holder, so that it is logged once. */
  #failure: StoreError | undefined
  #lastHadAt = 0

  /** `file`: the one that SQLite locks. */
  constructor(file: string) {
    this.#file = file
  }

  /** Runs `work`, which takes the lock, unless another process has it. Returns whether it ran. */
  ran(work: () => unknown): boolean {
    const isFree = ranAtOnce(work)
    if (isFree) this.#had()
    return isFree
  }

  /**
   * Runs `work`, which takes the lock, once no other process has it. Fails with `busy` after 4 s, counted from `since`
   * or from when we last had it, so that later callers do not wait longer than earlier ones.
   */
  async whenFree<T>(work: () => T, since: number = performance.now()): Promise<T> {
    try {
      const done = await retryWhileBusy(work, Math.max(since, this.#lastHadAt))
      this.#had()
      return done
    } catch (error) {
      if (!isBusy(error)) throw toStoreError(error)
      this.#failure ??= this.#busy()
      throw this.#failure
    }
  }

  #had(): void {
    this.#failure = undefined
    this.#lastHadAt = performance.now()
  }

  #busy(): StoreError {
    const name = basename(this.#file)
    return new StoreError('busy', 'Another process is writing and does not finish. Nothing was saved; try again.', {
      cause: `${name} is locked for over ${MAX_WAIT_MS / 1_000} s by another process: find it with "fuser ${name}", and end it if it hangs`,
    })
  }
}
