import { EVENT_VERSION, type StoredEvent } from '../../core/model/event.ts'
import { isTold } from '../../core/views/notice.ts'
import { isIndexed } from '../../core/text/search-documents.ts'
import { freeze, SNAPSHOT_VERSION } from '../../core/model/snapshot.ts'
import { eventsOf } from '../commit.ts'
import { rowsOf, taskIdOf } from '../rows.ts'
import type { Staged } from '../stage.ts'
import type { Ref } from '../store.ts'
import { type Statement, storable, type Value } from './session.ts'
import { SCHEMA } from './schema.ts'

interface Write {
  readonly statement: Statement
  readonly values: readonly Value[]
  /** Rows that it must return: fewer means that an id belongs to another conversation. */
  readonly reports?: number
}

/** Turns a staged group into statements: one per table, however many rows. `tells`: whether to store notices. */
export function writes(
  { tenant, conversation }: Ref,
  staged: Staged,
  { freezes, tells }: { readonly freezes: boolean; readonly tells: boolean },
): Write[] {
  const list: Write[] = []
  const put = (statement: Statement, ...values: readonly Value[]): void => {
    list.push({ statement, values: [tenant, conversation, ...values] })
  }
  const putRows = (statement: Statement, rows: readonly object[]): void => {
    if (rows.length > 0) put(statement, asJson(rows))
  }
  const putOwned = (statement: Statement, rows: readonly object[]): void => {
    if (rows.length === 0) return
    list.push({ statement, values: [tenant, conversation, asJson(rows)], reports: rows.length })
  }
  putRows(
    SQL.keys,
    staged.keys.map(({ key, bodyHash, value }) => ({ key, body_hash: bodyHash, value })),
  )
  if (staged.commits.length === 0) return list
  const rows = rowsOf(staged.before, staged.after, staged.commits)
  const { seq, title, renamed, created_at, updated_at, active_at, pinned, archived, mark } = rows.conversation
  const events = eventsOf(staged.commits)
  const indexed = events.find(isIndexed)?.seq ?? null
  const listed = asJson([{ title, renamed, created_at, updated_at, active_at, pinned, archived, mark }])
  put(SQL.log, seq, listed, asJson(events.map(eventRow)), indexed)
  putOwned(
    SQL.tasks,
    rows.tasks.map(({ body, ...row }) => ({ ...row, body: JSON.stringify(body) })),
  )
  putRows(SQL.turns, rows.turns)
  putOwned(
    SQL.reviews,
    rows.reviews.map(({ body, ...row }) => ({ ...row, body: JSON.stringify(body) })),
  )
  const told = tells ? events.filter(isTold) : []
  if (told.length > 0)
    put(
      SQL.notices,
      told.map(event => String(event.seq)),
      updated_at,
    )
  if (freezes) put(SQL.snapshot, staged.after.seq, SNAPSHOT_VERSION, freeze(staged.after))
  return list
}

function eventRow(event: StoredEvent) {
  const { seq, type, turn_id, timestamp, data } = event
  return { seq, v: EVENT_VERSION, type, turn_id, timestamp, task: taskIdOf(event) ?? null, data: JSON.stringify(data) }
}

const asJson = (rows: readonly object[]): string =>
  JSON.stringify(rows, (_, value: unknown) => (typeof value === 'string' ? storable(value) : value))

const SQL = {
  log: {
    name: 'runsheet-put-log',
    text: `WITH head AS (
        UPDATE ${SCHEMA}.conversations AS c SET seq = $3, title = coalesce(listed.renamed, c.title, listed.title),
          created_at = coalesce(c.created_at, listed.created_at), updated_at = listed.updated_at, active_at = listed.active_at,
          pinned = listed.pinned, archived = listed.archived, mark = listed.mark,
          changed_at = date_trunc('second', clock_timestamp())
        FROM json_to_recordset($4::json) AS listed (title text, renamed text, created_at text, updated_at text,
          active_at text, pinned boolean, archived boolean, mark text)
        WHERE c.tenant = $1 AND c.conversation = $2
      ), queued AS (
        INSERT INTO ${SCHEMA}.search_queue (tenant, conversation, first, last)
        SELECT $1, $2, $6, $3 WHERE $6::integer IS NOT NULL
      )
      INSERT INTO ${SCHEMA}.events (tenant, conversation, seq, v, type, turn_id, timestamp, task, data)
      SELECT $1, $2, seq, v, type, turn_id, timestamp, task, data FROM json_to_recordset($5::json)
        AS event (seq integer, v integer, type text, turn_id text, timestamp text, task text, data text)`,
  },
  keys: {
    name: 'runsheet-put-keys',
    text: `INSERT INTO ${SCHEMA}.keys (tenant, conversation, key, body_hash, value)
      SELECT $1, $2, key, body_hash, value FROM json_to_recordset($3::json)
        AS row (key text, body_hash text, value text)`,
  },
  tasks: {
    name: 'runsheet-put-tasks',
    text: `INSERT INTO ${SCHEMA}.tasks
        (tenant, conversation, id, turn, status, position, number, created_at, removed, body)
      SELECT $1, $2, id, turn, status, position, number, created_at, removed, body
      FROM json_to_recordset($3::json) AS task (id text, turn text, status text, position float8, number integer,
        created_at text, removed boolean, body text)
      ON CONFLICT (tenant, id) DO UPDATE SET status = excluded.status, position = excluded.position,
        removed = excluded.removed, body = excluded.body
      WHERE tasks.conversation = excluded.conversation RETURNING 1`,
  },
  turns: {
    name: 'runsheet-put-turns',
    text: `INSERT INTO ${SCHEMA}.turns (tenant, conversation, turn, status, needs)
      SELECT $1, $2, turn, status, needs FROM json_to_recordset($3::json)
        AS turn (turn text, status text, needs text)
      ON CONFLICT (tenant, conversation, turn) DO UPDATE SET status = excluded.status, needs = excluded.needs`,
  },
  reviews: {
    name: 'runsheet-put-reviews',
    text: `INSERT INTO ${SCHEMA}.reviews (tenant, conversation, id, pending, due_at, body)
      SELECT $1, $2, id, pending, due_at, body FROM json_to_recordset($3::json)
        AS review (id text, pending boolean, due_at timestamptz, body text)
      ON CONFLICT (tenant, id)
        DO UPDATE SET pending = excluded.pending, due_at = excluded.due_at, body = excluded.body
      WHERE reviews.conversation = excluded.conversation RETURNING 1`,
  },
  notices: {
    name: 'runsheet-put-notices',
    text: `INSERT INTO ${SCHEMA}.notices (tenant, conversation, seq) SELECT $1, $2, seq FROM unnest($3::integer[]) AS seq
      WHERE EXISTS (SELECT FROM ${SCHEMA}.notices_wanted WHERE tenant = $1 AND until > $4::timestamptz)`,
  },
  snapshot: {
    name: 'runsheet-put-snapshot',
    text: `INSERT INTO ${SCHEMA}.snapshots (tenant, conversation, seq, v, state) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (tenant, conversation) DO UPDATE SET seq = excluded.seq, v = excluded.v, state = excluded.state`,
  },
} satisfies Record<string, Statement>
