import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { WAL_BYTES } from './open.ts'
import { StoreError } from '../store-error.ts'
import { isBusy, isUnreadable, toStoreError } from './to-store-error.ts'

// Formats: https://sqlite.org/fileformat2.html, section 4 (the WAL).
const HEADER = 32
const FRAME_HEADER = 24
const SALTS = { from: 16, to: 24 }

/**
 * The length of the WAL of an open database. Cut off in place, it would lose what was acknowledged, and SQLite would go on
 * behind the gap. Read byte by byte: asking for the size asks for the times as well, and slows down every flush.
 */
export class WalLength {
  readonly #path: string
  readonly #file: number
  readonly #frame: number
  readonly #salts = Buffer.alloc(SALTS.to - SALTS.from)
  readonly #byte = Buffer.alloc(1)
  /** The end of the last frame that was there. */
  #end: number

  /** `path`: of the database. Its WAL exists. */
  constructor(path: string, pageSize: number) {
    this.#path = path
    this.#frame = FRAME_HEADER + pageSize
    // SQLite holds no lock on the WAL that closing this file could free.
    this.#file = openSync(`${path}-wal`, 'r')
    this.#end = this.#lastWhole(fstatSync(this.#file).size)
    this.#noteSalts()
  }

  /** After a commit: takes in what was appended. */
  follow(): void {
    while (this.#has(this.#end + this.#frame)) this.#end += this.#frame
  }

  /** Whether frames are missing that were there. */
  isCut(): boolean {
    if (!this.#has(this.#end) && !this.#isCutBySqlite()) return true
    this.#noteSalts()
    this.follow()
    return false
  }

  close(): void {
    closeSync(this.#file)
  }

  /** SQLite itself cuts the WAL to its limit after a large transaction, and to nothing in a TRUNCATE checkpoint. */
  #isCutBySqlite(): boolean {
    if (this.#end > WAL_BYTES && this.#has(WAL_BYTES)) {
      this.#end = this.#lastWhole(WAL_BYTES)
      return true
    }
    const salts = Buffer.alloc(this.#salts.length)
    const hasSalts = this.#read(salts, SALTS.from) === salts.length
    // Each time that SQLite begins a WAL, it takes new salts.
    if (hasSalts && salts.equals(this.#salts)) return false
    if (!hasSalts && !this.#hasAllFrames()) return false
    this.#end = HEADER
    return true
  }

  /** Whether SQLite, asked how many frames there should be, finds them. From a WAL without a header it moves nothing. */
  #hasAllFrames(): boolean {
    let db: DatabaseSync | undefined
    try {
      db = new DatabaseSync(this.#path, { timeout: 0 })
      const { busy, log } = db.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() ?? {}
      if (busy !== 0) throw new StoreError('busy', 'Another process moves the WAL into the database.')
      return Number(log) <= 0 || this.#has(HEADER + Number(log) * this.#frame)
    } catch (error) {
      if (isBusy(error)) throw toStoreError(error)
      // A frame that is gone cannot be read; any other failure is another damage.
      return !isUnreadable(error)
    } finally {
      db?.close()
    }
  }

  #noteSalts(): void {
    this.#read(this.#salts, SALTS.from)
  }

  #lastWhole(size: number): number {
    return HEADER + Math.max(0, Math.floor((size - HEADER) / this.#frame)) * this.#frame
  }

  /** Whether the file is that long. An empty one, before the first commit, has no frame to lose. */
  #has(size: number): boolean {
    return size === HEADER || this.#read(this.#byte, size - 1) > 0
  }

  #read(bytes: Buffer, at: number): number {
    return readSync(this.#file, bytes, 0, bytes.length, at)
  }
}
