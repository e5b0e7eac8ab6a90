import { hash } from 'node:crypto'
import { INDEXED_TYPES } from '../../core/text/search-documents.ts'
import { SEARCH_KINDS, SEARCH_VERSION, tokensOf, type SearchKind } from '../../core/text/search.ts'
import { EVENT_COLUMNS, eventOf, type EventRow } from '../rows.ts'
import { sliceOf } from '../search.ts'
import type { SliceOutcome } from '../search-catch-up.ts'
import { storable, type Connections, type Session } from './connections.ts'
import { SCHEMA } from './schema.ts'

/** Covers the tokens and the lexemes. Raise the first factor when the lexemes change. */
export const INDEX_VERSION = 2 * 1_000 + SEARCH_VERSION

const MAX_COMMITS = 200
const MAX_EVENTS = 200

/** Our advisory lock number ("RUNI"): one process indexes at a time, so that each document ends up as in its log. */
const LOCK = 0x52_55_4e_49

/** Lock timeout of a slice while another process indexes. */
const MAX_LOCK_MS = 500

/** Indexes the queued commits slice by slice; any process can do it. */
export class PostgresIndexer {
  readonly #database: Pick<Connections, 'use' | 'query'>

  constructor(database: Pick<Connections, 'use' | 'query'>) {
    this.#database = database
  }

  async slice(): Promise<SliceOutcome> {
    const [row] = await this.#database.query<{ ready: boolean }>(SQL.ready, [INDEX_VERSION])
    if (row?.ready) return 'done'
    return this.#database.use(session => this.#index(session), { retries: false })
  }

  async #index(session: Session): Promise<SliceOutcome> {
    // Plans outlive the growth of the tables, so none may be made for small tables.
    await session.query(`BEGIN; SET LOCAL lock_timeout = ${MAX_LOCK_MS}; SET LOCAL enable_seqscan = off`)
    await session.query(`SELECT pg_advisory_xact_lock(${LOCK})`)
    const [state] = await session.query<{ version: number }>(`SELECT version FROM ${SCHEMA}.search_state`)
    const outcome = state?.version === INDEX_VERSION ? await this.#next(session) : await this.#restart(session)
    await session.query('COMMIT')
    return outcome
  }

  /**
   * Queues all logs again after a version change, because their tokens are stale. Blocks commits, so that none is
   * queued before its predecessors.
   */
  async #restart(session: Session): Promise<SliceOutcome> {
    await session.query(SQL.restart)
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
    const titles = await this.#titles(session, rows.slice(0, taken))
    const documents = writes.map(({ conversation, kind, ref, text, event, first: { row } }) => {
      const content = kind === 'conversation' ? (titles.get(conversation) ?? null) : text
      const tokens = content === null ? null : tokensOf(storable(content))
      const scope = scopeOf(row.tenant, kind)
      return {
        tenant: row.tenant,
        conversation: row.conversation,
        kind: numberOf(kind),
        ref: storable(ref),
        born: Date.parse(row.timestamp),
        born_seq: row.seq,
        seq: event.seq,
        tokens: tokens?.join(' ') ?? null,
        words: Array.from(new Set(tokens), token => scope + token),
      }
    })
    if (documents.length > 0) await session.query(SQL.put, [JSON.stringify(documents)])
    const isPartial = taken < rows.length || rows.length === MAX_EVENTS
    const reached = isPartial ? rows[taken - 1] : undefined
    await session.query(SQL.dequeue, [idsOf(reached ? commits.filter(({ id }) => id < reached.id) : commits)])
    if (reached) await session.query(SQL.advance, [reached.id, reached.seq + 1])
    return isPartial || commits.length === MAX_COMMITS ? 'more' : 'done'
  }

  async #titles(session: Session, rows: readonly Queued[]): Promise<ReadonlyMap<string, string | null>> {
    const found = await session.query<{ tenant: string; conversation: string; title: string | null }>(SQL.titles, [
      rows.map(({ tenant }) => tenant),
      rows.map(({ conversation }) => conversation),
    ])
    return new Map(found.map(({ tenant, conversation, title }) => [`${tenant}/${conversation}`, title]))
  }
}

export const numberOf = (kind: SearchKind): number => SEARCH_KINDS.indexOf(kind)

/**
 * Prefix of the lexemes of a tenant's documents of one kind. Tenants may share a scope: it narrows a search but does
 * not isolate tenants.
 */
export const scopeOf = (tenant: string, kind: SearchKind): string =>
  hash('sha256', tenant, 'base64url').slice(0, 2) + kind.charAt(0)

/** A type, not an interface, so that a database row can be cast to it. */
type Queued = EventRow & { readonly id: number; readonly tenant: string; readonly conversation: string }

/** Only the commits that were read: an earlier one may become visible after them. */
const idsOf = (commits: readonly { readonly id: number }[]): string[] => commits.map(({ id }) => String(id))

const SQL = {
  ready: `SELECT version = $1 AND NOT EXISTS (SELECT FROM ${SCHEMA}.search_queue) AS ready FROM ${SCHEMA}.search_state`,
  restart: `DELETE FROM ${SCHEMA}.search_documents; DELETE FROM ${SCHEMA}.search_queue;
    INSERT INTO ${SCHEMA}.search_queue (tenant, conversation, first, last)
      SELECT tenant, conversation, 1, seq FROM ${SCHEMA}.conversations WHERE seq > 0
      ORDER BY created_at, conversation FOR UPDATE;
    UPDATE ${SCHEMA}.search_state SET version = ${INDEX_VERSION}`,
  commits: `SELECT id::float8 AS id FROM ${SCHEMA}.search_queue ORDER BY id LIMIT $1`,
  events: `SELECT q.id::float8 AS id, q.tenant, q.conversation, ${EVENT_COLUMNS}
    FROM ${SCHEMA}.search_queue q CROSS JOIN LATERAL (
      SELECT ${EVENT_COLUMNS} FROM ${SCHEMA}.events e
      WHERE e.tenant = q.tenant AND e.conversation = q.conversation AND e.seq BETWEEN q.first AND q.last
        AND e.type = ANY ($2) ORDER BY e.seq
    ) e WHERE q.id = ANY ($1::bigint[]) ORDER BY q.id, e.seq LIMIT $3`,
  titles: `SELECT tenant, conversation, title FROM ${SCHEMA}.conversations
    WHERE (tenant, conversation) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
  // A document keeps its place when its text changes.
  put: `WITH given AS (
      SELECT * FROM json_to_recordset($1::json) AS document (tenant text, conversation text, kind smallint, ref text,
        born bigint, born_seq integer, seq integer, tokens text, words text[])
    ), gone AS (
      DELETE FROM ${SCHEMA}.search_documents d USING given g
      WHERE g.tokens IS NULL AND (d.tenant, d.conversation, d.kind, d.ref) = (g.tenant, g.conversation, g.kind, g.ref)
    )
    INSERT INTO ${SCHEMA}.search_documents (tenant, conversation, kind, ref, born, born_seq, seq, tokens, lexemes)
    SELECT tenant, conversation, kind, ref, born, born_seq, seq, tokens, array_to_tsvector(words)
    FROM given WHERE tokens IS NOT NULL
    ON CONFLICT (tenant, conversation, kind, ref)
      DO UPDATE SET seq = excluded.seq, tokens = excluded.tokens, lexemes = excluded.lexemes
      WHERE search_documents.tokens <> excluded.tokens`,
  dequeue: `DELETE FROM ${SCHEMA}.search_queue WHERE id = ANY ($1::bigint[])`,
  advance: `UPDATE ${SCHEMA}.search_queue SET first = $2 WHERE id = $1`,
}
