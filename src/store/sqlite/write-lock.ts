import { realpathSync } from 'node:fs'
import { basename } from 'node:path'
import { lockHolder } from '../lock-holder.ts'
import { StoreError } from '../store-error.ts'
import { MAX_WAIT_MS, ranAtOnce, retryWhileBusy } from './open.ts'
import { isBusy, toStoreError } from './to-store-error.ts'

/** Where SQLite locks: the byte for the writer in a `-shm`, and that for everybody in a file without one. */
const WRITER = 120
const EVERYBODY = 0x40_00_00_02

/** The lock of one file that one process at a time can have. Nobody can take it away, except by ending its holder. */
export class WriteLock {
  readonly #file: string
  readonly #byte: number
  /** The same for all who wait in vain for the same holder, so that it is logged once. */
  #failure: StoreError | undefined
  #lastHadAt = 0

  private constructor(file: string, byte: number) {
    this.#file = file
    this.#byte = byte
  }

  /** That of a database in WAL mode which is open. */
  static ofDatabase(path: string): WriteLock {
    return new WriteLock(`${realpathSync(path)}-shm`, WRITER)
  }

  /** That of an empty file which is locked as a whole. */
  static ofFile(path: string): WriteLock {
    return new WriteLock(realpathSync(path), EVERYBODY)
  }

  /** Runs `work`, which takes the lock, if no other process has it; says whether. */
  ran(work: () => unknown): boolean {
    const isFree = ranAtOnce(work)
    if (isFree) this.#had()
    return isFree
  }

  /**
   * Runs `work`, which takes the lock, as soon as no other process has it. After 4 s, counted from `since` or from when we
   * had it last, it is `busy`: so who waits behind others waits no longer than they did.
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
