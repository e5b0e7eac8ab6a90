import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite'
import type { EventType, StoredEvent } from '../../core/model/event.ts'
import { plusMs, type Instant } from '../../core/model/instant.ts'
import type { Template } from '../../core/model/template.ts'
import { CONVERSATION_ORDER, decodeCursor, fitting, paged } from '../cursor.ts'
import { Lru } from '../lru.ts'
import type { ReviewRecord } from '../rows.ts'
import {
  eventsOf,
  type Commit,
  type ConversationSummary,
  type LiveText,
  type Notices,
  type Queries,
  type Ref,
  type TakenNotice,
  type Templates,
} from '../store.ts'
import { EVENT_ROW, type ChainedRow, type SqliteLog } from './log.ts'
import { storedDamage } from './to-store-error.ts'
import { isTold } from '../../core/views/notice.ts'

type Row = Readonly<Record<string, SQLOutputValue>>

const EVERYTHING = -1
/** Preparing a statement takes longer than running it. */
const MAX_STATEMENTS = 100

/** Runs a query. Throws once the store is closed; converts failures to store errors. */
export type Read = <T>(work: () => T) => T

/** SQLite has no booleans. */
export type SummaryRow = Omit<ConversationSummary, 'pinned' | 'archived'> & {
  readonly pinned: number
  readonly archived: number
}

