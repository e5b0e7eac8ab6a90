import type { DatabaseSync } from 'node:sqlite'
import { apply, emptyConversation, type Conversation } from '../../core/model/conversation.ts'
import { EVENT_VERSION, type StoredEvent } from '../../core/model/event.ts'
import { SNAPSHOT_VERSION, freeze, snapshotIsDue, thaw } from '../../core/model/snapshot.ts'
import { eventsOf, refKey, type Ref } from '../store.ts'
import { idTaken, type StoreError } from '../store-error.ts'
import { Lru } from '../lru.ts'
import { eventOf, isListedAlike, rowsOf, titleAfter, type ConversationRow, type EventRow } from '../rows.ts'
import type { KeyRow, Staged } from '../stage.ts'
import { digestOf, linkOf, type Head } from './head-file.ts'
import { storedDamage } from './to-store-error.ts'

/** A cached state, the seq of its newest snapshot, and the `data_version` at which it is current. */
interface Cached {
  readonly id: number
  readonly state: Conversation
  /** The link of its newest event, if known. */
  readonly link?: string
  readonly snapshotSeq: number
  readonly version: number
  /** The events of our last write, if it was small: its readers come right after it. */
  readonly written: readonly StoredEvent[]
}

/** Characters of the events that are kept in memory after a write. */
const MAX_WRITTEN = 64 * 1024

/** A row of `EVENT_ROW`. `before`: the link of the event before it. */
export type ChainedRow = EventRow & { readonly chain: string; readonly before: string | null }

/** The columns of an event `e`, with what proves it. */
export const EVENT_ROW = `e.seq, e.v, e.type, e.turn_id, e.timestamp, e.data, e.chain,
  (SELECT chain FROM events AS p WHERE p.conversation_id = e.conversation_id AND p.seq = e.seq - 1) AS before`

export class SqliteLog {
  readonly #db: DatabaseSync
  readonly #sql
  readonly #onWrite: (head: Head) => void
  readonly #cache = new Lru<Cached>(1_000)
  #lastVersion = -1
  #prepared: ReturnType<typeof writing> | undefined

  /** `onWrite` gets each write's newest event. */
  constructor(db: DatabaseSync, onWrite: (head: Head) => void = () => {}) {
    this.#db = db
    this.#sql = reading(db)
    this.#onWrite = onWrite
  }

  /**
   * Returns the current state. A cached one is current until another connection commits (`data_version`); then its seq
   * is checked and new events are folded in.
   */
  current(ref: Ref): Conversation {
    const cached = this.#cache.get(refKey(ref))
    const version = this.#version()
    if (cached?.version === version) return cached.state
    const head = this.#sql.head.get(ref.tenant, ref.conversation) as { id: number; seq: number | null } | undefined
    if (!head) return emptyConversation(ref.conversation)
    const { id, seq } = head
    const base = cached ?? this.#snapshot(ref, id)
    const state = base.state.seq === seq ? base.state : this.#folded(ref, id, base.state, seq ?? 0)
    this.#cache.set(refKey(ref), { id, state, snapshotSeq: base.snapshotSeq, version, written: [] })
    return state
  }

  key(ref: Ref, key: string): KeyRow | undefined {
    return this.#sql.key.get(ref.tenant, ref.conversation, key) as KeyRow | undefined
  }

  attempt(ref: Ref, turn: string): number | undefined {
    const row = this.#sql.attempt.get(ref.tenant, ref.conversation, turn)
    return row && Number(row['attempt'])
  }

