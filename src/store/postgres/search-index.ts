import type { Task } from '../../core/model/task.ts'
import { EVENT_COLUMNS, type EventRow, eventOf } from '../rows.ts'
import { type IndexedDocument, searchIn, type SearchIndex } from '../search.ts'
import { CatchUp } from '../search-catch-up.ts'
import type { ConversationSummary, Search } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { type Database, together } from './connections.ts'
import { SUMMARIES } from './queries.ts'
import { SCHEMA } from './schema.ts'
import { isReady, MAX_LOCK_MS, PostgresIndexer, READY, type ReadyRow } from './search-indexer.ts'
import { newestStatement, newestValues } from './search-newest.ts'
import type { Session, Statement, Value } from './session.ts'

/** Search in a database; `indexing` follows the queue. A search takes at most `callMs`, whatever its terms. */
export function postgresSearch(database: Database, callMs: number): { search: Search; indexing: CatchUp } {
  const indexer = new PostgresIndexer(database)
  const indexing = new CatchUp(() => indexer.slice())
  const begin = (): Search => searchIn(indexIn(together(database, callMs), () => indexing.finish()))
  const search: Search = {
    conversations: (...asked) => begin().conversations(...asked),
    tasks: (...asked) => begin().tasks(...asked),
    all: (...asked) => begin().all(...asked),
  }
  return { search, indexing }
}

function indexIn(database: Pick<Database, 'use'>, catchUp: () => Promise<boolean>): SearchIndex {
  return {
    places: ['number', 'string', 'number'],
    newest: async (tenant, kinds, terms, options) => {
      const statement = newestStatement(kinds, options.after !== undefined)
      const values = newestValues(tenant, kinds, terms, options)
      // The index is nearly always complete, and the same round trip shows it.
      const first = await database.use(session => lookUp(session, statement, values)).catch(unlessBusy)
      const isComplete = first !== undefined || (await catchUp())
      const rows = first ?? (await database.use(session => found(session, statement, values)))
      const documents = rows.flatMap(({ kind: index, born, born_seq, ...row }) => {
        const kind = kinds[index]
        return kind ? { ...row, kind, place: [Number(born), row.conversation, born_seq] } : []
      })
      return { documents, isComplete }
    },
    load: async (tenant, documents) => {
      if (documents.length === 0) return []
      const [sessions, tasks, events] = await database.use(session =>
        Promise.all([
          sessionsOf(session, tenant, documents),
          tasksOf(
            session,
            tenant,
            documents.filter(({ kind }) => kind === 'task'),
          ),
          eventsOf(
            session,
            tenant,
            documents.filter(({ kind }) => kind === 'message'),
          ),
        ]),
      )
      return documents.map(({ kind, conversation, ref, seq }) => {
        const session = sessions.get(conversation)
        const task = tasks.get(ref)
        const event = events.get(`${conversation}/${seq}`)
        if (!session || (kind === 'task' && !task) || (kind === 'message' && !event)) return undefined
        return { session, ...(kind === 'task' ? { task } : {}), ...(kind === 'message' ? { event } : {}) }
      })
    },
  }
}

/**
 * Searches in one round trip. Returns undefined unless everything is indexed. The queue is checked first: if it was
 * empty, the search sees everything that was in it.
 */
async function lookUp(session: Session, statement: Statement, values: readonly Value[]) {
  const [, ready, rows] = await Promise.all([
    session.query(SQL.beginInTime),
    session.query<ReadyRow>(READY.statement, READY.values),
    session.query<DocumentRow>(statement, values),
    session.query({ text: 'COMMIT' }),
  ])
  return isReady(ready) ? rows : undefined
}

async function found(session: Session, statement: Statement, values: readonly Value[]): Promise<DocumentRow[]> {
  const [, rows] = await Promise.all([
    session.query(SQL.begin),
    session.query<DocumentRow>(statement, values),
    session.query({ text: 'COMMIT' }),
  ])
  return rows
}

/** Another process has locked the queue: its content is unknown, but the index can be searched. */
function unlessBusy(error: unknown): undefined {
  if (!(error instanceof StoreError) || error.code !== 'busy') throw error
}

async function sessionsOf(session: Session, tenant: string, documents: readonly IndexedDocument[]) {
  const rows = await session.query<ConversationSummary>(SQL.sessions, [
    tenant,
    [...new Set(documents.map(({ conversation }) => conversation))],
  ])
  return new Map(rows.map(row => [row.session_id, row]))
}

async function tasksOf(session: Session, tenant: string, documents: readonly IndexedDocument[]) {
  if (documents.length === 0) return new Map<string, Task>()
  const rows = await session.query<{ body: string }>(SQL.tasks, [tenant, documents.map(({ ref }) => ref)])
  return new Map(rows.map(({ body }) => JSON.parse(body) as Task).map(task => [task.id, task]))
}

async function eventsOf(session: Session, tenant: string, documents: readonly IndexedDocument[]) {
  if (documents.length === 0) return new Map<string, never>()
  const rows = await session.query<EventRow & { conversation: string }>(SQL.events, [
    tenant,
    documents.map(({ conversation }) => conversation),
    documents.map(({ seq }) => String(seq)),
  ])
  return new Map(rows.map(row => [`${row.conversation}/${row.seq}`, eventOf(row.conversation, row)]))
}

interface DocumentRow {
  /** Index into the requested kinds. */
  readonly kind: number
  readonly conversation: string
  readonly ref: string
  readonly seq: number
  readonly tokens: string
  readonly born: string
  readonly born_seq: number
}

// A generic plan suits every search, however large the tables become; planning again or JIT would take longer than the
// search.
const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off;
  SET LOCAL jit = off`

const SQL = {
  begin: { text: BEGIN },
  beginInTime: { text: `${BEGIN}; SET LOCAL lock_timeout = ${MAX_LOCK_MS}` },
  sessions: {
    name: 'runsheet-search-sessions',
    text: `${SUMMARIES} WHERE tenant = $1 AND conversation = ANY ($2::text[])`,
  },
  tasks: {
    name: 'runsheet-search-tasks',
    text: `SELECT body FROM ${SCHEMA}.tasks WHERE tenant = $1 AND id = ANY ($2::text[]) AND NOT removed`,
  },
  events: {
    name: 'runsheet-search-messages',
    text: `SELECT conversation, ${EVENT_COLUMNS} FROM ${SCHEMA}.events
      JOIN unnest($2::text[], $3::integer[]) AS message (conversation, seq) USING (conversation, seq)
      WHERE tenant = $1`,
  },
} satisfies Record<string, Statement>