export function sqliteQueries(db: DatabaseSync, read: Read, log: SqliteLog, now: () => Instant): Queries {
  const statements = new Lru<StatementSync>(MAX_STATEMENTS)
  const prepared = (sql: string): StatementSync => {
    const statement = statements.get(sql) ?? db.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
  const all = <R extends Row>(sql: string, ...values: SQLInputValue[]): R[] =>
    read(() => prepared(sql).all(...values) as R[])
  return {
    conversations: async (tenant, page, list = 'active') => {
      const { kinds, keyOf } = CONVERSATION_ORDER[list === 'all' ? 'created' : 'active']
      const columns = list === 'all' ? ['created_at', 'conversation'] : ['pinned', 'active_at', 'conversation']
      const ofList = list === 'all' ? '' : `AND archived = ${list === 'archived' ? 1 : 0}`
      const from = decodeCursor(page, kinds)
      const behind = from ? `AND (${columns.join(', ')}) < (${from.map(() => '?').join(', ')})` : ''
      const rows = all<SummaryRow>(
        `${SUMMARIES} WHERE tenant = ? ${ofList} ${behind} ORDER BY ${columns.join(' DESC, ')} DESC LIMIT ?`,
        tenant,
        ...(from ?? []),
        page.limit + 1,
      )
      return paged(rows.map(summaryOf), page.limit, each => each, keyOf)
    },
    summaries: async (tenant, conversations) => {
      const sql = `${SUMMARIES} WHERE tenant = ? AND conversation IN (SELECT value FROM json_each(?))`
      return all<SummaryRow>(sql, tenant, JSON.stringify(conversations)).map(summaryOf)
    },
    conversation: async ref => {
      const [row] = all<SummaryRow>(`${SUMMARIES} WHERE tenant = ? AND conversation = ?`, ref.tenant, ref.conversation)
      return row && summaryOf(row)
    },
    review: async (tenant, reviewId) => {
      const [row] = all<Row>(`${REVIEWS} WHERE tenant = ? AND id = ?`, tenant, reviewId)
      return row && { tenant, conversation: String(row['conversation']), record: recordIn(row) }
    },
    waiting: async (tenant, conversation, page) => {
      const from = decodeCursor(page, ['string', 'string'])
      // Sizes first, so that no more drafts are read than are listed.
      const [index, ofOne] =
        conversation === undefined ? ['reviews_waiting', ''] : ['reviews_pending', 'AND conversation = ?']
      const rows = all<{ due: string; id: string; size: number }>(
        `SELECT ${DUE} AS due, id, octet_length(body) AS size FROM reviews INDEXED BY ${index} WHERE ${WAITING}
           ${ofOne} ${from ? `AND (${DUE}, id) > (?, ?)` : ''}
         ORDER BY ${DUE}, id LIMIT ?`,
        tenant,
        now(),
        ...(conversation === undefined ? [] : [conversation]),
        ...(from ?? []),
        page.limit + 1,
      )
      const fits = fitting(rows, ({ size }) => size)
      return paged(
        rows,
        Math.min(page.limit, fits),
        ({ id }) => recordOf(tenant, id).review,
        ({ due, id }) => [due, id],
      )
    },
    waitingCount: async (tenant, most) => {
      const sql = `SELECT count(*) AS count FROM (SELECT 1 FROM reviews WHERE ${WAITING} LIMIT ?)`
      return Number(all<Row>(sql, tenant, now(), most)[0]?.['count'])
    },
    events: async (ref, { types, task, last }) => {
      const where = [
        types ? `AND type IN (${types.map(() => '?').join(', ')})` : '',
        task === undefined ? '' : `AND ? IN (data ->> '$.task.id', data ->> '$.task_id')`,
      ]
      return events(ref, where.join(' '), types ?? [], task, last)
    },
  }

  function recordOf(tenant: string, review: string): ReviewRecord {
    const [row] = all<Row>(`${REVIEWS} WHERE tenant = ? AND id = ?`, tenant, review)
    return recordIn(row ?? {})
  }

  function events(
    ref: Ref,
    where: string,
    types: readonly EventType[],
    task: string | undefined,
    last: number = EVERYTHING,
  ): StoredEvent[] {
    const rows = all<ChainedRow>(
      `SELECT ${EVENT_ROW} FROM events AS e WHERE conversation_id = ${ID} ${where} ORDER BY seq DESC LIMIT ?`,
      ref.tenant,
      ref.conversation,
      ...types,
      ...(task === undefined ? [] : [task]),
      last,
    )
    return rows.toReversed().map(row => log.event(ref, row))
  }
}

const recordIn = (row: Row): ReviewRecord => parsed(row['body'], `the review ${String(row['id'])}`) as ReviewRecord

export function sqliteTemplates(db: DatabaseSync, read: Read, write: <T>(change: () => T) => Promise<T>): Templates {
  const templateOf = (row: Row): Template => parsed(row['body'], `the template ${String(row['name'])}`) as Template
  const put = (tenant: string, template: Template): unknown =>
    db
      .prepare('INSERT OR REPLACE INTO templates (tenant, name, body) VALUES (?, ?, ?)')
      .run(tenant, template.name, JSON.stringify(template))
  const find = (tenant: string, name: string): Row | undefined =>
    db.prepare(`${TEMPLATES} WHERE tenant = ? AND name = ?`).get(tenant, name)
  const remove = (tenant: string, name: string): boolean =>
    db.prepare('DELETE FROM templates WHERE tenant = ? AND name = ?').run(tenant, name).changes > 0
  return {
    get: async (tenant, name) => {
      const row = read(() => find(tenant, name))
      return row && templateOf(row)
    },
    list: async tenant =>
      read(() => db.prepare(`${TEMPLATES} WHERE tenant = ? ORDER BY name`).all(tenant)).map(templateOf),
    put: async (tenant, template) => void (await write(() => put(tenant, template))),
    rename: async (tenant, name, to) =>
      write(() => {
        const row = find(tenant, name)
        if (!row) return 'unknown'
        if (find(tenant, to)) return 'taken'
        put(tenant, { ...templateOf(row), name: to })
        remove(tenant, name)
        return 'renamed'
      }),
    delete: async (tenant, name) => write(() => remove(tenant, name)),
  }
}

export const summaryOf = (row: SummaryRow): ConversationSummary => ({
  ...row,
  pinned: row.pinned === 1,
  archived: row.archived === 1,
})

/** A row beside the log has no checksum, but damage must not look like a fault of ours. */
function parsed(text: SQLOutputValue | undefined, which: string): unknown {
  try {
    return JSON.parse(String(text))
  } catch {
    throw storedDamage(`${which} cannot be read`)
  }
}

export const refOf = (row: Row): Ref => ({
  tenant: String(row['tenant']),
  conversation: String(row['conversation']),
})

const REVIEWS = 'SELECT id, conversation, body FROM reviews'
const TEMPLATES = 'SELECT name, body FROM templates'

export const SUMMARIES = `SELECT conversation AS session_id, title, created_at, active_at, pinned, archived, mark,
    (SELECT max(seq) FROM events WHERE conversation_id = conversations.id) AS seq,
    (SELECT timestamp FROM events WHERE conversation_id = conversations.id ORDER BY seq DESC LIMIT 1) AS updated_at
  FROM conversations`

/** The expression of the index; reviews without a deadline sort last. */
const DUE = `coalesce(due_at, '~')`
const WAITING = `pending = 1 AND tenant = ? AND ${DUE} > ?`

const ID = '(SELECT id FROM conversations WHERE tenant = ? AND conversation = ?)'

/** Live text. */
export function sqliteLive(
  db: DatabaseSync,
  read: Read,
  write: (change: () => unknown) => Promise<unknown>,
  onWrite: (ref: Ref) => void,
): LiveText {
  const put = db.prepare(
    'INSERT OR REPLACE INTO live (tenant, conversation, turn_id, message_id, text) VALUES (?, ?, ?, ?, ?)',
  )
  const get = db.prepare('SELECT turn_id, message_id, text FROM live WHERE tenant = ? AND conversation = ?')
  const remove = db.prepare('DELETE FROM live WHERE tenant = ? AND conversation = ?')
  return {
    write: async (ref, { turn_id, message_id, text }) => {
      await write(() => put.run(ref.tenant, ref.conversation, turn_id, message_id, text))
      onWrite(ref)
    },
    read: async ref => {
      const row = read(() => get.get(ref.tenant, ref.conversation))
      return (
        row && {
          turn_id: String(row['turn_id']),
          message_id: String(row['message_id']),
          text: String(row['text']),
        }
      )
    },
    clear: async ref => {
      await write(() => remove.run(ref.tenant, ref.conversation))
    },
  }
}

/** `add` is part of the transaction that commits the events. */
export interface SqliteNotices extends Notices {
  add(ref: Ref, commits: readonly Commit[]): void
}

export function sqliteNotices(
  db: DatabaseSync,
  read: Read,
  write: <T>(change: () => T) => Promise<T>,
  now: () => Instant,
): SqliteNotices {
  const sql = statements(db)
  return {
    add: ({ tenant, conversation }, commits) => {
      const told = eventsOf(commits).filter(isTold)
      if (told[0] === undefined || !sql.wanted.get(tenant, told[0].timestamp)) return
      for (const { seq } of told) sql.add.run(tenant, conversation, seq)
    },
    want: (tenant, forMs) => write(() => void sql.want.run(tenant, plusMs(now(), forMs))),
    take: (tenant, limit, forMs) =>
      write(() => {
        const due = sql.due.all(tenant, now(), limit)
        const until = plusMs(now(), forMs)
        return due.map((row): TakenNotice => {
          const taken = {
            tenant,
            conversation: String(row['conversation']),
            seq: Number(row['seq']),
            tries: Number(row['tries']) + 1,
          }
          sql.put.run(until, taken.tries, tenant, taken.conversation, taken.seq, taken.tries - 1)
          return taken
        })
      }),
    settle: ({ tenant, conversation, seq, tries }, retryInMs) =>
      write(() => {
        const { changes } =
          retryInMs === undefined
            ? sql.remove.run(tenant, conversation, seq, tries)
            : sql.put.run(plusMs(now(), retryInMs), tries, tenant, conversation, seq, tries)
        return changes > 0
      }),
    waiting: async tenant =>
      read(() => {
        const row = sql.waiting.get(tenant)
        const due = row?.['due_at']
        const count = Number(row?.['count'])
        if (typeof due !== 'string') return { count }
        return { count, dueInMs: due === '' ? 0 : Math.max(0, Date.parse(due) - Date.parse(now())) }
      }),
  }
}

function statements(db: DatabaseSync) {
  const one = 'tenant = ? AND conversation = ? AND seq = ? AND tries = ?'
  return {
    add: db.prepare('INSERT OR IGNORE INTO notices (tenant, conversation, seq) VALUES (?, ?, ?)'),
    wanted: db.prepare('SELECT 1 FROM notices_wanted WHERE tenant = ? AND until > ?'),
    want: db.prepare('INSERT OR REPLACE INTO notices_wanted (tenant, until) VALUES (?, ?)'),
    due: db.prepare(
      'SELECT conversation, seq, tries FROM notices WHERE tenant = ? AND due_at <= ? ORDER BY due_at LIMIT ?',
    ),
    put: db.prepare(`UPDATE notices SET due_at = ?, tries = ? WHERE ${one}`),
    remove: db.prepare(`DELETE FROM notices WHERE ${one}`),
    waiting: db.prepare('SELECT count(*) AS count, min(due_at) AS due_at FROM notices WHERE tenant = ?'),
  }
}
