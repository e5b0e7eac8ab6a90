import {
  closeSync,
  constants,
  fchmodSync,
  fdatasync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs'
import { crc32 } from 'node:zlib'
import { type Identity, isSameFile, statOf } from '../identity.ts'
import { StoreError } from '../store-error.ts'

export interface Written {
  /** The id of the newest event; ids increase across conversations. */
  readonly events: number
  readonly templates: number
}

export interface Seal {
  readonly size: number
  readonly crc: number
}

export interface Head {
  readonly database: string
  /** Progress acknowledged by all processes. */
  readonly written: Written
  /** Present if nothing was written since the last clean shutdown. */
  readonly seal?: Seal
  /** Events up to this id passed the checks. */
  readonly checked: number
}

/** A power cut may lose records from this interval: flushing each would cost as much as flushing the commit. */
const FLUSH_MS = 1_000

/**
 * Records, outside of the database and its WAL, how far the database was written, so that lost commits are noticed.
 * Each process writes its own slot after COMMIT and before it answers. So a slot never claims more than the database
 * has, and no process overwrites another's. Slots are taken and freed under the database's write lock.
 */
export class HeadFile {
  readonly #path: string
  readonly #database: string
  readonly #found: Identity | undefined
  readonly #record = Buffer.alloc(RECORD)
  #file: number | undefined
  #slot: number | undefined
  #written: Written = { events: 0, templates: 0 }
  #isUnsealed = false
  #flush: NodeJS.Timeout | undefined

  /** `path` is the database itself, not a link to it. */
  constructor(path: string, database: string) {
    this.#path = path
    this.#database = database
    this.#found = statOf(headPath(path))
  }

  /**
   * True if the file on disk is the one that this process found or created. A different one describes a different
   * database.
   */
  isInPlace(): boolean {
    const ours = this.#file === undefined ? this.#found : fstatSync(this.#file, { bigint: true })
    return isSameFile(statOf(headPath(this.#path)), ours)
  }

  /** Call before the first COMMIT of this process, within its transaction. */
  begin(): void {
    if (this.#slot !== undefined) return
    attempt(() => {
      const file = this.#open()
      const bytes = contentOf(file)
      if (databaseIn(bytes) !== this.#database) this.#put(DATABASE, databaseRecord(this.#database))
      let slot = SLOTS
      while (!isFree(bytes, slot)) slot += RECORD
      this.#put(slot, numbers(slot, 0, 0))
      this.#slot = slot
      this.unseal()
    })
  }

  /** Call before any write: the file then differs from its seal. */
  unseal(): void {
    if (this.#isUnsealed) return
    attempt(() => {
      if (this.#file !== undefined || readHead(this.#path)?.seal) {
        this.#open()
        this.#put(SEAL, Buffer.alloc(RECORD))
      }
      this.#isUnsealed = true
    })
  }

  /** Call after COMMIT, before the answer. */
  note(written: Written): void {
    const events = Math.max(written.events, this.#written.events)
    const templates = Math.max(written.templates, this.#written.templates)
    const isNews = events > this.#written.events || templates > this.#written.templates
    if (this.#slot === undefined || !isNews) return
    this.#written = { events, templates }
    fill(this.#record, this.#slot, events, templates)
    try {
      writeSync(this.#open(), this.#record, 0, RECORD, this.#slot)
    } catch (error) {
      throw headError(error)
    }
    this.#flush ??= setTimeout(() => this.#flushNow(), FLUSH_MS).unref()
  }

  /** Frees the slot. The caller holds the database's write lock. */
  release(): void {
    if (this.#slot === undefined) return
    const bytes = contentOf(this.#open())
    const base = furthest([writtenIn(bytes, BASE), this.#written])
    this.#put(BASE, numbers(BASE, ...valuesOf(base)))
    this.#put(this.#slot, Buffer.alloc(RECORD))
    this.#slot = undefined
  }

  seal({ size, crc }: Seal, checked: number, present: Written): void {
    const file = this.#open()
    const base = furthest([...allWritten(contentOf(file)), present])
    const records = [
      databaseRecord(this.#database),
      numbers(SEAL, size, crc),
      numbers(CHECKED, checked),
      numbers(BASE, ...valuesOf(base)),
    ]
    this.#put(0, Buffer.concat(records))
    ftruncateSync(file, SLOTS)
    fsyncSync(file)
    this.#slot = undefined
  }

  close(): void {
    clearTimeout(this.#flush)
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  #open(): number {
    this.#file ??= openForWriting(headPath(this.#path))
    return this.#file
  }

  #put(at: number, record: Buffer): void {
    writeSync(this.#open(), record, 0, record.length, at)
  }

  /** Asynchronous, so that no call waits for it. */
  #flushNow(): void {
    this.#flush = undefined
    if (this.#file !== undefined) fdatasync(this.#file, () => {})
  }
}

export function readHead(path: string): Head | undefined {
  let file: number
  try {
    file = openSync(headPath(path), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw headError(error)
  }
  try {
    const bytes = contentOf(file)
    const database = databaseIn(bytes)
    if (database === undefined) return undefined
    const [size, crc] = numbersIn(bytes, SEAL) ?? []
    const [checked = 0] = numbersIn(bytes, CHECKED) ?? []
    const seal = size === undefined || crc === undefined ? {} : { seal: { size, crc } }
    return { database, checked, written: furthest(allWritten(bytes)), ...seal }
  } finally {
    closeSync(file)
  }
}

/** Records that the events up to this id passed the checks, so that the next start skips them. */
export function noteChecked(path: string, checked: number): void {
  attempt(() => {
    const file = openForWriting(headPath(path))
    writeSync(file, numbers(CHECKED, checked), 0, RECORD, CHECKED)
    closeSync(file)
  })
}

export const headPath = (path: string): string => `${path}-head`

// Records of 64 bytes, each with a checksum that includes its position. A free one is all zeros.
const RECORD = 64
const SUM = RECORD - 4
const DATABASE = 0
const SEAL = 64
const CHECKED = 128
/** The totals of freed slots. */
const BASE = 192
const SLOTS = 256

const MAGIC = 'runsheet-head 1 '

function databaseRecord(database: string): Buffer {
  const record = Buffer.alloc(RECORD)
  record.write(MAGIC + database, 'latin1')
  record.writeUInt32LE(crc32(record.subarray(0, SUM), DATABASE), SUM)
  return record
}

function databaseIn(bytes: Buffer): string | undefined {
  if (!isWhole(bytes, DATABASE)) return undefined
  const text = bytes.toString('latin1', 0, SUM).replace(/\0+$/, '')
  return text.startsWith(MAGIC) ? text.slice(MAGIC.length) : undefined
}

const numbers = (at: number, first: number, second = 0): Buffer => fill(Buffer.alloc(RECORD), at, first, second)

function fill(record: Buffer, at: number, first: number, second: number): Buffer {
  record.writeDoubleLE(first, 0)
  record.writeDoubleLE(second, 8)
  record.writeUInt32LE(crc32(record.subarray(0, SUM), at), SUM)
  return record
}

const numbersIn = (bytes: Buffer, at: number): [number, number] | undefined =>
  isWhole(bytes, at) ? [bytes.readDoubleLE(at), bytes.readDoubleLE(at + 8)] : undefined

const isWhole = (bytes: Buffer, at: number): boolean =>
  at + RECORD <= bytes.length && crc32(bytes.subarray(at, at + SUM), at) === bytes.readUInt32LE(at + SUM)

/** A damaged record is not free: its process may still write it. */
const isFree = (bytes: Buffer, at: number): boolean => bytes.subarray(at, at + RECORD).every(byte => byte === 0)

const valuesOf = ({ events, templates }: Written): [number, number] => [events, templates]

function writtenIn(bytes: Buffer, at: number): Written {
  const [events = 0, templates = 0] = numbersIn(bytes, at) ?? []
  return { events, templates }
}

function allWritten(bytes: Buffer): Written[] {
  const found = [writtenIn(bytes, BASE)]
  for (let at = SLOTS; at + RECORD <= bytes.length; at += RECORD) found.push(writtenIn(bytes, at))
  return found
}

const furthest = (all: readonly Written[]): Written => ({
  events: Math.max(...all.map(({ events }) => events)),
  templates: Math.max(...all.map(({ templates }) => templates)),
})

function openForWriting(path: string): number {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o600)
  // A mode at creation is only an upper bound.
  if (fstatSync(file).size === 0) fchmodSync(file, 0o600)
  return file
}

function contentOf(file: number): Buffer {
  const bytes = Buffer.alloc(fstatSync(file).size)
  const length = bytes.length === 0 ? 0 : readSync(file, bytes, 0, bytes.length, 0)
  return bytes.subarray(0, length)
}

function attempt<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw headError(error)
  }
}

function headError(error: unknown): unknown {
  if (error instanceof StoreError) return error
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new StoreError('full', 'The disk is full; nothing was written.', { cause: error })
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new StoreError('readonly', 'The head file of the database cannot be written: permission denied.', {
        cause: error,
      })
    case undefined:
      return error
    default:
      return new StoreError('io', 'The head file of the database could not be read or written.', { cause: error })
  }
}
