import { apply, emptyConversation, type Conversation } from '../../core/model/conversation.ts'
import { EVENT_VERSION, type StoredEvent } from '../../core/model/event.ts'
import { SNAPSHOT_VERSION, freeze, snapshotIsDue, thaw } from '../../core/model/snapshot.ts'
import { isIndexed } from '../../core/text/search-documents.ts'
import { isTold } from '../../core/views/notice.ts'
import { eventsOf, refKey, type Commit, type Ref } from '../store.ts'
import { Lru } from '../lru.ts'
import { logExists, piecesOf, type Basis, type Call, type KeyRow, type Staged } from '../stage.ts'
import { EVENT_COLUMNS, eventOf, rowsOf, taskIdOf, type EventRow } from '../rows.ts'
import { idTaken } from '../store-error.ts'
import { storable, type Session } from './connections.ts'
import { SCHEMA } from './schema.ts'

const PAGE = 5_000

interface Cached {
  readonly state: Conversation
  readonly snapshotSeq: number
}

interface Taken {
  readonly basis: Basis
  readonly clock: number
}

export class PostgresLog {
  readonly #cache = new Lru<Cached>(1_000)

  async take(session: Session, ref: Ref, calls: readonly Call[]): Promise<Taken> {
    const held =
      (await this.#hold(session, ref, calls, session.begin())) ??
      // Read again: without a row nothing was locked.
      (await this.#hold(session, ref, calls, session.query(SQL.create, [ref.tenant, ref.conversation])))
    if (!held) throw new Error('the conversation row that was just inserted is missing')
    const state = await this.#upTo(session, ref, held.seq)
    return {
      clock: held.clock,
      basis: {
        state,
        key: key => held.keys.get(storable(key)),
        attempt: turn => held.attempts.get(storable(turn)),
      },
    }
  }

  async load(session: Session, ref: Ref): Promise<Conversation> {
    const [head] = await session.query<{ seq: number }>(SQL.head, [ref.tenant, ref.conversation])
    return this.#upTo(session, ref, head?.seq ?? 0)
  }

  async eventsAfter(session: Session, ref: Ref, seq: number, limit: number, maxBytes?: number): Promise<StoredEvent[]> {
    const values = [ref.tenant, ref.conversation, seq, limit]
    const rows = await (maxBytes === undefined
      ? session.query<EventRow>(SQL.eventsAfter, values)
      : session.query<EventRow>(SQL.someEventsAfter, [...values, maxBytes]))
    return rows.map(row => eventOf(ref.conversation, row))
  }

  /**
   * Writes a staged group in one round trip: one statement per table, however many rows. Returns a callback to run after
   * the commit. An import sends no notices.
   */
  async write(session: Session, ref: Ref, staged: Staged, { isImport = false } = {}): Promise<() => void> {
    const { after } = staged
    const at = [ref.tenant, ref.conversation]
    const put = (text: string, rows: readonly object[]): Promise<object[]> | [] =>
      rows.length > 0 ? session.query(text, [...at, asJson(rows)]) : []
    const keys = put(SQL.putKeys, staged.keys)
    if (staged.commits.length === 0) {
      await keys
      return () => {}
    }
    const rows = rowsOf(staged.before, after, staged.commits)
    const events = eventsOf(staged.commits)
    const told = isImport ? [] : events.filter(isTold).map(({ seq }) => String(seq))
    const indexed = events.find(isIndexed)?.seq ?? null
    const last = this.#cache.get(refKey(ref))?.snapshotSeq ?? 0
    const freezes = snapshotIsDue(after, last)
    const reviews = rows.reviews.map(({ body, ...row }) => ({ ...row, body: JSON.stringify(body) }))
    const [tasksPut, reviewsPut] = await Promise.all([
      put(SQL.putTasks, rows.tasks),
      put(SQL.putReviews, reviews),
      session.query(SQL.putLog, [...at, after.seq, asJson([rows.conversation]), asJson(events.map(eventRow)), indexed]),
      put(SQL.putTurns, rows.turns),
      told.length > 0 ? session.query(SQL.putNotices, [...at, told, rows.conversation.updated_at]) : [],
      freezes ? session.query(SQL.putSnapshot, [...at, after.seq, SNAPSHOT_VERSION, freeze(after)]) : [],
      keys,
    ])
    // Fewer rows mean that an id belongs to another conversation.
    if (tasksPut.length + reviewsPut.length !== rows.tasks.length + rows.reviews.length) throw idTaken()
    return () => this.#cache.set(refKey(ref), { state: after, snapshotSeq: freezes ? after.seq : last })
  }

  /** Writes a whole log in one transaction. Returns its head. */
  async import(session: Session, ref: Ref, commits: Iterable<Commit>): Promise<number> {
    const { basis } = await this.take(session, ref, [])
    if (basis.state.seq > 0) throw logExists()
    let remember = (): void => {}
    let seq = 0
    for (const piece of piecesOf(ref, commits)) {
      remember = await this.write(session, ref, piece, { isImport: true })
      seq = piece.after.seq
    }
    await session.query('COMMIT')
    remember()
    return seq
  }

  /** Locks and reads in one round trip with `first`. Each statement sees everything committed before it. */
  async #hold(session: Session, ref: Ref, calls: readonly Call[], first: Promise<unknown>) {
    const keys = distinct(calls.map(({ at }) => at.once?.key))
    const turns = distinct(calls.map(({ at }) => at.lease?.turn))
    const at = [ref.tenant, ref.conversation]
    const [, [head], keyRows, turnRows] = await Promise.all([
      first,
      session.query<{ seq: number; clock: number }>(SQL.lock, at),
      keys.length > 0 ? session.query<KeyRow>(SQL.keys, [...at, keys]) : [],
      turns.length > 0 ? session.query<{ turn: string; attempt: number }>(SQL.attempts, [...at, turns]) : [],
    ])
    if (!head) return undefined
    return {
      ...head,
      keys: new Map(keyRows.map(row => [row.key, row])),
      attempts: new Map(turnRows.map(({ turn, attempt }) => [turn, attempt])),
    }
  }

  async #upTo(session: Session, ref: Ref, head: number): Promise<Conversation> {
    if (head === 0) return emptyConversation(ref.conversation)
    const cached = this.#cache.get(refKey(ref))
    if (cached?.state.seq === head) return cached.state
    const base = cached && cached.state.seq < head ? cached : await this.#snapshot(session, ref)
    return this.#folded(session, ref, base)
  }

