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
 * Tracks the WAL's length while the database is open. If the WAL is truncated in place, acknowledged commits are lost
 * and SQLite would continue after the gap. Probes single bytes, because a stat also reads the times and slows down
 * every flush.
 */
export class WalLength {
  readonly #path: string
  readonly #file: number
  readonly #frame: number
  readonly #salts = Buffer.alloc(SALTS.to - SALTS.from)
  readonly #byte = Buffer.alloc(1)
  #end: number

  /** `path` is the database's. Its WAL exists. */
  constructor(path: string, pageSize: number) {
    this.#path = path
    this.#frame = FRAME_HEADER + pageSize
    // SQLite holds no lock on the WAL that closing this file could free.
    this.#file = openSync(`${path}-wal`, 'r')
    this.#end = this.#lastWhole(fstatSync(this.#file).size)
    this.#noteSalts()
  }

  /** Call after a commit: includes appended frames. */
  follow(): void {
    while (this.#has(this.#end + this.#frame)) this.#end += this.#frame
  }

  isCut(): boolean {
    if (!this.#has(this.#end) && !this.#isCutBySqlite()) return true
    this.#noteSalts()
    this.follow()
    return false
  }

  close(): void {
    closeSync(this.#file)
  }

  /** SQLite itself truncates the WAL to its limit after a large transaction, and to zero in a TRUNCATE checkpoint. */
  #isCutBySqlite(): boolean {
    if (this.#end > WAL_BYTES && this.#has(WAL_BYTES)) {
      this.#end = this.#lastWhole(WAL_BYTES)
      return true
    }
    const salts = Buffer.alloc(this.#salts.length)
    const hasSalts = this.#read(salts, SALTS.from) === salts.length
    // SQLite starts each WAL with new salts.
    if (hasSalts && salts.equals(this.#salts)) return false
    if (!hasSalts && !this.#hasAllFrames()) return false
    this.#end = HEADER
    return true
  }

  /**
   * Compares the WAL's length with the frames that SQLite expects. A checkpoint of a WAL without a header moves
   * nothing.
   */
  #hasAllFrames(): boolean {
    let db: DatabaseSync | undefined
    try {
      db = new DatabaseSync(this.#path, { timeout: 0 })
      const { busy, log } = db.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() ?? {}
      if (busy !== 0) throw new StoreError('busy', 'Another process moves the WAL into the database.')
      return Number(log) <= 0 || this.#has(HEADER + Number(log) * this.#frame)
    } catch (error) {
      if (isBusy(error)) throw toStoreError(error)
      // A missing frame cannot be read; any other failure is different damage.
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

  /** Checks that the file has at least this size. Before the first commit it is empty and has no frame to lose. */
  #has(size: number): boolean {
    return size === HEADER || this.#read(this.#byte, size - 1) > 0
  }

  #read(bytes: Buffer, at: number): number {
    return readSync(this.#file, bytes, 0, bytes.length, at)
  }
}
