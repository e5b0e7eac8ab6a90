import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { EventType, StoredEvent } from '../../domain/event.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Task } from '../../domain/task.ts'
import type { Template } from '../../domain/template.ts'
import { decodeCursor, paged } from '../cursor.ts'
import { EVENT_COLUMNS, type EventRow, eventOf, type ReviewRecord, searchText } from '../rows.ts'
import type { ConversationSummary, Queries, Ref, Templates } from '../store.ts'

type Row = Readonly<Record<string, string | number>>

const EVERYTHING = -1

/** Runs a look at the database: refused once it is closed, and with failures in words for anybody. */
export type Read = <T>(work: () => T) => T

export function sqliteQueries(db: DatabaseSync, read: Read, now: () => Instant): Queries {
  const all = <R>(sql: string, ...values: SQLInputValue[]): R[] =>
    read(() => db.prepare(sql).all(...values) as unknown as R[])
  return {
    conversations: async (tenant, page) => {
      const from = decodeCursor(page, ['string', 'string'])
      const behind = from ? 'AND (created_at, conversation) < (?, ?)' : ''
      const rows = all<ConversationSummary>(
        `SELECT conversation AS session_id, title, seq, created_at, updated_at FROM conversations
         WHERE tenant = ? ${behind} ORDER BY created_at DESC, conversation DESC LIMIT ?`,
        tenant,
        ...(from ?? []),
        page.limit + 1,
      )
      return paged(
        rows,
        page.limit,
        row => ({ ...row }),
        row => [row.created_at, row.session_id],
      )
    },
    conversation: async ref => {
      const [row] = all<ConversationSummary>(
        `SELECT conversation AS session_id, title, seq, created_at, updated_at FROM conversations
         WHERE tenant = ? AND conversation = ?`,
        ref.tenant,
        ref.conversation,
      )
      return row && { ...row }
    },
    tasks: async (ref, { turn, status }, page) => {
      const from = decodeCursor(page, ['number', 'number'])
      const where = [
        turn === undefined ? '' : 'AND turn = ?',
        status === undefined ? '' : 'AND status = ?',
        from ? 'AND (position, number) > (?, ?)' : '',
      ]
      const values = [turn, status].filter(value => value !== undefined)
      const rows = all<Row>(
        `SELECT position, number, body FROM tasks WHERE tenant = ? AND conversation = ? AND removed = 0 ${where.join(' ')}
         ORDER BY position, number LIMIT ?`,
        ref.tenant,
        ref.conversation,
        ...values,
        ...(from ?? []),
        page.limit + 1,
      )
      return paged(rows, page.limit, taskOf, row => [Number(row['position']), Number(row['number'])])
    },
    review: async (tenant, reviewId) => {
      const [row] = all<Row>('SELECT conversation, body FROM reviews WHERE tenant = ? AND id = ?', tenant, reviewId)
      return row && { tenant, conversation: String(row['conversation']), record: JSON.parse(String(row['body'])) }
    },
    waiting: async (tenant, conversation, limit) => {
      const rows = all<Row>(
        `SELECT body FROM reviews WHERE tenant = ? AND due_at > ? ${conversation === undefined ? '' : 'AND conversation = ?'}
         ORDER BY due_at, id LIMIT ?`,
        tenant,
        now(),
        ...(conversation === undefined ? [] : [conversation]),
        limit,
      )
      return rows.map(row => (JSON.parse(String(row['body'])) as ReviewRecord).review)
    },
    search: async (tenant, text, page) => {
      const from = decodeCursor(page, ['string', 'string'])
      const rows = all<Row>(
        `SELECT id, created_at, body FROM tasks WHERE tenant = ? AND removed = 0 AND instr(search, ?) > 0
         ${from ? 'AND (created_at, id) < (?, ?)' : ''} ORDER BY created_at DESC, id DESC LIMIT ?`,
        tenant,
        searchText(text),
        ...(from ?? []),
        page.limit + 1,
      )
      return paged(rows, page.limit, taskOf, row => [String(row['created_at']), String(row['id'])])
    },
    events: async (ref, { types, task, last }) => {
      const where = [
        types ? `AND type IN (${types.map(() => '?').join(', ')})` : '',
        task === undefined ? '' : `AND ? IN (data ->> '$.task.id', data ->> '$.task_id')`,
      ]
      return events(ref, where.join(' '), types ?? [], task, last)
    },
  }

  function events(
    ref: Ref,
    where: string,
    types: readonly EventType[],
    task: string | undefined,
    last: number = EVERYTHING,
  ): StoredEvent[] {
    const rows = all<EventRow>(
      `SELECT ${EVENT_COLUMNS} FROM events WHERE tenant = ? AND conversation = ? ${where} ORDER BY seq DESC LIMIT ?`,
      ref.tenant,
      ref.conversation,
      ...types,
      ...(task === undefined ? [] : [task]),
      last,
    )
    return rows.toReversed().map(row => eventOf(ref.conversation, row))
  }
}

export function sqliteTemplates(db: DatabaseSync, read: Read, write: <T>(change: () => T) => Promise<T>): Templates {
  return {
    get: async (tenant, name) => {
      const sql = 'SELECT body FROM templates WHERE tenant = ? AND name = ?'
      const row = read(() => db.prepare(sql).get(tenant, name))
      return row && templateOf(row)
    },
    list: async tenant => {
      const sql = 'SELECT body FROM templates WHERE tenant = ? ORDER BY name'
      return read(() => db.prepare(sql).all(tenant)).map(templateOf)
    },
    put: async (tenant, template) => {
      const sql = 'INSERT OR REPLACE INTO templates (tenant, name, body) VALUES (?, ?, ?)'
      await write(() => db.prepare(sql).run(tenant, template.name, JSON.stringify(template)))
    },
    delete: async (tenant, name) => {
      const sql = 'DELETE FROM templates WHERE tenant = ? AND name = ?'
      return (await write(() => db.prepare(sql).run(tenant, name))).changes > 0
    },
  }
}

const taskOf = (row: Row): Task => JSON.parse(String(row['body'])) as Task

const templateOf = (row: { readonly [column: string]: unknown }): Template =>
  JSON.parse(String(row['body'])) as Template
