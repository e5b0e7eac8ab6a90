import { DatabaseSync } from 'node:sqlite'
import { createPrivateFile } from '../private-file.ts'
import { whenFree } from '../sqlite/open.ts'

/** A lock among all processes on one folder: that of an empty SQLite file, which the OS frees if its holder dies. */
export class FolderLock {
  readonly #path: string
  readonly #db: DatabaseSync
  #turn: Promise<unknown> = Promise.resolve()

  constructor(path: string) {
    this.#path = path
    this.#db = new DatabaseSync(path, { timeout: 0, open: false })
  }

  open(): void {
    createPrivateFile(this.#path)
    this.#db.open()
  }

  hold<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(async () => {
      await whenFree(() => this.#db.exec('BEGIN EXCLUSIVE'))
      try {
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
    this.#db.close()
  }
}
