import { INDEXED_TYPES } from '../../core/text/search-documents.ts'
import { tokensOf } from '../../core/text/search-tokens.ts'
import { SEARCH_KINDS } from '../../core/text/search.ts'
import { EVENT_COLUMNS, type EventRow, eventOf } from '../rows.ts'
import { sliceOf } from '../search.ts'
import type { SliceOutcome } from '../search-catch-up.ts'
import type { Database } from './connections.ts'
import { SCHEMA } from './schema.ts'
import { beginningsOf, INDEX_VERSION, scopeOf, spanSql, SPANS, unitSql, wordsOf } from './search-lexemes.ts'
import { RARE } from './search-newest.ts'
import { type Session, type Statement, storable } from './session.ts'

const MAX_COMMITS = 200
const MAX_EVENTS = 200

/** Our advisory lock number ("RUNI"): one process indexes at a time, so that each document ends up as in its log. */
const LOCK = 0x52_55_4e_49

/** Lock timeout of a slice while another process indexes, and of a search while the queue is locked. */
export const MAX_LOCK_MS = 500

/**
 * Documents written before ANALYZE runs: when caught up, or at the latest. Without fresh statistics the planner sorts
 * all documents.
 */
const ANALYZED_AFTER = { due: 1_000, overdue: 20_000 }

export const READY = {
  statement: {
    name: 'runsheet-search-ready',
    text: `SELECT version = $1 AND NOT EXISTS (SELECT FROM ${SCHEMA}.search_queue) AS ready FROM ${SCHEMA}.search_state`,
  },
  values: [INDEX_VERSION],
}
/** A type, not an interface, so that a database row can be cast to it. */
export type ReadyRow = { readonly ready: boolean }
export const isReady = ([row]: readonly ReadyRow[]): boolean => row?.ready ?? false

/** Indexes the queued commits slice by slice; any process can do it. */
export class PostgresIndexer {
  readonly #database: Database
  #written = 0

  constructor(database: Database) {
    this.#database = database
  }

  async slice(): Promise<SliceOutcome> {
    if (isReady(await this.#database.query<ReadyRow>(READY.statement, READY.values))) return 'done'
    const outcome = await this.#database.use(session => this.#index(session), { retries: false })
    if (this.#written >= (outcome === 'done' ? ANALYZED_AFTER.due : ANALYZED_AFTER.overdue)) {
      this.#written = 0
      await this.#database.query(SQL.analyze, [])
    }
    return outcome
  }

  async #index(session: Session): Promise<SliceOutcome> {
    // Plans outlive the growth of the tables, so none may be made for small tables.
    await session.query({ text: `BEGIN; SET LOCAL lock_timeout = ${MAX_LOCK_MS}; SET LOCAL enable_seqscan = off` })
    await session.query({ text: `SELECT pg_advisory_xact_lock(${LOCK})` })
    const [state] = await session.query<{ version: number }>({ text: `SELECT version FROM ${SCHEMA}.search_state` })
    const outcome = state?.version === INDEX_VERSION ? await this.#next(session) : await this.#restart(session)
    await session.query({ text: 'COMMIT' })
    return outcome
  }

  /**
   * Queues all logs again after a version change, because their tokens are stale. Blocks commits, so that none is
   * queued before its predecessors.
   */
  async #restart(session: Session): Promise<SliceOutcome> {
    await session.query({ text: SQL.restart.text })
    await session.query(SQL.putVersion, [INDEX_VERSION])
    return 'more'
  }

