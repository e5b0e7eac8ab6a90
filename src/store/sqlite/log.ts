import type { DatabaseSync } from 'node:sqlite'
import { apply, type Conversation, emptyConversation } from '../../domain/conversation.ts'
import { EVENT_VERSION, type StoredEvent } from '../../domain/event.ts'
import { freeze, SNAPSHOT_VERSION, snapshotIsDue, thaw } from '../../domain/snapshot.ts'
import { eventsOf } from '../commit.ts'
import { idTaken } from '../store-error.ts'
import { Lru } from '../lru.ts'
import { EVENT_COLUMNS, type EventRow, eventOf, type Rows, rowsOf } from '../rows.ts'
import type { KeyRow, Staged } from '../stage.ts'
import { type Ref, refKey } from '../store.ts'

/** A cached state, the seq of its newest snapshot, and the `data_version` as of which it is current. */
interface Cached {
  /** The conversation's number in this database. */
  readonly id: number
  readonly state: Conversation
  readonly snapshotSeq: number
  readonly version: number
}

/** The logs in one SQLite database: cached states, and the writes of a transaction. */
export class SqliteLog {
  readonly #sql
  readonly #cache = new Lru<Cached>(1_000)
  #lastVersion = -1

  constructor(db: DatabaseSync) {
    this.#sql = statements(db)
  }

  /**
   * The current state. A cached one is current while no other connection has committed (`data_version`); otherwise its
   * seq is checked and new events are folded in.
   */
  current(ref: Ref): Conversation {
    const cached = this.#cache.get(refKey(ref))
    const version = this.#version()
    if (cached?.version === version) return cached.state
    const head = this.#sql.head.get(ref.tenant, ref.conversation) as { id: number; seq: number } | undefined
    if (!head) return emptyConversation(ref.conversation)
    const { id, seq } = head
    const base = cached && cached.state.seq <= seq ? cached : this.#snapshot(ref, id)
    const state = base.state.seq === seq ? base.state : this.#folded(ref, id, base.state)
    this.#cache.set(refKey(ref), { id, state, snapshotSeq: base.snapshotSeq, version })
    return state
  }

  key(ref: Ref, key: string): KeyRow | undefined {
    const row = this.#sql.key.get(ref.tenant, ref.conversation, key)
    return row && { key, bodyHash: String(row['body_hash']), value: String(row['value']) }
  }

  attempt(ref: Ref, turn: string): number | undefined {
    const row = this.#sql.attempt.get(ref.tenant, ref.conversation, turn)
    return row && Number(row['attempt'])
  }

  eventsAfter(ref: Ref, seq: number, limit: number, maxBytes: number = Number.POSITIVE_INFINITY): StoredEvent[] {
    const id = this.#idOf(ref)
    if (id === undefined) return []
    const rows: EventRow[] = []
    let left = maxBytes
    for (const row of this.#sql.eventsAfter.iterate(id, seq, limit) as Iterable<EventRow>) {
      left -= row.data.length
      if (left < 0 && rows.length > 0) break
      rows.push(row)
    }
    return rows.map(row => eventOf(ref.conversation, row))
  }

  /** Writes a staged group. Returns what to do once it is committed. */
  write(ref: Ref, staged: Staged): () => void {
    const { tenant, conversation } = ref
    for (const { key, bodyHash, value } of staged.keys) this.#sql.putKey.run(tenant, conversation, key, bodyHash, value)
    if (staged.commits.length === 0) return () => {}
    const rows = rowsOf(staged.before, staged.after, staged.commits)
    const id = this.#putConversation(ref, rows.conversation)
    for (const { seq, type, turn_id, timestamp, data } of eventsOf(staged.commits)) {
      this.#sql.putEvent.run(id, seq, EVENT_VERSION, type, turn_id, timestamp, JSON.stringify(data))
    }
    for (const task of rows.tasks) {
      const { seq, created_at, removed } = task
      const { changes } = this.#sql.putTask.run(tenant, task.id, id, seq, created_at, removed ? 1 : 0)
      if (changes === 0) throw idTaken()
    }
    for (const { turn, status, needs } of rows.turns) this.#sql.putTurn.run(tenant, conversation, turn, status, needs)
    for (const { id: review, pending, due_at, body } of rows.reviews) {
      const text = JSON.stringify(body)
      const { changes } = this.#sql.putReview.run(tenant, review, conversation, pending ? 1 : 0, due_at, text)
      if (changes === 0) throw idTaken()
    }
    const snapshotSeq = this.#snapshotAfter(ref, id, staged.after)
    // Still current: we hold the write lock since `current` looked.
    const version = this.#lastVersion
    return () => this.#cache.set(refKey(ref), { id, state: staged.after, snapshotSeq, version })
  }

