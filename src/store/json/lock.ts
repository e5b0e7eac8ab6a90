import { DatabaseSync } from 'node:sqlite'
import { begin } from '../sqlite/open.ts'

/**
 * One at a time among all processes on the same folder. An empty SQLite file serves as the lock, because its lock is
 * the operating system's: whoever dies lets go of it.
 */
export class FolderLock {
  readonly #db: DatabaseSync
  #turn: Promise<unknown> = Promise.resolve()

  constructor(path: string) {
    this.#db = new DatabaseSync(path, { timeout: 0, open: false })
  }

  open(): void {
    this.#db.open()
  }

  hold<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(async () => {
      await begin(() => this.#db.exec('BEGIN EXCLUSIVE'))
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
