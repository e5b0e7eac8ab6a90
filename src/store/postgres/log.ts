import { apply, type Conversation, emptyConversation } from '../../core/model/conversation.ts'
import type { StoredEvent } from '../../core/model/event.ts'
import { SNAPSHOT_VERSION, snapshotIsDue, thaw } from '../../core/model/snapshot.ts'
import { idTaken } from '../store-error.ts'
import { Lru } from '../lru.ts'
import { EVENT_COLUMNS, type EventRow, eventOf } from '../rows.ts'
import type { Call, Basis, KeyRow, Staged } from '../stage.ts'
import { type Ref, refKey } from '../store.ts'
import { type Session, type Statement, storable } from './session.ts'
import { writes } from './writes.ts'
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
   * Writes a staged group in one round trip. Returns a callback to run after the commit. An import sends no notices.
   */
  async write(session: Session, ref: Ref, staged: Staged, { isImport = false } = {}): Promise<() => void> {
    const last = this.#cache.get(refKey(ref))?.snapshotSeq ?? 0
    const freezes = staged.commits.length > 0 && snapshotIsDue(staged.after, last)
    const list = writes(ref, staged, { freezes, tells: !isImport })
    const written = await Promise.all(list.map(({ statement, values }) => session.query(statement, values)))
    if (list.some(({ reports }, index) => reports !== undefined && written[index]?.length !== reports)) throw idTaken()
    return () => this.#cache.set(refKey(ref), { state: staged.after, snapshotSeq: freezes ? staged.after.seq : last })
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

const OF_CONVERSATION = 'tenant = $1 AND conversation = $2'

const SQL = {
  // The clock is read outside the subquery, and so after the wait for the lock.
  lock: {
    name: 'runsheet-lock',
    text: `WITH head AS MATERIALIZED (SELECT seq FROM ${SCHEMA}.conversations WHERE ${OF_CONVERSATION} FOR UPDATE)
      SELECT seq, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS clock FROM head`,
  },
  create: {
    name: 'runsheet-create',
    text: `INSERT INTO ${SCHEMA}.conversations (tenant, conversation) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
  },
  keys: {
    name: 'runsheet-keys',
    text: `SELECT key, body_hash AS "bodyHash", value FROM ${SCHEMA}.keys
      WHERE ${OF_CONVERSATION} AND key = ANY ($3::text[])`,
  },
  // Row lock as the fence: no one can claim the turn between this read and our commit.
  attempts: {
    name: 'runsheet-attempts',
    text: `SELECT turn, attempt FROM ${SCHEMA}.turns WHERE ${OF_CONVERSATION} AND turn = ANY ($3::text[]) FOR UPDATE`,
  },
  head: { name: 'runsheet-head', text: `SELECT seq FROM ${SCHEMA}.conversations WHERE ${OF_CONVERSATION}` },
  eventsAfter: {
    name: 'runsheet-events-after',
    text: `SELECT ${EVENT_COLUMNS} FROM ${SCHEMA}.events WHERE ${OF_CONVERSATION} AND seq > $3 ORDER BY seq LIMIT $4`,
  },
  // `octet_length` does not need to read the value.
  someEventsAfter: {
    name: 'runsheet-some-events-after',
    text: `SELECT ${EVENT_COLUMNS} FROM (
        SELECT *, row_number() OVER in_order AS place, sum(octet_length(data)) OVER in_order AS bytes
        FROM (SELECT ${EVENT_COLUMNS} FROM ${SCHEMA}.events WHERE ${OF_CONVERSATION} AND seq > $3 ORDER BY seq LIMIT $4) AS page
        WINDOW in_order AS (ORDER BY seq)
      ) AS sized WHERE place = 1 OR bytes <= $5 ORDER BY seq`,
  },
  snapshot: {
    name: 'runsheet-snapshot',
    text: `SELECT seq, state FROM ${SCHEMA}.snapshots WHERE ${OF_CONVERSATION} AND v = $3`,
  },
} satisfies Record<string, Statement>
