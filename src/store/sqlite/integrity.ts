import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { Checksums } from '../checksum.ts'
import { type Ref, refKey } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { type Head, headPath, type Seal, type Written } from './head-file.ts'
import { SqliteLog, SUMMED_COLUMNS, type SummedRow } from './log.ts'
import { isCorrupt } from './to-store-error.ts'

/** The id of the database, which is part of its checksums. */
export interface DatabaseIdentity {
  readonly id: string
  /** How many event ids were unused when checksums began. */
  readonly gaps: number
}

export function identityOf(db: DatabaseSync): DatabaseIdentity {
  const row = db.prepare('SELECT id, gaps FROM identity').get()
  if (!row) throw new StoreError('corrupt', 'The database has lost its identity.')
  return { id: String(row['id']), gaps: Number(row['gaps']) }
}

/** How far the database is written. */
export function writtenIn(db: DatabaseSync): Written {
  const row = db.prepare('SELECT (SELECT max(id) FROM events) AS events, templates FROM identity').get()
  return { events: Number(row?.['events'] ?? 0), templates: Number(row?.['templates'] ?? 0) }
}

/**
 * Whether the file is as the last clean end left it, byte by byte. Asked only while nobody has it open: closing a file
 * frees all locks that this process holds on it.
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

/** Size and checksum of a whole file. */
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
 * What is wrong with a database, for its operator; undefined if nothing is. Checks its structure, whether all that was
 * acknowledged is there, and the events after `head.checked`.
 */
export function damageIn(db: DatabaseSync, path: string, head: Head | undefined): string | undefined {
  try {
    return (
      structureProblem(db) ??
      headProblem(db, path, head) ??
      changesProblem(db, head && head.checked <= writtenIn(db).events ? head.checked : 0)
    )
  } catch (error) {
    if (error instanceof StoreError && error.code === 'corrupt') return error.detail ?? error.message
    if (isCorrupt(error)) return (error as Error).message
    throw error
  }
}

/** Whether SQLite can read the structure of the file. */
export function structureProblem(db: DatabaseSync): string | undefined {
  const verdict = String(db.prepare('PRAGMA quick_check(1)').get()?.['quick_check'])
  return verdict === 'ok' ? undefined : verdict.replaceAll(/\s+/g, ' ')
}

/** Whether the database holds all that the head file says was acknowledged. */
export function headProblem(db: DatabaseSync, path: string, head: Head | undefined): string | undefined {
  if (!head) return undefined
  if (head.database !== identityOf(db).id) return anotherDatabase(path)
  const { events, templates } = writtenIn(db)
  const backup = `If you put back a backup on purpose, delete ${basename(headPath(path))}`
  if (events < head.written.events) {
    return `the last ${head.written.events - events} of its ${head.written.events} events are missing. ${backup}`
  }
  return templates < head.written.templates ? `its newest templates are missing. ${backup}` : undefined
}

/** Says that the head file beside a database is not its own. */
export function anotherDatabase(path: string): string {
  const name = basename(headPath(path))
  return `it is another database than the one that ${name} belongs to. If you put it there on purpose, delete ${name}`
}

/** A type, not an interface, so that a database row can be cast to it. */
type ChangedRow = SummedRow & { readonly id: number; readonly tenant: string; readonly conversation: string }

/** Whether the events after that id are whole and their conversations can be folded. */
function changesProblem(db: DatabaseSync, after: number): string | undefined {
  const { id, gaps } = identityOf(db)
  const sums = new Checksums(id)
  const last = new Map<string, { ref: Ref; seq: number }>()
  let count = 0
  let newest = after
  const rows = db.prepare(
    `SELECT e.id, tenant, conversation, ${SUMMED_COLUMNS} FROM events e LEFT JOIN conversations c ON c.id = conversation_id
     WHERE e.id > ? ORDER BY e.id`,
  )
  for (const found of rows.iterate(after)) {
    const row = found as ChangedRow
    const { tenant, conversation, seq } = row
    const key = refKey(row)
    if (sums.event(row, row) !== row.sum) return `event ${seq} of ${key} does not have its checksum`
    const known = last.get(key)
    if (known && seq !== known.seq + 1) return `events of ${key} between ${known.seq} and ${seq} are missing`
    last.set(key, { ref: { tenant, conversation }, seq })
    count += 1
    newest = row.id
  }
  const missing = newest - after - count - (after === 0 ? gaps : 0)
  if (missing !== 0) return `${missing} events are missing`
  const log = new SqliteLog(db, sums)
  const torn = [...last.values()].find(({ ref, seq }) => log.current(ref).seq !== seq)
  return torn && `the log of ${refKey(torn.ref)} has a gap`
}
