import { instantOf } from '../../core/model/instant.ts'
import { SEARCH_KINDS } from '../../core/text/search.ts'
import {
  type ConversationRow,
  eventOf,
  EVENT_COLUMNS,
  type EventRow,
  type ReviewRow,
  type TaskRow,
  type TurnRow,
} from '../rows.ts'
import { documentName } from '../search-check.ts'
import type { Ref } from '../store.ts'
import { type Verifiable, Replay, type StoredRows, type StoredSnapshot } from '../verify.ts'
import { type Connections, type Session, storable } from './connections.ts'
import { SCHEMA } from './schema.ts'
import { INDEX_VERSION } from './search-indexer.ts'

/** A type, not an interface, so that a database row can be cast to it. */
type RefRow = { readonly tenant: string; readonly conversation: string }
type DocumentRecord = { readonly kind: number; readonly ref: string; readonly tokens: string }
type ReviewRecord = Pick<ReviewRow, 'id' | 'pending'> & { readonly due_at: Date | null; readonly body: string }

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
      const replay = new Replay(ref, rows.snapshot, storable)
      // Events are immutable, so they can be read after the rows, up to the same seq.
      const { seq = 0 } = rows.conversation ?? {}
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

/** The rows as of one moment. */
async function storedRows(session: Session, { tenant, conversation }: Ref): Promise<StoredRows> {
  const all = <R extends object>(text: string): Promise<R[]> =>
    session.query<R>(`${text} WHERE tenant = $1 AND conversation = $2`, [tenant, conversation])
  await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  const [conversations, tasks, turns, reviews, snapshots, documents, queued, [state]] = await Promise.all([
    all<Omit<ConversationRow, 'renamed'>>(`SELECT ${CONVERSATION_COLUMNS} FROM ${SCHEMA}.conversations`),
    all<TaskRow>(`SELECT id, seq, removed FROM ${SCHEMA}.tasks`),
    all<TurnRow>(`SELECT turn, status, needs FROM ${SCHEMA}.turns`),
    all<ReviewRecord>(`SELECT id, pending, due_at, body FROM ${SCHEMA}.reviews`),
    all<StoredSnapshot>(`SELECT seq, v, state FROM ${SCHEMA}.snapshots`),
    all<DocumentRecord>(`SELECT kind, ref, tokens FROM ${SCHEMA}.search_documents`),
    all(`SELECT 1 FROM ${SCHEMA}.search_queue`),
    session.query<{ version: number }>(`SELECT version FROM ${SCHEMA}.search_state`),
  ])
  await session.query('COMMIT')
  // The search index lags behind.
  const isIndexed = queued.length === 0 && state?.version === INDEX_VERSION
  return {
    conversation: conversations[0],
    tasks,
    turns,
    reviews: reviews.map(row => ({
      ...row,
      due_at: row.due_at && instantOf(row.due_at.getTime()),
      body: JSON.parse(row.body),
    })),
    snapshot: snapshots[0],
    documents: isIndexed
      ? documents.map(({ kind, ref, tokens }) => ({
          name: documentName(SEARCH_KINDS[kind] ?? 'conversation', ref),
          tokens,
        }))
      : undefined,
  }
}

const CONVERSATION_COLUMNS = 'seq, title, created_at, updated_at, active_at, pinned, archived, mark'

const NEXT = `SELECT tenant, conversation FROM ${SCHEMA}.conversations
    WHERE (tenant, conversation) > ($1, $2) AND created_at IS NOT NULL ORDER BY tenant, conversation LIMIT ${PAGE}`
const EVENTS = `SELECT ${EVENT_COLUMNS} FROM ${SCHEMA}.events
    WHERE tenant = $1 AND conversation = $2 AND seq > $3 AND seq <= $4 ORDER BY seq LIMIT 1000`
