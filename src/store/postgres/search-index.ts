import type { StoredEvent } from '../../core/model/event.ts'
import type { SearchKind, Term } from '../../core/text/search.ts'
import { EVENT_COLUMNS, type EventRow, eventOf } from '../rows.ts'
import { type IndexedDocument, searchIn, type SearchIndex } from '../search.ts'
import { CatchUp } from '../search-catch-up.ts'
import type { ConversationSummary, Search } from '../store.ts'
import { type Connections, type Session, together } from './connections.ts'
import { SUMMARIES } from './queries.ts'
import { SCHEMA } from './schema.ts'
import { numberOf, PostgresIndexer, scopeOf } from './search-indexer.ts'

/** Search in a database; `indexing` follows the queue. A search takes at most `callMs`, whatever its terms. */
export function postgresSearch(
  database: Pick<Connections, 'use' | 'query'>,
  callMs: number,
): { search: Search; indexing: CatchUp } {
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

function indexIn(database: Pick<Connections, 'use'>, catchUp: () => Promise<boolean>): SearchIndex {
  return {
    places: ['number', 'string', 'number'],
    newest: async (tenant, kinds, terms, { limit, after }) => {
      const isComplete = await catchUp()
      const text = after ? SQL.newestAfter : SQL.newest
      const [born, conversation, bornSeq] = after ?? []
      const place = after ? [whole(born, 2 ** 53), conversation ?? '', whole(bornSeq, 2 ** 31 - 1)] : []
      const valuesFor = (kind: SearchKind) => [tenant, numberOf(kind), queryOf(scopeOf(tenant, kind), terms), limit]
      const found = await database.use(async session => {
        const begun = session.query(BEGIN)
        const rows = kinds.map(kind => session.query<DocumentRow>(text, [...valuesFor(kind), ...place]))
        const [, ...each] = await Promise.all([begun, ...rows, session.query('COMMIT')])
        return each.slice(0, kinds.length) as DocumentRow[][]
      })
      const documents = kinds.flatMap((kind, index) =>
        (found[index] ?? []).map(({ born, born_seq, ...row }) => ({
          ...row,
          kind,
          place: [Number(born), row.conversation, born_seq],
        })),
      )
      return { documents, isComplete }
    },
    load: async (tenant, documents) => {
      if (documents.length === 0) return []
      const [sessions, events] = await database.use(session =>
        Promise.all([sessionsOf(session, tenant, documents), eventsOf(session, tenant, documents)]),
      )
      return documents.map(document => {
        const session = sessions.get(document.conversation)
        if (!session || document.kind === 'conversation') return session && { session }
        const event = events.get(keyOf(document))
        if (document.kind === 'message') return event && { session, event }
        return event && 'task' in event.data ? { session, task: event.data.task } : undefined
      })
    },
  }
}

async function sessionsOf(session: Session, tenant: string, documents: readonly IndexedDocument[]) {
  const conversations = [...new Set(documents.map(({ conversation }) => conversation))]
  const rows = await session.query<ConversationSummary>(SQL.sessions, [tenant, conversations])
  return new Map(rows.map(row => [row.session_id, row]))
}

/** The newest event of each task, unless it is removed, and the event of each message. */
async function eventsOf(session: Session, tenant: string, documents: readonly IndexedDocument[]) {
  const [tasks, messages] = (['task', 'message'] as const).map(kind => documents.filter(each => each.kind === kind))
  const rows = await session.query<EventRow & { conversation: string; ref: string }>(SQL.events, [
    tenant,
    tasks?.map(({ ref }) => ref) ?? [],
    messages?.map(({ conversation }) => conversation) ?? [],
    messages?.map(({ ref }) => ref) ?? [],
    messages?.map(({ seq }) => String(seq)) ?? [],
  ])
  return new Map<string, StoredEvent>(rows.map(row => [keyOf(row), eventOf(row.conversation, row)]))
}

const keyOf = ({ conversation, ref }: { conversation: string; ref: string }): string => `${conversation}/${ref}`

/** A type, not an interface, so that a database row can be cast to it. */
type DocumentRow = {
  readonly conversation: string
  readonly ref: string
  readonly seq: number
  readonly tokens: string
  readonly born: string
  readonly born_seq: number
}

/** `tsquery` text. Neither tokens nor scopes contain quotes or backslashes. */
const queryOf = (scope: string, terms: readonly Term[]): string =>
  terms.map(({ token, prefix }) => `'${scope}${token}'${prefix ? ':*' : ''}`).join(' & ')

/** Clamps a number from an untrusted cursor to its column's range. */
const whole = (value: string | number | undefined, most: number): number =>
  Math.max(-most, Math.min(most, Math.trunc(Number(value ?? 0))))

// One plan suits every search, however large the tables become; planning again or JIT would take longer than the search.
const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; SET LOCAL plan_cache_mode = force_generic_plan;
  SET LOCAL enable_seqscan = off; SET LOCAL jit = off`

/** The newest documents that are compared one by one, before the index is asked for all that match. */
const NEWEST = 500

/**
 * GIN has no order and gives all matches. So the newest documents are compared first: they have enough matches of a
 * common word, and a rare word has few in the index.
 */
function newestOf(behind: string): string {
  const columns = 'conversation, ref, seq, tokens, born, born_seq'
  const order = 'ORDER BY born DESC, conversation DESC, born_seq DESC'
  return `WITH newest AS MATERIALIZED (
      SELECT ${columns} FROM (
        SELECT ${columns}, lexemes FROM ${SCHEMA}.search_documents WHERE tenant = $1 AND kind = $2 ${behind}
        ${order} LIMIT ${NEWEST}
      ) document WHERE ts_match_vq(lexemes, $3::tsquery) ${order} LIMIT $4
    )
    (SELECT * FROM newest WHERE (SELECT count(*) FROM newest) >= $4::bigint ${order})
    UNION ALL
    (SELECT ${columns} FROM (
      -- OFFSET keeps the planner from looking at all documents of the tenant instead.
      SELECT tenant, kind, ${columns} FROM ${SCHEMA}.search_documents WHERE lexemes @@ $3::tsquery OFFSET 0
    ) document WHERE tenant = $1 AND kind = $2 ${behind} AND (SELECT count(*) FROM newest) < $4::bigint
    ${order} LIMIT $4)`
}

const SQL = {
  newest: newestOf(''),
  newestAfter: newestOf('AND (born, conversation, born_seq) < ($5::float8::bigint, $6, $7::integer)'),
  sessions: `${SUMMARIES} WHERE tenant = $1 AND conversation = ANY ($2::text[])`,
  events: `SELECT conversation, place.ref, ${EVENT_COLUMNS} FROM (
      SELECT conversation, id AS ref, seq FROM ${SCHEMA}.tasks WHERE tenant = $1 AND id = ANY ($2::text[]) AND NOT removed
      UNION ALL
      SELECT * FROM unnest($3::text[], $4::text[], $5::integer[])
    ) place JOIN ${SCHEMA}.events USING (conversation, seq) WHERE tenant = $1`,
}
