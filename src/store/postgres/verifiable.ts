import { type EventRow, eventOf, EVENT_COLUMNS } from '../rows.ts'
import type { Ref } from '../store.ts'
import { Replay, type StoredRows, type StoredSnapshot, type Verifiable } from '../verify.ts'
import { type Connections, type Session, storable } from './connections.ts'
import { SCHEMA } from './schema.ts'

/** A type, not an interface, so that a database row can be cast to it. */
type RefRow = { readonly tenant: string; readonly conversation: string }

const PAGE = 500

/** Rows and logs of the database. PostgreSQL has checksums of its own. */
export function postgresVerifiable(database: Connections): Verifiable {
  return {
    conversations: async function* () {
      for (let from: RefRow = { tenant: '', conversation: '' }; ; ) {
        const rows = await database.query<RefRow>(NEXT, [from.tenant, from.conversation])
        yield* rows
        const last = rows.at(-1)
        if (!last) return
        from = last
      }
    },
    differences: async ref => {
      const rows = await database.use(session => storedRows(session, ref))
      const replay = new Replay(ref, rows.snapshot, asStored)
      // Events are immutable, so they can be read after the rows, up to the same seq.
      const seq = Number(rows.conversation?.['seq'] ?? 0)
      while (replay.seq < seq) {
        const events = await database.query<EventRow>(EVENTS, [ref.tenant, ref.conversation, replay.seq, seq])
        if (events.length === 0) break
        replay.add(events.map(row => eventOf(ref.conversation, row)))
      }
      return replay.differences(rows)
    },
    problems: async function* () {},
  }
}

const asStored = (value: unknown): unknown => (typeof value === 'string' ? storable(value) : value)

/** The rows as of one moment. */
async function storedRows(session: Session, { tenant, conversation }: Ref): Promise<StoredRows> {
  const all = <R extends object>(columns: string, table: string): Promise<R[]> =>
    session.query<R>(`SELECT ${columns} FROM ${SCHEMA}.${table} WHERE tenant = $1 AND conversation = $2`, [
      tenant,
      conversation,
    ])
  await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  const [[row], tasks, turns, reviews, [snapshot]] = await Promise.all([
    all<Row>('seq, title, created_at, updated_at, active_at, pinned, archived, mark', 'conversations'),
    all<Row>('id, seq, removed', 'tasks'),
    all<Row>('turn, status, needs', 'turns'),
    all<Row>(`id, pending, ${ISO('due_at')} AS due_at, body`, 'reviews'),
    all<StoredSnapshot>('seq, v, state', 'snapshots'),
  ])
  await session.query('COMMIT')
  return { conversation: row, tasks, turns, reviews, snapshot }
}

type Row = Readonly<Record<string, unknown>>

const ISO = (column: string): string => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const NEXT = `SELECT tenant, conversation FROM ${SCHEMA}.conversations
    WHERE (tenant, conversation) > ($1, $2) AND created_at IS NOT NULL ORDER BY tenant, conversation LIMIT ${PAGE}`
const EVENTS = `SELECT ${EVENT_COLUMNS} FROM ${SCHEMA}.events
    WHERE tenant = $1 AND conversation = $2 AND seq > $3 AND seq <= $4 ORDER BY seq LIMIT 1000`
