import { type BigIntStats, existsSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type Identity, isSameFile, statOf } from '../identity.ts'
import { StoreError } from '../store-error.ts'
import { type HeadFile, headPath } from './head-file.ts'
import { pragma } from './open.ts'
import { isCorrupt } from './to-store-error.ts'
import { WalLength } from './wal-length.ts'

type Suffix = '' | '-wal' | '-shm'

/**
 * Interval between full checks of `-wal` and `-shm`; in between only their existence is checked. Linux flushes a file
 * more slowly after its times were read.
 */
const CLOSE_LOOK_MS = 100

/**
 * The files of an open database. Detects that they were deleted, moved or replaced, because later writes would be lost.
 * That is final: every check then throws the same error.
 */
export class OpenFiles {
  readonly #db: DatabaseSync
  /** As given, because a link in the path may change its target later. */
  readonly #given: string
  readonly #path: string
  readonly #head: HeadFile
  readonly #opened: Readonly<Record<Suffix, Identity | undefined>>
  readonly #wal: WalLength | undefined
  #size: number
  #closeLookAt = 0
  #lost: StoreError | undefined
  #isOverwritten = false
  #isCut = false

  /** The connection must have read once; before that, `-wal` and `-shm` do not exist. */
  constructor(db: DatabaseSync, path: string, head: HeadFile) {
    this.#db = db
    this.#head = head
    this.#given = resolve(path)
    // SQLite resolves links too, so `-wal` and `-shm` are next to the real file.
    this.#path = realpathSync(path)
    const main = this.#find('')
    this.#opened = { '': main, '-wal': this.#find('-wal'), '-shm': this.#find('-shm') }
    this.#size = Number(main?.size)
    this.#wal = this.#opened['-wal'] && new WalLength(this.#path, Number(pragma(db, 'page_size')))
  }

  /** The WAL was truncated: the rest no longer fits the file. */
  get isCut(): boolean {
    return this.#isCut
  }

  check(): void {
    const lost = this.lost()
    if (lost) throw lost
  }

  /** The error if a write would be lost. */
  lost(): StoreError | undefined {
    if (!this.#lost) this.#look('')
    if (!this.#lost) this.#lookBeside()
    if (!this.#lost && this.#wal?.isCut()) this.#cutOff()
    return this.#lost
  }

  /** The error if the last commit cannot be acknowledged. */
  failureAfterCommit(): StoreError | undefined {
    try {
      if (!this.#lost) this.#look('')
      this.#wal?.follow()
      return this.#lost
    } catch (cause) {
      return new StoreError('unknown_outcome', 'The change was saved, but its file cannot be found.', { cause })
    }
  }

  /** Call before closing: our `-wal` must not stay next to another database. Returns whether the files were lost. */
  lastLook(): boolean {
    try {
      return this.lost() !== undefined
    } catch {
      // Cannot be checked, so there is nothing to move away.
      return true
    } finally {
      this.#wal?.close()
    }
  }

  /** Throws if an open file was overwritten or truncated, because reads cannot be trusted then. */
  checkContent(): void {
    if (this.#isOverwritten || this.#isCut) throw this.#lost
  }

  #look(suffix: Suffix): void {
    const found = this.#find(suffix)
    if (!isSameFile(found, this.#opened[suffix])) this.#lose(suffix, found)
    else if (suffix === '' && Number(found?.size) !== this.#size) this.#resized(Number(found?.size))
  }

  #lookBeside(): void {
    const now = performance.now()
    const isClose = now - this.#closeLookAt >= CLOSE_LOOK_MS
    if (isClose) this.#closeLookAt = now
    for (const suffix of ['-wal', '-shm'] as const) {
      if (!this.#lost && (isClose || !existsSync(this.#path + suffix))) this.#look(suffix)
    }
  }

  #find(suffix: Suffix): BigIntStats | undefined {
    return statOf(suffix === '' ? this.#given : this.#path + suffix)
  }

  #lose(suffix: Suffix, found: BigIntStats | undefined): void {
    const isInOurPlace = suffix === '' && found && isSameFile(found, statOf(this.#path))
    const kept = isInOurPlace ? this.#setAside() : ''
    const cause = `${basename(this.#path)}${suffix} is ${found ? 'another file now' : 'gone'}${kept}`
    const message = 'The database file was deleted or replaced. Restart the server; nothing can be saved until then.'
    this.#lost = new StoreError('replaced', message, { cause })
  }

  /**
   * Moves our `-wal` away from the file that replaced ours, because SQLite would replay it there. Also moves our head
   * file, which does not describe the new one.
   */
  #setAside(): string {
    const isOurs = (suffix: Suffix): boolean => isSameFile(this.#find(suffix), this.#opened[suffix])
    const time = Date.now()
    const kept = `${this.#path}-wal.replaced-${time}`
    const head = headPath(this.#path)
    try {
      if (this.#head.isInPlace()) renameSync(head, `${head}.replaced-${time}`)
      if (isOurs('-shm')) rmSync(`${this.#path}-shm`)
      if (!isOurs('-wal')) return ''
      renameSync(`${this.#path}-wal`, kept)
      return `; the -wal of the old one is kept as ${basename(kept)}`
    } catch (error) {
      return `; the -wal of the old one could not be moved away (${(error as NodeJS.ErrnoException).code})`
    }
  }

  #cutOff(): void {
    const cause = `${basename(this.#path)}-wal is shorter than it was`
    const message =
      'The end of the -wal of the database was cut off while it was open. Stop the server and run: runsheet recover'
    this.#lost = new StoreError('replaced', message, { cause })
    this.#isCut = true
  }

  /**
   * Only checkpoints write to the file. They grow it towards the current page count, or truncate it to exactly that.
   */
  #resized(size: number): void {
    // Within a transaction, the page count includes uncommitted pages: check again afterwards.
    if (this.#db.isTransaction) return
    const pages = this.#pages()
    const isCheckpoint = size === pages || (this.#size < size && size < pages)
    this.#size = size
    if (isCheckpoint) return
    const cause = `${basename(this.#path)} has ${size} bytes now, and no checkpoint can have left it so`
    const message =
      'The database file was overwritten. Stop the server, restore the file from a backup, and start it again.'
    this.#lost = new StoreError('replaced', message, { cause })
    this.#isOverwritten = true
  }

  /** The total size of all pages; NaN if the file is unreadable. */
  #pages(): number {
    try {
      return Number(pragma(this.#db, 'page_count')) * Number(pragma(this.#db, 'page_size'))
    } catch (error) {
      if (isCorrupt(error)) return Number.NaN
      throw error
    }
  }
}
