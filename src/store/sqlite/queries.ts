import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite'
import type { EventType, StoredEvent } from '../../domain/event.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Template } from '../../domain/template.ts'
import { CONVERSATION_ORDER, decodeCursor, fitting, paged } from '../cursor.ts'
import type { Checksums } from '../checksum.ts'
import type { ReviewRecord } from '../rows.ts'
import type { Queries, Ref, Templates } from '../store.ts'
import { damagedRow, type SqliteLog, type SummaryRow, type SummedRow } from './log.ts'
import { SUMMED_COLUMNS } from './log-sql.ts'

type Row = Readonly<Record<string, SQLOutputValue>>

const EVERYTHING = -1

/** Runs a query. Throws once the store is closed; converts failures to store errors. */
export type Read = <T>(work: () => T) => T

export function sqliteQueries(
  db: DatabaseSync,
  read: Read,
  log: SqliteLog,
  sums: Checksums,
  now: () => Instant,
): Queries {
  const all = <R extends Row>(sql: string, ...values: SQLInputValue[]): R[] =>
    read(() => db.prepare(sql).all(...values) as R[])
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
      const summaries = rows.map(row => log.summary(row))
      return paged(summaries, page.limit, each => each, keyOf)
    },
    summaries: async (tenant, conversations) => {
      const sql = `${SUMMARIES} WHERE tenant = ? AND conversation IN (SELECT value FROM json_each(?))`
      return all<SummaryRow>(sql, tenant, JSON.stringify(conversations)).map(row => log.summary(row))
    },
    conversation: async ref => {
      const [row] = all<SummaryRow>(`${SUMMARIES} WHERE tenant = ? AND conversation = ?`, ref.tenant, ref.conversation)
      if (!row) read(() => log.checkUnknown(ref))
      return row && log.summary(row)
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
    const rows = all<SummedRow>(
      `SELECT ${SUMMED_COLUMNS} FROM events WHERE conversation_id = ${ID} ${where} ORDER BY seq DESC LIMIT ?`,
      ref.tenant,
      ref.conversation,
      ...types,
      ...(task === undefined ? [] : [task]),
      last,
    )
    return rows.toReversed().map(row => log.event(ref, row))
  }

  function recordIn(row: Row): ReviewRecord {
    if (!sums.holds('review', row)) throw damagedRow(`the review ${String(row['id'])}`)
    return JSON.parse(String(row['body'])) as ReviewRecord
  }
}

/** `onChange` gets, within the transaction, the total number of template writes. */
export function sqliteTemplates(
  db: DatabaseSync,
  sums: Checksums,
  read: Read,
  write: <T>(change: () => T) => Promise<T>,
  onChange: (count: number) => void,
): Templates {
  const templateOf = (row: Row): Template => {
    if (!sums.holds('template', row)) throw damagedRow(`the template ${String(row['name'])}`)
    return JSON.parse(String(row['body'])) as Template
  }
  const count = (): void => {
    const row = db.prepare('UPDATE identity SET templates = templates + 1 RETURNING templates').get()
    onChange(Number(row?.['templates']))
  }
  const put = (tenant: string, template: Template): void => {
    const sql = 'INSERT OR REPLACE INTO templates (tenant, name, body, sum) VALUES (?, ?, ?, ?)'
    const values = [tenant, template.name, JSON.stringify(template)] as const
    db.prepare(sql).run(...values, sums.of('template', ...values))
  }
  return {
    get: async (tenant, name) => {
      const row = read(() => db.prepare(`${TEMPLATES} WHERE tenant = ? AND name = ?`).get(tenant, name))
      return row && templateOf(row)
    },
    list: async tenant => {
      return read(() => db.prepare(`${TEMPLATES} WHERE tenant = ? ORDER BY name`).all(tenant)).map(templateOf)
    },
    put: async (tenant, template) => {
      await write(() => {
        put(tenant, template)
        count()
      })
    },
    rename: async (tenant, name, to) =>
      write(() => {
        const find = db.prepare(`${TEMPLATES} WHERE tenant = ? AND name = ?`)
        const row = find.get(tenant, name)
        if (!row) return 'unknown'
        if (find.get(tenant, to)) return 'taken'
        put(tenant, { ...templateOf(row), name: to })
        db.prepare(DELETE_TEMPLATE).run(tenant, name)
        count()
        return 'renamed'
      }),
    delete: async (tenant, name) => {
      return write(() => {
        const wasThere = db.prepare(DELETE_TEMPLATE).run(tenant, name).changes > 0
        if (wasThere) count()
        return wasThere
      })
    },
  }
}

export const refOf = (row: Row): Ref => ({
  tenant: String(row['tenant']),
  conversation: String(row['conversation']),
})

const REVIEWS = 'SELECT tenant, id, conversation, pending, due_at, body, sum FROM reviews'
const TEMPLATES = 'SELECT tenant, name, body, sum FROM templates'
const DELETE_TEMPLATE = 'DELETE FROM templates WHERE tenant = ? AND name = ?'

export const SUMMARIES = `SELECT tenant, row_sum AS sum, conversation AS session_id, title, created_at, active_at, pinned, archived, mark,
    (SELECT max(seq) FROM events WHERE conversation_id = conversations.id) AS seq,
    (SELECT timestamp FROM events WHERE conversation_id = conversations.id ORDER BY seq DESC LIMIT 1) AS updated_at
  FROM conversations`

/** The expression of the index; reviews without a deadline sort last. */
const DUE = `coalesce(due_at, '~')`
const WAITING = `pending = 1 AND tenant = ? AND ${DUE} > ?`

const ID = '(SELECT id FROM conversations WHERE tenant = ? AND conversation = ?)'