  /** The conversation's number, from a new row if there is none yet. */
  #putConversation(ref: Ref, { title, created_at }: Rows['conversation']): number {
    const id = this.#idOf(ref)
    if (id === undefined) {
      return Number(this.#sql.putConversation.run(ref.tenant, ref.conversation, title, created_at).lastInsertRowid)
    }
    if (title !== null) this.#sql.putTitle.run(title, id)
    return id
  }

  #idOf(ref: Ref): number | undefined {
    const cached = this.#cache.get(refKey(ref))
    if (cached) return cached.id
    const row = this.#sql.id.get(ref.tenant, ref.conversation)
    return row && Number(row['id'])
  }

  #snapshotAfter(ref: Ref, id: number, state: Conversation): number {
    const last = this.#cache.get(refKey(ref))?.snapshotSeq ?? 0
    if (!snapshotIsDue(state, last)) return last
    this.#sql.putSnapshot.run(id, state.seq, SNAPSHOT_VERSION, freeze(state))
    return state.seq
  }

  /** Changes when another connection commits, in this process or another; our own commits do not count. */
  #version(): number {
    this.#lastVersion = Number(this.#sql.version.get()?.['data_version'])
    return this.#lastVersion
  }

  #snapshot(ref: Ref, id: number): Pick<Cached, 'state' | 'snapshotSeq'> {
    const row = this.#sql.snapshot.get(id, SNAPSHOT_VERSION)
    if (!row) return { state: emptyConversation(ref.conversation), snapshotSeq: 0 }
    return { state: thaw(String(row['state'])), snapshotSeq: Number(row['seq']) }
  }

  #folded(ref: Ref, id: number, base: Conversation): Conversation {
    let state = base
    const rows = this.#sql.eventsAfter.iterate(id, base.seq, -1)
    for (const row of rows) state = apply(state, eventOf(ref.conversation, row as EventRow))
    return state
  }
}

function statements(db: DatabaseSync) {
  return {
    version: db.prepare('PRAGMA data_version'),
    id: db.prepare('SELECT id FROM conversations WHERE tenant = ? AND conversation = ?'),
    head: db.prepare(
      `SELECT id, (SELECT max(seq) FROM events WHERE conversation_id = conversations.id) AS seq
       FROM conversations WHERE tenant = ? AND conversation = ?`,
    ),
    eventsAfter: db.prepare(
      `SELECT ${EVENT_COLUMNS} FROM events WHERE conversation_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
    ),
    snapshot: db.prepare('SELECT seq, state FROM snapshots WHERE conversation_id = ? AND v = ?'),
    key: db.prepare('SELECT body_hash, value FROM keys WHERE tenant = ? AND conversation = ? AND key = ?'),
    attempt: db.prepare('SELECT attempt FROM turns WHERE tenant = ? AND conversation = ? AND turn = ?'),
    putKey: db.prepare('INSERT INTO keys (tenant, conversation, key, body_hash, value) VALUES (?, ?, ?, ?, ?)'),
    putEvent: db.prepare(
      'INSERT INTO events (conversation_id, seq, v, type, turn_id, timestamp, data) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
    putConversation: db.prepare(
      'INSERT INTO conversations (tenant, conversation, title, created_at) VALUES (?, ?, ?, ?)',
    ),
    putTitle: db.prepare('UPDATE conversations SET title = ? WHERE id = ? AND title IS NULL'),
    putTask: db.prepare(
      `INSERT INTO tasks (tenant, id, conversation_id, seq, created_at, removed) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET seq = excluded.seq, removed = excluded.removed
       WHERE conversation_id = excluded.conversation_id`,
    ),
    putTurn: db.prepare(
      `INSERT INTO turns (tenant, conversation, turn, status, needs) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET status = excluded.status, needs = excluded.needs`,
    ),
    putReview: db.prepare(
      `INSERT INTO reviews (tenant, id, conversation, pending, due_at, body) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET pending = excluded.pending, due_at = excluded.due_at, body = excluded.body
       WHERE conversation = excluded.conversation`,
    ),
    putSnapshot: db.prepare('INSERT OR REPLACE INTO snapshots (conversation_id, seq, v, state) VALUES (?, ?, ?, ?)'),
  }
}
