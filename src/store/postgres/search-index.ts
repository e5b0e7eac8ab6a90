import { SEARCH_KINDS, type SearchKind, type Term } from '../../domain/search.ts'
import type { Task } from '../../domain/task.ts'
import { EVENT_COLUMNS, type EventRow, eventOf } from '../rows.ts'
import { type IndexedDocument, searchIn, type SearchIndex } from '../search.ts'
import { CatchUp } from '../search-catch-up.ts'
import type { ConversationSummary, Search } from '../store.ts'
import type { Database } from './connections.ts'
import { lexemeOf, PostgresIndexer, scopeOf } from './search-indexer.ts'

/** The search in a database; `indexing` follows the queue. */
export function postgresSearch(database: Database): { search: Search; indexing: CatchUp } {
  const indexer = new PostgresIndexer(database)
  const indexing = new CatchUp(() => indexer.slice())
  return { search: searchIn(indexIn(database, () => indexing.finish())), indexing }
}

// Unnamed statements, so that each is planned for its terms.
function indexIn(database: Database, catchUp: () => Promise<boolean>): SearchIndex {
  return {
    places: ['number', 'string', 'number'],
    catchUp,
    newest: async (tenant, kind, terms, limit, [born, conversation, bornSeq] = []) => {
      const after = born === undefined ? [] : [whole(born, 2 ** 53), conversation ?? '', whole(bornSeq, 2 ** 31 - 1)]
      const rows = await database.query<DocumentRow>(
        {
          text: newestSql(
            after.length > 0 ? 'AND (d.born, d.conversation, d.born_seq) < ($5::float8::bigint, $6, $7)' : '',
          ),
        },
        [tenant, SEARCH_KINDS.indexOf(kind), queryOf(tenant, kind, terms), limit, ...after],
      )
      return rows.map(({ at, born_seq, ...row }) => ({ ...row, kind, place: [at, row.conversation, born_seq] }))
    },
    load: async (tenant, documents) => {
      const [sessions, tasks, events] = await Promise.all([
        sessionsOf(tenant, documents),
        tasksOf(
          tenant,
          documents.filter(({ kind }) => kind === 'task'),
        ),
        eventsOf(
          tenant,
          documents.filter(({ kind }) => kind === 'message'),
        ),
      ])
      return documents.map(({ kind, conversation, ref, seq }) => {
        const session = sessions.get(conversation)
        const task = tasks.get(ref)
        const event = events.get(`${conversation}/${seq}`)
        if (!session || (kind === 'task' && !task) || (kind === 'message' && !event)) return undefined
        return { session, ...(kind === 'task' ? { task } : {}), ...(kind === 'message' ? { event } : {}) }
      })
    },
  }

  async function sessionsOf(tenant: string, documents: readonly IndexedDocument[]) {
    const rows = await database.query<ConversationSummary>(
      {
        text: `SELECT conversation AS session_id, title, seq, created_at, updated_at FROM runsheet.conversations
          WHERE tenant = $1 AND conversation = ANY ($2::text[])`,
      },
      [tenant, [...new Set(documents.map(({ conversation }) => conversation))]],
    )
    return new Map(rows.map(row => [row.session_id, row]))
  }

  async function tasksOf(tenant: string, documents: readonly IndexedDocument[]) {
    const ids = documents.map(({ ref }) => ref)
    if (ids.length === 0) return new Map<string, Task>()
    const rows = await database.query<{ body: string }>(
      { text: 'SELECT body FROM runsheet.tasks WHERE tenant = $1 AND id = ANY ($2::text[]) AND NOT removed' },
      [tenant, ids],
    )
    return new Map(rows.map(({ body }) => JSON.parse(body) as Task).map(task => [task.id, task]))
  }

  async function eventsOf(tenant: string, documents: readonly IndexedDocument[]) {
    if (documents.length === 0) return new Map<string, never>()
    const rows = await database.query<EventRow & { conversation: string }>(
      {
        text: `SELECT conversation, ${EVENT_COLUMNS} FROM runsheet.events
          JOIN unnest($2::text[], $3::integer[]) AS message (conversation, seq) USING (conversation, seq)
          WHERE tenant = $1`,
      },
      [tenant, documents.map(({ conversation }) => conversation), documents.map(({ seq }) => String(seq))],
    )
    return new Map(rows.map(row => [`${row.conversation}/${row.seq}`, eventOf(row.conversation, row)]))
  }
}

interface DocumentRow {
  readonly conversation: string
  readonly ref: string
  readonly seq: number
  readonly tokens: string
  /** Its `born` as a number. */
  readonly at: number
  readonly born_seq: number
}

/** A number of a cursor, which may be anything, as one that fits its column. */
const whole = (value: string | number | undefined, most: number): number =>
  Math.max(-most, Math.min(most, Math.trunc(Number(value ?? 0))))

/**
 * A sample of the newest documents tells how common the words are. If enough of them match, or there are no others, the
 * newest matches are read in order, up to so many documents. Otherwise the GIN index is faster, which has no order and gives
 * all matches.
 */
const SAMPLE = { documents: 1_000, enough: 7 }
const MAX_LOOKED_AT = 16_000

const newestSql = (after: string): string => {
  const ofKind = `FROM runsheet.search_documents d WHERE tenant = $1 AND kind = $2 ${after}
      ORDER BY d.born DESC, d.conversation DESC, d.born_seq DESC`
  const columns = 'conversation, ref, seq, tokens, born, born_seq'
  return `
  WITH sample AS MATERIALIZED (
    SELECT count(*) < ${SAMPLE.documents} AS is_all, count(*) FILTER (WHERE lexemes @@ $3::tsquery) AS hits
    FROM (SELECT lexemes ${ofKind} LIMIT ${SAMPLE.documents}) d
  ), recent AS MATERIALIZED (
    SELECT ${columns} FROM (
      SELECT ${columns}, lexemes ${ofKind}
      LIMIT (SELECT CASE WHEN is_all OR hits >= ${SAMPLE.enough} THEN ${MAX_LOOKED_AT} ELSE 0 END FROM sample)
    ) d WHERE lexemes @@ $3::tsquery LIMIT $4
  ), enough AS MATERIALIZED (
    SELECT is_all OR (SELECT count(*) FROM recent) >= $4 AS enough FROM sample
  )
  SELECT conversation, ref, seq, tokens, born::float8 AS at, born_seq FROM (
    SELECT ${columns} FROM recent WHERE (SELECT enough FROM enough)
    UNION ALL
    -- OFFSET keeps the planner from reading these in order as well.
    SELECT ${columns} FROM (
      SELECT tenant, kind, ${columns} FROM runsheet.search_documents
      WHERE NOT (SELECT enough FROM enough) AND lexemes @@ $3::tsquery OFFSET 0
    ) d WHERE tenant = $1 AND kind = $2 ${after}
  ) found ORDER BY born DESC, conversation DESC, born_seq DESC LIMIT $4`
}

/** Tokens hold neither quotes nor backslashes, and ids neither. */
function queryOf(tenant: string, kind: SearchKind, terms: readonly Term[]): string {
  const words = terms.map(({ token, prefix }) => `'${lexemeOf(kind, token)}'${prefix ? ':*' : ''}`)
  return [`'${scopeOf(tenant)}'`, ...words].join(' & ')
}
