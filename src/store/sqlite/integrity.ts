import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { Checksums } from '../checksum.ts'
import { refKey } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { type Head, headPath, type Seal, type Written } from './head-file.ts'
import { identityOf } from './database-identity.ts'
import { SqliteLog } from './log.ts'
import { eventProblem, rowProblems } from './row-check.ts'
import { isCorrupt } from './to-store-error.ts'

export function writtenIn(db: DatabaseSync): Written {
  const row = db.prepare('SELECT (SELECT max(id) FROM events) AS events, templates FROM identity').get()
  return { events: Number(row?.['events'] ?? 0), templates: Number(row?.['templates'] ?? 0) }
}

/**
 * True if the file matches its seal byte for byte. Call only while no process has it open: closing a file frees all
 * locks that this process holds on it.
 */
export function isSealed(path: string, head: Head | undefined): boolean {
  if (!head?.seal || existsSync(`${path}-wal`) || existsSync(`${path}-shm`)) return false
  const { size, crc } = head.seal
  if (statSync(path).size !== size) return false
  const file = openSync(path, 'r')
  try {
    return sealOf(file).crc === crc
  } finally {
    closeSync(file)
  }
}

export function sealOf(file: number): Seal {
  const chunk = Buffer.allocUnsafe(CHUNK)
  let size = 0
  let crc = 0
  for (;;) {
    const length = readSync(file, chunk, 0, CHUNK, size)
    if (length === 0) return { size, crc }
    crc = crc32(chunk.subarray(0, length), crc)
    size += length
  }
}

const CHUNK = 1 << 20

/**
 * Describes the damage of a database, for its operator; undefined if there is none. Checks the structure with all
 * indexes, that everything acknowledged is present, all checksums, and the logs that changed after `head.checked`.
 */
export function damageIn(db: DatabaseSync, path: string, head: Head | undefined): string | undefined {
  try {
    return (
      structureProblem(db) ??
      headProblem(db, path, head) ??
      contentProblem(db) ??
      foldProblem(db, head && head.checked <= writtenIn(db).events ? head.checked : 0)
    )
  } catch (error) {
    if (error instanceof StoreError && error.code === 'corrupt') return error.detail ?? error.message
    if (isCorrupt(error)) return (error as Error).message
    throw error
  }
}

export function structureProblem(db: DatabaseSync): string | undefined {
  const [first] = structureProblems(db, 1)
  return first
}

/** `integrity_check`, because `quick_check` takes nearly as long and does not compare indexes with tables. */
export function structureProblems(db: DatabaseSync, most: number): string[] {
  try {
    const rows = db.prepare(`PRAGMA integrity_check(${most})`).all()
    const verdicts = rows.map(row => String(row['integrity_check']).replaceAll(/\s+/g, ' '))
    return verdicts[0] === 'ok' ? [] : verdicts
  } catch (error) {
    if (isCorrupt(error)) return [(error as Error).message]
    throw error
  }
}

export function contentProblem(db: DatabaseSync): string | undefined {
  const identity = identityOf(db)
  const [first] = rowProblems(db, identity)
  return first ?? eventProblem(db, identity)
}

export function headProblem(db: DatabaseSync, path: string, head: Head | undefined): string | undefined {
  if (!head) return undefined
  if (head.database !== identityOf(db)) return anotherDatabase(path)
  const { events, templates } = writtenIn(db)
  const backup = `If you put back a backup on purpose, delete ${basename(headPath(path))}`
  if (events < head.written.events) {
    return `the last ${head.written.events - events} of its ${head.written.events} events are missing. ${backup}`
  }
  return templates < head.written.templates ? `its newest templates are missing. ${backup}` : undefined
}

function anotherDatabase(path: string): string {
  const name = basename(headPath(path))
  return `it is another database than the one that ${name} belongs to. If you put it there on purpose, delete ${name}`
}

function foldProblem(db: DatabaseSync, after: number): string | undefined {
  const changed = db.prepare(
    `SELECT c.tenant, c.conversation, max(seq) AS seq FROM events e JOIN conversations c ON c.id = conversation_id
     WHERE e.id > ? GROUP BY c.id`,
  )
  const log = new SqliteLog(db, new Checksums(identityOf(db)))
  for (const row of changed.iterate(after)) {
    const ref = { tenant: String(row['tenant']), conversation: String(row['conversation']) }
    if (log.current(ref).seq !== row['seq']) return `the log of ${refKey(ref)} has a gap`
  }
  return undefined
}
