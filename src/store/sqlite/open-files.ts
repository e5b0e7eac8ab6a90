import { existsSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { isSameFile, statOf, type Identity } from '../private-file.ts'
import { StoreError } from '../store-error.ts'

/**
 * The files of an open database. Detects that they were deleted, moved or replaced, because later writes would be lost.
 * That is final: every check then throws the same error.
 */
export class OpenFiles {
  /** As given, because a link in the path may change its target later. */
  readonly #given: string
  readonly #path: string
  readonly #database: Identity | undefined
  readonly #wal: Identity | undefined
  #lost: StoreError | undefined

  /** The connection must have read once; before that, `-wal` and `-shm` do not exist. */
  constructor(path: string) {
    this.#given = resolve(path)
    // SQLite resolves links too, so `-wal` and `-shm` are next to the real file.
    this.#path = realpathSync(path)
    this.#database = statOf(this.#given)
    this.#wal = statOf(`${this.#path}-wal`)
  }

  check(): void {
    const lost = this.lost()
    if (lost) throw lost
  }

  /** The error if a write would be lost. */
  lost(): StoreError | undefined {
    const what = this.#lost ? undefined : this.#look()
    if (what === undefined) return this.#lost
    const message = 'The database file was deleted or replaced. Restart the server; nothing can be saved until then.'
    this.#lost = new StoreError('replaced', message, { cause: `${basename(this.#path)}${what}` })
    return this.#lost
  }

  #look(): string | undefined {
    const found = statOf(this.#given)
    if (!found) return ' is gone'
    if (!isSameFile(found, this.#database)) return ` is another file now${this.#setAside(found)}`
    // Linux flushes a file more slowly after its times were read, so no stat unless it seems gone.
    const gone = ['-wal', '-shm'].find(suffix => !existsSync(this.#path + suffix) && !statOf(this.#path + suffix))
    return gone === undefined ? undefined : `${gone} is gone`
  }

  /** Moves our `-wal` away from the file that replaced ours, because SQLite would replay it there. */
  #setAside(found: Identity): string {
    const isInOurPlace = isSameFile(found, statOf(this.#path)) && isSameFile(statOf(`${this.#path}-wal`), this.#wal)
    if (!isInOurPlace) return ''
    const kept = `.replaced-${Date.now()}`
    try {
      rmSync(`${this.#path}-shm`, { force: true })
      renameSync(`${this.#path}-wal`, `${this.#path}-wal${kept}`)
      // The head file does not describe the new one.
      if (existsSync(`${this.#path}-head`)) renameSync(`${this.#path}-head`, `${this.#path}-head${kept}`)
    } catch (error) {
      return `; the -wal of the old one could not be moved away (${(error as NodeJS.ErrnoException).code})`
    }
    return `; the -wal of the old one is kept as ${basename(this.#path)}-wal${kept}`
  }
}