  async #snapshot(session: Session, ref: Ref): Promise<Cached> {
    const at = [ref.tenant, ref.conversation, SNAPSHOT_VERSION]
    const [row] = await session.query<{ seq: number; state: string }>(SQL.snapshot, at)
    if (!row) return { state: emptyConversation(ref.conversation), snapshotSeq: 0 }
    return { state: thaw(row.state), snapshotSeq: row.seq }
  }

  /** Caches after each page, so that the next call continues folding a log that is too long for one call. */
  async #folded(session: Session, ref: Ref, { state, snapshotSeq }: Cached): Promise<Conversation> {
    for (;;) {
      const events = await this.eventsAfter(session, ref, state.seq, PAGE)
      for (const event of events) state = apply(state, event)
      this.#cache.set(refKey(ref), { state, snapshotSeq })
      if (events.length < PAGE) return state
    }
  }
}

const distinct = (names: readonly (string | undefined)[]): string[] => [
  ...new Set(names.filter(name => name !== undefined)),
]

function eventRow(event: StoredEvent) {
  const { seq, type, turn_id, timestamp, data } = event
  return { seq, v: EVENT_VERSION, type, turn_id, timestamp, task: taskIdOf(event) ?? null, data: JSON.stringify(data) }
}

const asJson = (rows: readonly object[]): string =>
  JSON.stringify(rows, (_, value: unknown) => (typeof value === 'string' ? storable(value) : value))

const OF_CONVERSATION = 'tenant = $1 AND conversation = $2'

