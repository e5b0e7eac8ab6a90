import type { DatabaseSync } from 'node:sqlite'
import { Checksums } from '../checksum.ts'
import { type Ref, refKey } from '../store.ts'
import { SUMMED_COLUMNS } from './log-sql.ts'

/**
 * Describes a missing event or one that does not match its checksum. Scans row by row without an index: 200,000 events
 * take half a second.
 */
export function eventProblem(db: DatabaseSync, database: string): string | undefined {
  const sums = new Checksums(database)
  const names = namesIn(db)
  const ends = new Map<number, number>()
  let [count, newest] = [0, 0]
  const rows = db.prepare(`SELECT id, conversation_id, ${SUMMED_COLUMNS} FROM events NOT INDEXED ORDER BY id`)
  rows.setReturnArrays(true)
  for (const row of rows.iterate() as Iterable<unknown>) {
    const [id, conversation, seq, v, type, turn_id, timestamp, data, sum] = row as StoredColumns
    const ref = names.get(conversation)
    if (!ref) return `event ${seq} is of a conversation that is missing (number ${conversation})`
    if (sums.event(ref, { seq, v, type, turn_id, timestamp, data }) !== sum) {
      return `event ${seq} of ${refKey(ref)} does not have its checksum`
    }
    const end = ends.get(conversation) ?? 0
    if (seq !== end + 1) return `event ${end + 1} of ${refKey(ref)} is missing`
    ends.set(conversation, seq)
    count += 1
    newest = id
  }
  const missing = newest - count
  return missing === 0 ? undefined : `${missing} events are missing`
}

type StoredColumns = readonly [
  id: number,
  conversation: number,
  seq: number,
  v: number,
  type: string,
  turnId: string | null,
  timestamp: string,
  data: string,
  sum: number,
]

function namesIn(db: DatabaseSync): Map<number, Ref> {
  const rows = db.prepare('SELECT id, tenant, conversation FROM conversations NOT INDEXED').all()
  return new Map(
    rows.map(row => [Number(row['id']), { tenant: String(row['tenant']), conversation: String(row['conversation']) }]),
  )
}

export function* rowProblems(
  db: DatabaseSync,
  database: string,
  kinds: readonly SummedKind[] = ['conversation', 'review', 'key', 'template'],
): Generator<string> {
  const sums = new Checksums(database)
  for (const kind of kinds) {
    const { sql, name } = SUMMED[kind]
    const rows = db.prepare(sql)
    rows.setReturnArrays(true)
    for (const row of rows.iterate() as Iterable<unknown>) {
      const values = row as readonly (string | number | null)[]
      if (sums.of(kind, ...values.slice(0, -1)) === values.at(-1)) continue
      yield `${name(...values.map(value => String(value)))} does not have its checksum`
    }
  }
}

type SummedKind = 'conversation' | 'review' | 'key' | 'template'

interface Summed {
  /** Selects the fields in checksum order, with the checksum last. */
  readonly sql: string
  readonly name: (...values: readonly string[]) => string
}

export const CONVERSATION_ROWS =
  'SELECT tenant, conversation, title, created_at, active_at, pinned, archived, mark, row_sum AS sum FROM conversations'
export const REVIEW_ROWS = 'SELECT tenant, id, conversation, pending, due_at, body, sum FROM reviews'

const SUMMED: Readonly<Record<SummedKind, Summed>> = {
  conversation: {
    sql: `${CONVERSATION_ROWS} NOT INDEXED`,
    name: (tenant = '', conversation = '') => `the row of ${refKey({ tenant, conversation })}`,
  },
  review: {
    sql: `${REVIEW_ROWS} NOT INDEXED`,
    name: (tenant = '', id, conversation = '') => `the review ${id} of ${refKey({ tenant, conversation })}`,
  },
  key: {
    sql: 'SELECT tenant, conversation, key, body_hash, value, sum FROM keys',
    name: (tenant = '', conversation = '', key) => `the key ${key} of ${refKey({ tenant, conversation })}`,
  },
  template: { sql: 'SELECT tenant, name, body, sum FROM templates', name: (_, name) => `the template ${name}` },
}