  async #next(session: Session): Promise<SliceOutcome> {
    const commits = await session.query<{ id: number }>(SQL.commits, [MAX_COMMITS])
    if (commits.length === 0) return 'done'
    const rows = await session.query<Queued>(SQL.events, [idsOf(commits), INDEXED_TYPES, MAX_EVENTS])
    const events = rows.map(row => ({
      conversation: `${row.tenant}/${row.conversation}`,
      row,
      event: eventOf(row.conversation, row),
    }))
    const { taken, writes } = sliceOf<string, (typeof events)[number]>(events)
    const titles = await this.#titles(session, events.slice(0, taken))
    const documents = writes.map(({ conversation, kind, ref, text, event, first: { row } }) => {
      const content = kind === 'conversation' ? (titles.get(conversation) ?? null) : text
      const tokens = content === null ? null : tokensOf(storable(content))
      const scope = scopeOf(row.tenant, kind)
      return {
        tenant: row.tenant,
        conversation: row.conversation,
        kind: SEARCH_KINDS.indexOf(kind),
        ref: storable(ref),
        born: row.dated ? Date.parse(row.timestamp) - DATED : row.id,
        born_seq: row.seq,
        seq: event.seq,
        tokens: tokens?.join(' ') ?? null,
        scope,
        words: wordsOf(scope, tokens ?? []),
        beginnings: beginningsOf(scope, tokens ?? []),
      }
    })
    if (documents.length > 0) await this.#put(session, documents)
    this.#written += documents.length
    const isPartial = taken < rows.length || rows.length === MAX_EVENTS
    const reached = isPartial ? rows[taken - 1] : undefined
    await session.query(SQL.dequeue, [idsOf(reached ? commits.filter(({ id }) => id < reached.id) : commits)])
    if (reached) await session.query(SQL.advance, [reached.id, reached.seq + 1])
    return isPartial || commits.length === MAX_COMMITS ? 'more' : 'done'
  }

  async #put(
    session: Session,
    documents: readonly (DocumentName & { readonly words: readonly string[] })[],
  ): Promise<void> {
    const changed = await session.query<DocumentName>(SQL.put, [JSON.stringify(documents)])
    const words = new Map(documents.map(document => [nameOf(document), document.words]))
    const counts = new Map<string, number>()
    for (const word of changed.flatMap(document => words.get(nameOf(document)) ?? [])) {
      counts.set(word, (counts.get(word) ?? 0) + 1)
    }
    if (counts.size > 0) await session.query(SQL.count, [[...counts.keys()], Array.from(counts.values(), String)])
  }

  async #titles(
    session: Session,
    events: readonly { conversation: string; row: Queued }[],
  ): Promise<ReadonlyMap<string, string | null>> {
    const refs = [...new Map(events.map(({ conversation, row }) => [conversation, row])).values()]
    const rows = await session.query<{ tenant: string; conversation: string; title: string | null }>(SQL.titles, [
      refs.map(({ tenant }) => tenant),
      refs.map(({ conversation }) => conversation),
    ])
    return new Map(rows.map(({ tenant, conversation, title }) => [`${tenant}/${conversation}`, title]))
  }
}

/** Types, not interfaces, so that database rows can be cast to them. */
type DocumentName = {
  readonly tenant: string
  readonly conversation: string
  readonly kind: number
  readonly ref: string
}
type Queued = EventRow & {
  readonly id: number
  readonly dated: boolean
  readonly tenant: string
  readonly conversation: string
}

const nameOf = ({ tenant, conversation, kind, ref }: DocumentName): string => `${tenant}/${conversation}/${kind}/${ref}`

/** Only the commits that were read: an earlier one may become visible after them. */
const idsOf = (commits: readonly { readonly id: number }[]): string[] => commits.map(({ id }) => String(id))

/** Shifts a timestamp in milliseconds below every queue number. */
const DATED = 2 ** 52

