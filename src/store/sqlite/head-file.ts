import { hash } from 'node:crypto'
import { closeSync, constants, fchmodSync, fdatasync, openSync, readSync, writeSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { basename } from 'node:path'
import type { EventRow } from '../rows.ts'
import { refKey, type Ref } from '../store.ts'

/**
 * The link of a stored event in the hash chain of its conversation: covers the event and the link before it. Finds
 * damage, not forgery: the chain can be computed by anyone who can write the file.
 */
export function linkOf(ref: Ref, before: string | null, { seq, v, type, turn_id, timestamp, data }: EventRow): string {
  return digestOf(`${before ?? refKey(ref)}\n${seq}\n${v}\n${type}\n${turn_id ?? ''}\n${timestamp}\n${data}`)
}

/** 132 bits of SHA-256. */
export const digestOf = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22)

/** The newest event of a database: its id, which increases across conversations, and its link in its chain. */
export interface Head {
  readonly id: number
  readonly link: string
}

/** A power cut may lose notes from this interval: flushing each would cost as much as flushing the commit. */
const FLUSH_MS = 1_000

/**
 * Notes the newest event outside of the database and its WAL, so that lost commits are noticed at the next start.
 * Written after COMMIT, so it never claims more than the database has. A note that cannot be written is left out: an
 * older one is still true.
 */
export class HeadFile {
  readonly #path: string
  #file: number | undefined
  #noted = ''
  #flush: NodeJS.Timeout | undefined

  /** `path` is the database itself, not a link to it. */
  constructor(path: string) {
    this.#path = headPath(path)
  }

  /** Processes share the file; one that comes late does not overwrite a newer note. */
  note(head: Head): void {
    try {
      this.#file ??= openForWriting(this.#path)
      const found = textIn(this.#file)
      if (found !== this.#noted && (headOf(found)?.id ?? 0) >= head.id) return
      this.#noted = recordOf(head)
      writeSync(this.#file, this.#noted, 0)
      this.#flush ??= setTimeout(() => this.#flushNow(), FLUSH_MS).unref()
    } catch {
      // See above.
    }
  }

  close(): void {
    clearTimeout(this.#flush)
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  /** Asynchronous, so that no call waits for it. */
  #flushNow(): void {
    this.#flush = undefined
    if (this.#file !== undefined) fdatasync(this.#file, () => {})
  }
}

/** Undefined if there is no note, or a damaged one. */
export function readHead(path: string): Head | undefined {
  try {
    const file = openSync(headPath(path), constants.O_RDONLY | NO_FOLLOW)
    try {
      return headOf(textIn(file))
    } finally {
      closeSync(file)
    }
  } catch {
    return undefined
  }
}

/** Describes what a database lacks of the events that were acknowledged. `head` was read before the database. */
export function headProblem(db: DatabaseSync, path: string, head: Head | undefined): string | undefined {
  if (!head) return undefined
  const row = db.prepare('SELECT max(id) AS newest, (SELECT chain FROM events WHERE id = ?) AS link FROM events')
  const { newest, link } = row.get(head.id) ?? {}
  if (link === head.link) return undefined
  const name = basename(headPath(path))
  const behind = head.id - Number(newest ?? 0)
  if (behind > 0) return `its last ${behind} events are missing. If you put back a backup on purpose, delete ${name}`
  return `it is not the database that ${name} belongs to. If you put it there on purpose, delete ${name}`
}

export const headPath = (path: string): string => `${path}-head`

const NO_FOLLOW = constants.O_NOFOLLOW ?? 0

function openForWriting(path: string): number {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT | NO_FOLLOW, 0o600)
  // A mode at creation is only an upper bound.
  fchmodSync(file, 0o600)
  return file
}

/** Always of the same length, so that one write replaces it. */
function recordOf({ id, link }: Head): string {
  const text = `runsheet-head ${String(id).padStart(16, '0')} ${link}`
  return `${text} ${digestOf(text)}\n`
}

const MAX_BYTES = 128

function textIn(file: number): string {
  const bytes = Buffer.alloc(MAX_BYTES)
  return bytes.toString('latin1', 0, readSync(file, bytes, 0, MAX_BYTES, 0))
}

function headOf(text: string): Head | undefined {
  const [, id = '', link = ''] = text.split(' ')
  const head = { id: Number(id), link }
  return recordOf(head) === text ? head : undefined
}
