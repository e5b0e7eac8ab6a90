import { realpathSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../store-error.ts'
import { closeUnmoved, endCleanly } from './clean-end.ts'
import { HeadFile, type Written } from './head-file.ts'
import { OpenFiles } from './open-files.ts'
import { toStoreError } from './to-store-error.ts'

/**
 * A COMMIT that can be acknowledged: it verifies that the open files are still the ones on disk, and records the
 * database's progress outside of it before anyone gets an answer.
 */
export class CommitGuard {
  readonly files: OpenFiles
  readonly #db: DatabaseSync
  readonly #path: string
  readonly #head: HeadFile
  readonly #sql
  #isDamaged = false

  constructor(db: DatabaseSync, path: string, database: string) {
    this.#db = db
    this.#path = realpathSync(path)
    this.#head = new HeadFile(this.#path, database)
    this.files = new OpenFiles(db, path, this.#head)
    this.#sql = { commit: db.prepare('COMMIT') }
  }

  /** Throws if a write would be lost. For writes that are not flushed. */
  check(): void {
    this.files.check()
    this.#head.unseal()
  }

  commit(): void {
    this.files.check()
    this.#head.begin()
    this.#sql.commit.run()
  }

  /** Records the commit's progress in the head file. Returns an error if the commit cannot be acknowledged. */
  failureAfterCommit(written: Written): StoreError | undefined {
    const lost = this.files.failureAfterCommit()
    if (lost) return lost
    try {
      this.#head.note(written)
      return undefined
    } catch (cause) {
      return new StoreError('unknown_outcome', 'The change was saved, but could not be noted in the head file.', {
        cause,
      })
    }
  }

  /**
   * Converts a failure to a store error. If the file was overwritten or truncated, that is the reason why it cannot be
   * read.
   */
  explained(failure: unknown): unknown {
    const error = toStoreError(failure)
    this.#isDamaged ||= error instanceof StoreError && error.code === 'corrupt'
    const isUnreadable = error instanceof StoreError && (error.code === 'corrupt' || error.code === 'io')
    return isUnreadable ? (this.files.lost() ?? error) : error
  }

  closeDatabase(): void {
    const isLost = this.files.lastLook()
    if (this.files.isCut) closeUnmoved(this.#db, this.#path)
    // A damaged file gets no seal, so the next start checks it.
    else if (isLost || this.#isDamaged) this.#db.close()
    else endCleanly(this.#db, this.#path, this.#head)
    this.#head.close()
  }
}
