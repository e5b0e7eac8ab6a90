import { realpathSync } from 'node:fs'
import { basename } from 'node:path'
import { lockHolder } from '../lock-holder.ts'
import { StoreError } from '../store-error.ts'
import { MAX_WAIT_MS, ranAtOnce, retryWhileBusy } from './open.ts'
import { isBusy, toStoreError } from './to-store-error.ts'

/** SQLite's lock bytes: the writer's in a `-shm`, and the exclusive one in a file without a `-shm`. */
const WRITER = 120
const EVERYBODY = 0x40_00_00_02

/** A file's exclusive lock between processes. It cannot be taken away, except by ending its holder. */
export class WriteLock {
  readonly #file: string
  readonly #byte: number
  /** Shared by all callers that time out on the same holder, so that it is logged once. */
  #failure: StoreError | undefined
  #lastHadAt = 0

  private constructor(file: string, byte: number) {
    this.#file = file
    this.#byte = byte
  }

  static ofDatabase(path: string): WriteLock {
    return new WriteLock(`${realpathSync(path)}-shm`, WRITER)
  }

  static ofFile(path: string): WriteLock {
    return new WriteLock(realpathSync(path), EVERYBODY)
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
    return new StoreError('busy', 'Another process is writing and does not finish. Nothing was saved; try again.', {
      cause: `${basename(this.#file)} is locked for over ${MAX_WAIT_MS / 1_000} s ${this.#byWhom()}`,
    })
  }

  #byWhom(): string {
    const holder = lockHolder(this.#file, this.#byte)
    if (!holder) return `by another process: find it with "fuser ${basename(this.#file)}", and end it if it hangs`
    const { pid, isStopped } = holder
    const end = `end it with "kill -KILL ${pid}"`
    if (isStopped) return `by process ${pid}, which is stopped: resume it with "kill -CONT ${pid}", or ${end}`
    return `by process ${pid}: if it hangs, ${end}`
  }
}