  eventsAfter(ref: Ref, seq: number, limit: number, maxBytes: number = Number.POSITIVE_INFINITY): StoredEvent[] {
    const written = this.#writtenAfter(ref, seq)
    if (written && maxBytes >= MAX_WRITTEN) return written.slice(0, limit)
    const id = this.#idOf(ref)
    const events: StoredEvent[] = []
    if (id === undefined) return events
    let left = maxBytes
    for (const row of this.#sql.eventsAfter.iterate(id, seq, limit) as Iterable<ChainedRow>) {
      left -= row.data.length
      if (left < 0 && events.length > 0) return events
      events.push(this.#next(ref, seq + events.length, row))
    }
    return events
  }

  /** Throws if the event is not the one that was written. */
  event(ref: Ref, row: ChainedRow): StoredEvent {
    if (!this.isWhole(ref, row)) throw storedDamage(`event ${row.seq} of ${refKey(ref)} does not fit its chain`)
    return eventOf(ref.conversation, row)
  }

  isWhole(ref: Ref, row: ChainedRow): boolean {
    return linkOf(ref, row.before, row) === row.chain
  }

  /** Writes a staged group. Returns a callback to run after the commit. */
  write(ref: Ref, staged: Staged): () => void {
    const { tenant, conversation } = ref
    for (const { key, bodyHash, value } of staged.keys) this.#put.key.run(tenant, conversation, key, bodyHash, value)
    if (staged.commits.length === 0) return () => {}
    const rows = rowsOf(staged.before, staged.after, staged.commits)
    const id = this.#putConversation(ref, staged.before, rows.conversation)
    const cached = this.#cache.get(refKey(ref))
    const before = cached?.state === staged.before ? cached.link : undefined
    let head = { id: 0, link: before ?? this.#linkAt(id, staged.before.seq) ?? refKey(ref) }
    const events = eventsOf(staged.commits)
    let size = 0
    for (const { seq, type, turn_id, timestamp, data } of events) {
      const row = { seq, v: EVENT_VERSION, type, turn_id, timestamp, data: JSON.stringify(data) }
      const link = linkOf(ref, head.link, row)
      const put = this.#put.event.run(id, seq, row.v, type, turn_id, timestamp, row.data, link)
      head = { id: Number(put.lastInsertRowid), link }
      size += row.data.length
    }
    this.#onWrite(head)
    for (const { id: task, seq, removed } of rows.tasks) {
      const { changes } = this.#put.task.run(tenant, task, id, seq, removed ? 1 : 0)
      if (changes === 0) throw idTaken()
    }
    for (const { turn, status, needs } of rows.turns) this.#put.turn.run(tenant, conversation, turn, status, needs)
    for (const { id: review, pending, due_at, body } of rows.reviews) {
      const text = JSON.stringify(body)
      const { changes } = this.#put.review.run(tenant, review, conversation, pending ? 1 : 0, due_at, text)
      if (changes === 0) throw idTaken()
    }
    const snapshotSeq = this.#snapshotAfter(ref, id, staged.after, head.link)
    // Still current: we have held the write lock since `current` ran.
    const version = this.#lastVersion
    const { link } = head
    const written = size <= MAX_WRITTEN ? events : []
    return () => this.#cache.set(refKey(ref), { id, state: staged.after, link, snapshotSeq, version, written })
  }

  #writtenAfter(ref: Ref, after: number): StoredEvent[] | undefined {
    const { written = [], version } = this.#cache.get(refKey(ref)) ?? {}
    const [first] = written
    if (!first || after < first.seq - 1 || version !== this.#version()) return undefined
    return written.filter(({ seq }) => seq > after)
  }

  /** Lazy, because most readers never write. */
  get #put(): ReturnType<typeof writing> {
    this.#prepared ??= writing(this.#db)
    return this.#prepared
  }

  /**
   * Returns the conversation's number, inserting its row if needed. Most commits leave the row unchanged, which saves a
   * page.
   */
  #putConversation(ref: Ref, before: Conversation, row: ConversationRow): number {
    const id = this.#idOf(ref)
    const isAlike = isListedAlike(before, row)
    if (id !== undefined && isAlike && row.title === null && row.renamed === null) return id
    const stored = id === undefined ? undefined : (this.#put.title.get(id)?.['title'] as string | null)
    const title = titleAfter(stored ?? null, row)
    const values = [title, row.active_at, row.pinned ? 1 : 0, row.archived ? 1 : 0, row.mark] as const
    if (id === undefined) {
      return Number(this.#put.conversation.run(ref.tenant, ref.conversation, row.created_at, ...values).lastInsertRowid)
    }
    if (!isAlike || title !== stored) this.#put.listed.run(...values, id)
    return id
  }

  #idOf(ref: Ref): number | undefined {
    const cached = this.#cache.get(refKey(ref))
    if (cached) return cached.id
    const row = this.#sql.id.get(ref.tenant, ref.conversation)
    return row && Number(row['id'])
  }

  #linkAt(id: number, seq: number): string | undefined {
    return this.#sql.link.get(id, seq)?.['chain'] as string | undefined
  }