const SQL = {
  restart: {
    text: `DELETE FROM ${SCHEMA}.search_documents; DELETE FROM ${SCHEMA}.search_words; DELETE FROM ${SCHEMA}.search_queue;
      INSERT INTO ${SCHEMA}.search_queue (tenant, conversation, first, last, dated)
        SELECT tenant, conversation, 1, seq, true FROM ${SCHEMA}.conversations WHERE seq > 0
        ORDER BY created_at, conversation FOR UPDATE`,
  },
  putVersion: { text: `UPDATE ${SCHEMA}.search_state SET version = $1` },
  commits: {
    name: 'runsheet-search-commits',
    text: `SELECT id::float8 AS id FROM ${SCHEMA}.search_queue ORDER BY id LIMIT $1`,
  },
  events: {
    name: 'runsheet-search-events',
    text: `SELECT q.id::float8 AS id, q.dated, q.tenant, q.conversation, ${EVENT_COLUMNS}
      FROM ${SCHEMA}.search_queue q CROSS JOIN LATERAL (
        SELECT ${EVENT_COLUMNS} FROM ${SCHEMA}.events e
        WHERE e.tenant = q.tenant AND e.conversation = q.conversation AND e.seq BETWEEN q.first AND q.last
          AND e.type = ANY ($2) ORDER BY e.seq
      ) e WHERE q.id = ANY ($1::bigint[]) ORDER BY q.id, e.seq LIMIT $3`,
  },
  titles: {
    name: 'runsheet-search-titles',
    text: `SELECT tenant, conversation, title FROM ${SCHEMA}.conversations
      WHERE (tenant, conversation) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
  },
  // Does not count words that are already common.
  count: {
    name: 'runsheet-search-count',
    text: `INSERT INTO ${SCHEMA}.search_words AS word (lexeme, documents)
      SELECT lexeme, documents FROM unnest($1::text[], $2::integer[]) AS given (lexeme, documents)
      WHERE coalesce((SELECT w.documents FROM ${SCHEMA}.search_words w WHERE w.lexeme = given.lexeme), 0) < ${RARE}
      ON CONFLICT (lexeme) DO UPDATE SET documents = word.documents + excluded.documents`,
  },
  // A document keeps its place when its text changes.
  put: {
    name: 'runsheet-search-put',
    text: `WITH given AS (
        SELECT * FROM json_to_recordset($1::json) AS document (tenant text, conversation text, kind smallint, ref text,
          born bigint, born_seq integer, seq integer, tokens text, scope text, words text[], beginnings text[])
      ), gone AS (
        DELETE FROM ${SCHEMA}.search_documents d USING given g
        WHERE g.tokens IS NULL AND (d.tenant, d.conversation, d.kind, d.ref) = (g.tenant, g.conversation, g.kind, g.ref)
      )
      INSERT INTO ${SCHEMA}.search_documents (tenant, conversation, kind, ref, born, born_seq, seq, tokens, lexemes)
      SELECT tenant, conversation, kind, ref, born, born_seq, seq, tokens, array_to_tsvector(words || beginnings || ARRAY(
          SELECT ${spanSql('scope', 'level', unitSql('place'))} FROM generate_series(1, ${SPANS.levels}) level
        ))
      FROM given g CROSS JOIN LATERAL (
        SELECT coalesce((
          SELECT d.born FROM ${SCHEMA}.search_documents d
          WHERE (d.tenant, d.conversation, d.kind, d.ref) = (g.tenant, g.conversation, g.kind, g.ref)
        ), g.born) AS place
      ) place
      WHERE tokens IS NOT NULL
      ON CONFLICT (tenant, conversation, kind, ref)
        DO UPDATE SET seq = excluded.seq, tokens = excluded.tokens, lexemes = excluded.lexemes
        WHERE search_documents.tokens <> excluded.tokens
      RETURNING tenant, conversation, kind, ref`,
  },
  // Only warns if another user owns the tables.
  analyze: { text: `ANALYZE ${SCHEMA}.search_documents, ${SCHEMA}.search_words` },
  dequeue: {
    name: 'runsheet-search-dequeue',
    text: `DELETE FROM ${SCHEMA}.search_queue WHERE id = ANY ($1::bigint[])`,
  },
  advance: { name: 'runsheet-search-advance', text: `UPDATE ${SCHEMA}.search_queue SET first = $2 WHERE id = $1` },
} satisfies Record<string, Statement>
