import { DatabaseSync } from 'node:sqlite'
import { createPrivateFile, isSameFile, lstatOf, statOf, type Identity } from '../private-file.ts'
import { WriteLock } from '../sqlite/write-lock.ts'
import { StoreError } from '../store-error.ts'

/**
 * A lock between all processes on one folder: the lock of an empty SQLite file, which the OS releases if its holder
 * dies.
 */
export class FolderLock {
  readonly #path: string
  readonly #db: DatabaseSync
  #opened: Identity | undefined
  #lost: StoreError | undefined
  #lock: WriteLock | undefined
  #turn: Promise<unknown> = Promise.resolve()

  constructor(path: string) {
    this.#path = path
    this.#db = new DatabaseSync(path, { timeout: 0, open: false })
  }

  open(): void {
    if (lstatOf(this.#path)?.isSymbolicLink()) {
      throw new StoreError('corrupt', `${this.#path} is a link, which is not followed. Remove it.`)
    }
    createPrivateFile(this.#path)
    this.#db.open()
    this.#opened = statOf(this.#path)
    this.#lock = new WriteLock(this.#path)
  }

  /** Throws if the file was deleted or replaced, because the lock then excludes no one. That is final. */
  check(): void {
    if (!this.#lost && !isSameFile(statOf(this.#path), this.#opened)) this.#lost = lost()
    if (this.#lost) throw this.#lost
  }

  /** Runs `work` under the lock. Fails with `busy` if the lock is not free in time. */
  hold<T>(work: () => Promise<T>, since: number = performance.now()): Promise<T> {
    const mine = this.#turn.then(async () => {
      this.check()
      // A journal in the folder would need disk space, and nothing is ever written to this file.
      await this.#lock?.whenFree(() => this.#db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE'), since)
      try {
        // The file may have been deleted while we waited.
        this.check()
        return await work()
      } finally {
        this.#db.exec('ROLLBACK')
      }
    })
    this.#turn = mine.catch(() => {})
    return mine
  }

  async close(): Promise<void> {
    await this.#turn
    if (this.#db.isOpen) this.#db.close()
  }
}

const lost = (): StoreError =>
  new StoreError(
    'replaced',
    'The lock file of the data folder was deleted or replaced. Restart the server; nothing can be saved until then.',
    { file: 'files.lock' },
  )