  #snapshotAfter(ref: Ref, id: number, state: Conversation, link: string): number {
    const last = this.#cache.get(refKey(ref))?.snapshotSeq ?? 0
    if (!snapshotIsDue(state, last)) return last
    const text = freeze(state)
    this.#put.snapshot.run(id, state.seq, SNAPSHOT_VERSION, text, digestOf(link + text))
    return state.seq
  }

  /** Changes when another connection commits, in this process or another, but not for our own commits. */
  #version(): number {
    this.#lastVersion = Number(this.#sql.version.get()?.['data_version'])
    return this.#lastVersion
  }

  /** A damaged snapshot is harmless: the log has everything. */
  #snapshot(ref: Ref, id: number): Pick<Cached, 'state' | 'snapshotSeq'> {
    const row = this.#sql.snapshot.get(id, SNAPSHOT_VERSION)
    const [seq, text] = [Number(row?.['seq']), String(row?.['state'])]
    const isWhole = row?.['sum'] === digestOf(String(this.#linkAt(id, seq)) + text)
    if (!row || !isWhole) return { state: emptyConversation(ref.conversation), snapshotSeq: 0 }
    return { state: thaw(text), snapshotSeq: seq }
  }

  /** Folds up to `end`, which comes from an index: a damaged log must not be shortened silently. */
  #folded(ref: Ref, id: number, base: Conversation, end: number): Conversation {
    let state = base
    const rows = this.#sql.eventsAfter.iterate(id, base.seq, -1)
    for (const row of rows) state = apply(state, this.#next(ref, state.seq, row as ChainedRow))
    if (state.seq !== end) throw missing(ref, Math.min(state.seq, end) + 1)
    return state
  }

  #next(ref: Ref, seq: number, row: ChainedRow): StoredEvent {
    if (row.seq !== seq + 1) throw missing(ref, seq + 1)
    return this.event(ref, row)
  }
}

const missing = (ref: Ref, seq: number): StoreError => storedDamage(`event ${seq} of ${refKey(ref)} is missing`)

function reading(db: DatabaseSync) {
  return {
    version: db.prepare('PRAGMA data_version'),
    id: db.prepare('SELECT id FROM conversations WHERE tenant = ? AND conversation = ?'),
    head: db.prepare(
      `SELECT id, (SELECT max(seq) FROM events WHERE conversation_id = conversations.id) AS seq
       FROM conversations WHERE tenant = ? AND conversation = ?`,
    ),
    eventsAfter: db.prepare(
      `SELECT ${EVENT_ROW} FROM events AS e WHERE conversation_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
    ),
    link: db.prepare('SELECT chain FROM events WHERE conversation_id = ? AND seq = ?'),
    snapshot: db.prepare('SELECT seq, state, sum FROM snapshots WHERE conversation_id = ? AND v = ?'),
    key: db.prepare(
      'SELECT key, body_hash AS bodyHash, value FROM keys WHERE tenant = ? AND conversation = ? AND key = ?',
    ),
    attempt: db.prepare('SELECT attempt FROM turns WHERE tenant = ? AND conversation = ? AND turn = ?'),
  }
}

function writing(db: DatabaseSync) {
  return {
    key: db.prepare('INSERT INTO keys (tenant, conversation, key, body_hash, value) VALUES (?, ?, ?, ?, ?)'),
    event: db.prepare(
      'INSERT INTO events (conversation_id, seq, v, type, turn_id, timestamp, data, chain) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    conversation: db.prepare(
      `INSERT INTO conversations (tenant, conversation, created_at, title, active_at, pinned, archived, mark)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    title: db.prepare('SELECT title FROM conversations WHERE id = ?'),
    listed: db.prepare(
      'UPDATE conversations SET title = ?, active_at = ?, pinned = ?, archived = ?, mark = ? WHERE id = ?',
    ),
    task: db.prepare(
      `INSERT INTO tasks (tenant, id, conversation_id, seq, removed) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET seq = excluded.seq, removed = excluded.removed
       WHERE conversation_id = excluded.conversation_id`,
    ),
    turn: db.prepare(
      `INSERT INTO turns (tenant, conversation, turn, status, needs) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET status = excluded.status, needs = excluded.needs`,
    ),
    review: db.prepare(
      `INSERT INTO reviews (tenant, id, conversation, pending, due_at, body) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET pending = excluded.pending, due_at = excluded.due_at, body = excluded.body
       WHERE conversation = excluded.conversation`,
    ),
    snapshot: db.prepare(
      'INSERT OR REPLACE INTO snapshots (conversation_id, seq, v, state, sum) VALUES (?, ?, ?, ?, ?)',
    ),
  }
}