const SQL = {
  // The clock is read outside the subquery, and so after the wait for the lock.
  lock: `WITH head AS MATERIALIZED (SELECT seq FROM ${SCHEMA}.conversations WHERE ${OF_CONVERSATION} FOR UPDATE)
    SELECT seq, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS clock FROM head`,
  create: `INSERT INTO ${SCHEMA}.conversations (tenant, conversation) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
  keys: `SELECT key, body_hash AS "bodyHash", value FROM ${SCHEMA}.keys
    WHERE ${OF_CONVERSATION} AND key = ANY ($3::text[])`,
  // Row lock as the fence: no one can claim the turn between this read and our commit.
  attempts: `SELECT turn, attempt FROM ${SCHEMA}.turns
    WHERE ${OF_CONVERSATION} AND turn = ANY ($3::text[]) FOR UPDATE`,
  head: `SELECT seq FROM ${SCHEMA}.conversations WHERE ${OF_CONVERSATION}`,
  eventsAfter: `SELECT ${EVENT_COLUMNS} FROM ${SCHEMA}.events WHERE ${OF_CONVERSATION} AND seq > $3 ORDER BY seq LIMIT $4`,
  // `octet_length` does not need to read the value.
  someEventsAfter: `SELECT ${EVENT_COLUMNS} FROM (
      SELECT *, row_number() OVER in_order AS place, sum(octet_length(data)) OVER in_order AS bytes
      FROM (SELECT ${EVENT_COLUMNS} FROM ${SCHEMA}.events WHERE ${OF_CONVERSATION} AND seq > $3 ORDER BY seq LIMIT $4) AS page
      WINDOW in_order AS (ORDER BY seq)
    ) AS sized WHERE place = 1 OR bytes <= $5 ORDER BY seq`,
  snapshot: `SELECT seq, state FROM ${SCHEMA}.snapshots WHERE ${OF_CONVERSATION} AND v = $3`,
  putLog: `WITH head AS (
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
  putKeys: `INSERT INTO ${SCHEMA}.keys (tenant, conversation, key, body_hash, value)
    SELECT $1, $2, key, "bodyHash", value FROM json_to_recordset($3::json) AS row (key text, "bodyHash" text, value text)`,
  putTasks: `INSERT INTO ${SCHEMA}.tasks (tenant, conversation, id, seq, removed)
    SELECT $1, $2, id, seq, removed FROM json_to_recordset($3::json) AS task (id text, seq integer, removed boolean)
    ON CONFLICT (tenant, id) DO UPDATE SET seq = excluded.seq, removed = excluded.removed
    WHERE tasks.conversation = excluded.conversation RETURNING 1`,
  putTurns: `INSERT INTO ${SCHEMA}.turns (tenant, conversation, turn, status, needs)
    SELECT $1, $2, turn, status, needs FROM json_to_recordset($3::json) AS turn (turn text, status text, needs text)
    ON CONFLICT (tenant, conversation, turn) DO UPDATE SET status = excluded.status, needs = excluded.needs`,
  putReviews: `INSERT INTO ${SCHEMA}.reviews (tenant, conversation, id, pending, due_at, body)
    SELECT $1, $2, id, pending, due_at, body FROM json_to_recordset($3::json)
      AS review (id text, pending boolean, due_at timestamptz, body text)
    ON CONFLICT (tenant, id)
      DO UPDATE SET pending = excluded.pending, due_at = excluded.due_at, body = excluded.body
    WHERE reviews.conversation = excluded.conversation RETURNING 1`,
  putNotices: `INSERT INTO ${SCHEMA}.notices (tenant, conversation, seq) SELECT $1, $2, seq FROM unnest($3::integer[]) AS seq
    WHERE EXISTS (SELECT FROM ${SCHEMA}.notices_wanted WHERE tenant = $1 AND until > $4::timestamptz)`,
  putSnapshot: `INSERT INTO ${SCHEMA}.snapshots (tenant, conversation, seq, v, state) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (tenant, conversation) DO UPDATE SET seq = excluded.seq, v = excluded.v, state = excluded.state`,
}
