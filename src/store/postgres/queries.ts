import type { Template } from '../../core/model/template.ts'
import { CONVERSATION_ORDER, decodeCursor, fitting, paged } from '../cursor.ts'
import { EVENT_COLUMNS, type EventRow, eventOf, type ReviewRecord } from '../rows.ts'
import type { ConversationSummary, Queries, Templates } from '../store.ts'
import type { Connections } from './connections.ts'
import { NOW } from './leases.ts'
import { SCHEMA } from './schema.ts'
import { isDuplicate } from './to-store-error.ts'

/** For statements whose unused filters are null: each is planned for its filters. */
const FILTERED = { isPrepared: false }

export function postgresQueries(database: Connections, skewMs: () => number): Queries {
  return {
    conversations: async (tenant, page, list = 'active') => {
      const { kinds, keyOf } = CONVERSATION_ORDER[list === 'all' ? 'created' : 'active']
      const from = decodeCursor(page, kinds)
      const values = [tenant, page.limit + 1, ...(list === 'all' ? [] : [list === 'archived'])]
      const after = from ?? kinds.map(() => null)
      const text = list === 'all' ? SQL.created : SQL.active
      const rows = await database.query<ConversationSummary>(text, [...values, ...after], FILTERED)
      return paged(rows, page.limit, row => row, keyOf)
    },
    summaries: (tenant, conversations) =>
      database.query<ConversationSummary>(
        `${SUMMARIES} WHERE tenant = $1 AND conversation = ANY ($2::text[]) AND created_at IS NOT NULL`,
        [tenant, conversations],
      ),
    conversation: async ref => {
      const [row] = await database.query<ConversationSummary>(
        `${SUMMARIES} WHERE tenant = $1 AND conversation = $2 AND created_at IS NOT NULL`,
        [ref.tenant, ref.conversation],
      )
      return row
    },
    review: async (tenant, reviewId) => {
      const [row] = await database.query<{ conversation: string; body: string }>(
        `SELECT conversation, body FROM ${SCHEMA}.reviews WHERE tenant = $1 AND id = $2`,
        [tenant, reviewId],
      )
      return row && { tenant, conversation: row.conversation, record: JSON.parse(row.body) }
    },
    waiting: async (tenant, conversation, page) => {
      const [due, id] = decodeCursor(page, ['string', 'string']) ?? []
      // Sizes first, so that no more drafts are read than are listed.
      const rows = await database.query<{ due: number; id: string; size: number }>(
        `SELECT coalesce(extract(epoch FROM due_at) * 1000, ${NEVER})::float8 AS due, id, octet_length(body) AS size
            FROM ${SCHEMA}.reviews WHERE ${WAITING} AND ($3::text IS NULL OR conversation = $3)
              AND ($4::float8 IS NULL OR (${DUE}, id) > (${fromMs('$4')}, $5))
            ORDER BY ${DUE}, id LIMIT $6`,
        [skewMs(), tenant, conversation ?? null, due === undefined ? null : Number(due), id ?? null, page.limit + 1],
        FILTERED,
      )
      const fits = fitting(rows, ({ size }) => size)
      const listed = rows.slice(0, Math.min(page.limit, fits))
      const bodies = await database.query<{ id: string; body: string }>(
        `SELECT id, body FROM ${SCHEMA}.reviews WHERE tenant = $1 AND id = ANY ($2::text[])`,
        [tenant, listed.map(row => row.id)],
      )
      const records = new Map(bodies.map(row => [row.id, JSON.parse(row.body) as ReviewRecord]))
      const { items, next_cursor } = paged(
        rows,
        listed.length,
        row => records.get(row.id)?.review,
        row => [String(row.due), row.id],
      )
      // Some may have been decided between the two reads.
      return { items: items.flatMap(review => (review?.status === 'pending' ? [review] : [])), next_cursor }
    },
    waitingCount: async (tenant, most) => {
      const [row] = await database.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM (SELECT FROM ${SCHEMA}.reviews WHERE ${WAITING} LIMIT $3) AS waiting`,
        [skewMs(), tenant, most],
      )
      return row?.count ?? 0
    },
    events: async (ref, { types, task, last }) => {
      const rows = await database.query<EventRow>(
        `SELECT ${EVENT_COLUMNS} FROM ${SCHEMA}.events WHERE tenant = $1 AND conversation = $2
              AND ($3::text[] IS NULL OR type = ANY ($3)) AND ($4::text IS NULL OR task = $4)
            ORDER BY seq DESC LIMIT $5`,
        [ref.tenant, ref.conversation, types ?? null, task ?? null, last ?? null],
        FILTERED,
      )
      return rows.toReversed().map(row => eventOf(ref.conversation, row))
    },
  }
}

export function postgresTemplates(database: Connections): Templates {
  return {
    get: async (tenant, name) => {
      const [row] = await database.query<{ body: string }>(
        `SELECT body FROM ${SCHEMA}.templates WHERE tenant = $1 AND name = $2`,
        [tenant, name],
      )
      return row && templateOf(row)
    },
    list: async tenant => {
      const rows = await database.query<{ body: string }>(
        `SELECT body FROM ${SCHEMA}.templates WHERE tenant = $1 ORDER BY name`,
        [tenant],
      )
      return rows.map(templateOf)
    },
    put: async (tenant, template) => {
      await database.write(
        `INSERT INTO ${SCHEMA}.templates (tenant, name, body) VALUES ($1, $2, $3)
            ON CONFLICT (tenant, name) DO UPDATE SET body = excluded.body`,
        [tenant, template.name, JSON.stringify(template)],
      )
    },
    rename: async (tenant, name, to) => {
      const text = `UPDATE ${SCHEMA}.templates
        SET name = $3, body = jsonb_set(body::jsonb, '{name}', to_jsonb($3::text))::text
        WHERE tenant = $1 AND name = $2 RETURNING 1`
      try {
        const renamed = await database.write(text, [tenant, name, to])
        return renamed.length > 0 ? 'renamed' : 'unknown'
      } catch (error) {
        if (isDuplicate(error)) return 'taken'
        throw error
      }
    },
    delete: async (tenant, name) => {
      const deleted = await database.write(
        `DELETE FROM ${SCHEMA}.templates WHERE tenant = $1 AND name = $2 RETURNING 1`,
        [tenant, name],
      )
      return deleted.length > 0
    },
  }
}

export const SUMMARIES = `SELECT conversation AS session_id, title, seq, created_at, updated_at, active_at, pinned, archived, mark
  FROM ${SCHEMA}.conversations`

const SQL = {
  created: `${SUMMARIES} WHERE tenant = $1 AND created_at IS NOT NULL AND ($3::text IS NULL OR (created_at, conversation) < ($3, $4))
      ORDER BY created_at DESC, conversation DESC LIMIT $2`,
  // A cursor stores the pin as a number, as in the other stores.
  active: `${SUMMARIES} WHERE tenant = $1 AND archived = $3::boolean AND created_at IS NOT NULL
        AND ($4::float8 IS NULL OR (pinned, active_at, conversation) < ($4::float8 = 1, $5, $6))
      ORDER BY pinned DESC, active_at DESC, conversation DESC LIMIT $2`,
}

/** The expression of the index; reviews without a deadline sort last. */
const DUE = `coalesce(due_at, timestamptz 'infinity')`
const WAITING = `pending AND tenant = $2 AND ${DUE} > ${NOW}`
/** Milliseconds, for cursors. */
const NEVER = 8_000_000_000_000_000
const fromMs = (parameter: string): string =>
  `CASE WHEN ${parameter} >= ${NEVER} THEN timestamptz 'infinity' ELSE to_timestamp(greatest(${parameter}, 0) / 1000) END`

const templateOf = (row: { readonly body: string }): Template => JSON.parse(row.body)
