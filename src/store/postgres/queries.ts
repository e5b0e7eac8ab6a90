import type { Task } from '../../domain/task.ts'
import type { Template } from '../../domain/template.ts'
import { decodeCursor, paged, type SortKey } from '../cursor.ts'
import { EVENT_COLUMNS, type EventRow, eventOf, type ReviewRecord, searchText, titleHolds } from '../rows.ts'
import type { ConversationSummary, Queries, Templates } from '../store.ts'
import type { Database } from './connections.ts'
import { NOW } from './leases.ts'

interface TaskRow {
  readonly id: string
  readonly position: number
  readonly number: number
  readonly created_at: string
  readonly body: string
}

/** Titles are compared here, by the rule of all stores: the case folding of a database depends on its locale. */
const TITLES_PER_READ = 1_000

// An unused filter is null. Unnamed statements, so that each is planned for its filters.
export function postgresQueries(database: Database, skewMs: () => number): Queries {
  return {
    conversations: async (tenant, page, title) => {
      const found: ConversationSummary[] = []
      let from = decodeCursor(page, ['string', 'string'])
      do {
        const rows = await conversationsAfter(tenant, from, title === undefined ? page.limit + 1 : TITLES_PER_READ)
        found.push(...rows.filter(row => title === undefined || titleHolds(row.title, title)))
        const last = rows.at(-1)
        from = title !== undefined && last ? [last.created_at, last.session_id] : undefined
      } while (from && found.length <= page.limit)
      return paged(
        found,
        page.limit,
        row => row,
        row => [row.created_at, row.session_id],
      )
    },
    conversation: async ref => {
      const [row] = await database.query<ConversationSummary>(
        {
          text: `SELECT conversation AS session_id, title, seq, created_at, updated_at FROM runsheet.conversations
            WHERE tenant = $1 AND conversation = $2 AND created_at IS NOT NULL`,
        },
        [ref.tenant, ref.conversation],
      )
      return row
    },
    tasks: async (ref, { turn, status }, page) => {
      const [position, number] = decodeCursor(page, ['number', 'number']) ?? []
      const rows = await database.query<TaskRow>(
        {
          text: `SELECT position, number, body FROM runsheet.tasks
            WHERE tenant = $1 AND conversation = $2 AND NOT removed AND ($3::text IS NULL OR turn = $3)
              AND ($4::text IS NULL OR status = $4) AND ($5::float8 IS NULL OR (position, number) > ($5, $6::float8))
            ORDER BY position, number LIMIT $7`,
        },
        [ref.tenant, ref.conversation, turn ?? null, status ?? null, position ?? null, number ?? null, page.limit + 1],
      )
      return paged(rows, page.limit, taskOf, row => [row.position, row.number])
    },
    review: async (tenant, reviewId) => {
      const [row] = await database.query<{ conversation: string; body: string }>(
        { text: 'SELECT conversation, body FROM runsheet.reviews WHERE tenant = $1 AND id = $2' },
        [tenant, reviewId],
      )
      return row && { tenant, conversation: row.conversation, record: JSON.parse(row.body) }
    },
    waiting: async (tenant, conversation, limit) => {
      const rows = await database.query<{ body: string }>(
        {
          text: `SELECT body FROM runsheet.reviews
            WHERE pending AND tenant = $2 AND (due_at IS NULL OR due_at > ${NOW}) AND ($3::text IS NULL OR conversation = $3)
            ORDER BY due_at NULLS LAST, id LIMIT $4`,
        },
        [skewMs(), tenant, conversation ?? null, limit],
      )
      return rows.map(({ body }) => (JSON.parse(body) as ReviewRecord).review)
    },
    search: async (tenant, text, page) => {
      const [created, id] = decodeCursor(page, ['string', 'string']) ?? []
      const rows = await database.query<TaskRow>(
        {
          text: `SELECT id, created_at, body FROM runsheet.tasks
            WHERE tenant = $1 AND NOT removed AND strpos(search, $2) > 0
              AND ($3::text IS NULL OR (created_at, id) < ($3, $4))
            ORDER BY created_at DESC, id DESC LIMIT $5`,
        },
        [tenant, searchText(text), created ?? null, id ?? null, page.limit + 1],
      )
      return paged(rows, page.limit, taskOf, row => [row.created_at, row.id])
    },
    events: async (ref, { types, task, last }) => {
      const rows = await database.query<EventRow>(
        {
          text: `SELECT ${EVENT_COLUMNS} FROM runsheet.events WHERE tenant = $1 AND conversation = $2
              AND ($3::text[] IS NULL OR type = ANY ($3)) AND ($4::text IS NULL OR task = $4)
            ORDER BY seq DESC LIMIT $5`,
        },
        [ref.tenant, ref.conversation, types ?? null, task ?? null, last ?? null],
      )
      return rows.toReversed().map(row => eventOf(ref.conversation, row))
    },
  }

  function conversationsAfter(tenant: string, from: SortKey = [], limit: number): Promise<ConversationSummary[]> {
    const [created, id] = from
    return database.query<ConversationSummary>(
      {
        text: `SELECT conversation AS session_id, title, seq, created_at, updated_at FROM runsheet.conversations
          WHERE tenant = $1 AND created_at IS NOT NULL AND ($2::text IS NULL OR (created_at, conversation) < ($2, $3))
          ORDER BY created_at DESC, conversation DESC LIMIT $4`,
      },
      [tenant, created ?? null, id ?? null, limit],
    )
  }
}

export function postgresTemplates(database: Database): Templates {
  return {
    get: async (tenant, name) => {
      const [row] = await database.query<{ body: string }>(
        { text: 'SELECT body FROM runsheet.templates WHERE tenant = $1 AND name = $2' },
        [tenant, name],
      )
      return row && templateOf(row)
    },
    list: async tenant => {
      const rows = await database.query<{ body: string }>(
        { text: 'SELECT body FROM runsheet.templates WHERE tenant = $1 ORDER BY name' },
        [tenant],
      )
      return rows.map(templateOf)
    },
    put: async (tenant, template) => {
      await database.write(
        {
          text: `INSERT INTO runsheet.templates (tenant, name, body) VALUES ($1, $2, $3)
            ON CONFLICT (tenant, name) DO UPDATE SET body = excluded.body`,
        },
        [tenant, template.name, JSON.stringify(template)],
      )
    },
    delete: async (tenant, name) => {
      const deleted = await database.write(
        { text: 'DELETE FROM runsheet.templates WHERE tenant = $1 AND name = $2 RETURNING 1' },
        [tenant, name],
      )
      return deleted.length > 0
    },
  }
}

const taskOf = (row: TaskRow): Task => JSON.parse(row.body)

const templateOf = (row: { readonly body: string }): Template => JSON.parse(row.body)
