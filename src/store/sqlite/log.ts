import type { DatabaseSync } from 'node:sqlite'
import { apply, type Conversation, emptyConversation } from '../../domain/conversation.ts'
import { EVENT_VERSION, type StoredEvent } from '../../domain/event.ts'
import { freeze, SNAPSHOT_VERSION, snapshotIsDue, thaw } from '../../domain/snapshot.ts'
import { eventsOf } from '../commit.ts'
import { idTaken } from '../store-error.ts'
import { Lru } from '../lru.ts'
import { EVENT_COLUMNS, type EventRow, eventOf, rowsOf } from '../rows.ts'
import type { KeyRow, Staged } from '../stage.ts'
import { type Ref, refKey } from '../store.ts'

/** A cached state, how far its newest snapshot goes, and up to which foreign write it is known to be current. */
interface Cached {
  readonly state: Conversation
  readonly snapshotSeq: number
  readonly version: number
}

/** The logs in one SQLite database: their states, and what is written in one transaction. */
export class SqliteLog {
  readonly #sql
  readonly #cache = new Lru<Cached>(1_000)
  #lastVersion = -1

  constructor(db: DatabaseSync) {
    this.#sql = statements(db)
  }

  /**
   * The state as it is now, whoever wrote last. While no other connection has committed anything (`data_version`),
   * what is cached is current; otherwise its seq is checked, and what is missing is folded in.
   */
  current(ref: Ref): Conversation {
    const cached = this.#cache.get(refKey(ref))
    const version = this.#version()
    if (cached?.version === version) return cached.state
    const head = this.#sql.head.get(ref.tenant, ref.conversation) as { seq: number } | undefined
    if (!head) return emptyConversation(ref.conversation)
    const base = cached && cached.state.seq <= head.seq ? cached : this.#snapshot(ref)
    const state = base.state.seq === head.seq ? base.state : this.#folded(ref, base.state)
    this.#cache.set(refKey(ref), { state, snapshotSeq: base.snapshotSeq, version })
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

  eventsAfter(ref: Ref, seq: number, limit: number): StoredEvent[] {
    const rows = this.#sql.eventsAfter.all(ref.tenant, ref.conversation, seq, limit) as unknown as EventRow[]
    return rows.map(row => eventOf(ref.conversation, row))
  }

  /** Writes what the calls on one conversation came to. Returns what to do once it is committed. */
  write(ref: Ref, staged: Staged): () => void {
    const { tenant, conversation } = ref
    for (const { key, bodyHash, value } of staged.keys) this.#sql.putKey.run(tenant, conversation, key, bodyHash, value)
    if (staged.commits.length === 0) return () => {}
    const rows = rowsOf(staged.before, staged.after, staged.commits)
    for (const event of eventsOf(staged.commits)) {
      const data = JSON.stringify(event.data)
      this.#sql.putEvent.run(
        tenant,
        conversation,
        event.seq,
        EVENT_VERSION,
        event.type,
        event.turn_id,
        event.timestamp,
        data,
      )
    }
    const { seq, title, created_at, updated_at } = rows.conversation
    if (staged.before.seq > 0) this.#sql.moveConversation.run(seq, title, updated_at, tenant, conversation)
    else this.#sql.putConversation.run(tenant, conversation, seq, title, created_at, updated_at)
    for (const { id, turn, status, position, number, created_at, removed, search, body } of rows.tasks) {
      const text = JSON.stringify(body)
      const { changes } = this.#sql.putTask.run(
        tenant,
        id,
        conversation,
        turn,
        status,
        position,
        number,
        created_at,
        removed ? 1 : 0,
        search,
        text,
      )
      if (changes === 0) throw idTaken()
    }
    for (const { turn, status, parked } of rows.turns) {
      this.#sql.putTurn.run(tenant, conversation, turn, status, parked ? 1 : 0)
    }
    for (const { id, due_at, body } of rows.reviews) {
      const { changes } = this.#sql.putReview.run(tenant, id, conversation, due_at, JSON.stringify(body))
      if (changes === 0) throw idTaken()
    }
    const snapshotSeq = this.#snapshotAfter(ref, staged.after)
    // Nobody else can have committed since `current` looked: the write lock is ours.
    const version = this.#lastVersion
    return () => this.#cache.set(refKey(ref), { state: staged.after, snapshotSeq, version })
  }

  #snapshotAfter(ref: Ref, state: Conversation): number {
    const last = this.#cache.get(refKey(ref))?.snapshotSeq ?? 0
    if (!snapshotIsDue(state, last)) return last
    this.#sql.putSnapshot.run(ref.tenant, ref.conversation, state.seq, SNAPSHOT_VERSION, freeze(state))
    return state.seq
  }

  /** Changes when another connection, here or in another process, has committed; our own commits do not count. */
  #version(): number {
    this.#lastVersion = Number(this.#sql.version.get()?.['data_version'])
    return this.#lastVersion
  }

  #snapshot(ref: Ref): Pick<Cached, 'state' | 'snapshotSeq'> {
    const row = this.#sql.snapshot.get(ref.tenant, ref.conversation, SNAPSHOT_VERSION)
    if (!row) return { state: emptyConversation(ref.conversation), snapshotSeq: 0 }
    return { state: thaw(String(row['state'])), snapshotSeq: Number(row['seq']) }
  }

  #folded(ref: Ref, base: Conversation): Conversation {
    let state = base
    const rows = this.#sql.eventsAfter.iterate(ref.tenant, ref.conversation, base.seq, -1)
    for (const row of rows) state = apply(state, eventOf(ref.conversation, row as unknown as EventRow))
    return state
  }
}

function statements(db: DatabaseSync) {
  return {
    version: db.prepare('PRAGMA data_version'),
    head: db.prepare('SELECT seq FROM conversations WHERE tenant = ? AND conversation = ?'),
    eventsAfter: db.prepare(
      `SELECT ${EVENT_COLUMNS} FROM events WHERE tenant = ? AND conversation = ? AND seq > ? ORDER BY seq LIMIT ?`,
    ),
    snapshot: db.prepare('SELECT seq, state FROM snapshots WHERE tenant = ? AND conversation = ? AND v = ?'),
    key: db.prepare('SELECT body_hash, value FROM keys WHERE tenant = ? AND conversation = ? AND key = ?'),
    attempt: db.prepare('SELECT attempt FROM turns WHERE tenant = ? AND conversation = ? AND turn = ?'),
    putKey: db.prepare('INSERT INTO keys (tenant, conversation, key, body_hash, value) VALUES (?, ?, ?, ?, ?)'),
    putEvent: db.prepare(
      'INSERT INTO events (tenant, conversation, seq, v, type, turn_id, timestamp, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    putConversation: db.prepare(
      'INSERT INTO conversations (tenant, conversation, seq, title, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    moveConversation: db.prepare(
      'UPDATE conversations SET seq = ?, title = ifnull(title, ?), updated_at = ? WHERE tenant = ? AND conversation = ?',
    ),
    putTask: db.prepare(
      `INSERT INTO tasks (tenant, id, conversation, turn, status, position, number, created_at, removed, search, body)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (tenant, id) DO UPDATE SET status = excluded.status, position = excluded.position,
         removed = excluded.removed, search = excluded.search, body = excluded.body
       WHERE conversation = excluded.conversation`,
    ),
    putTurn: db.prepare(
      `INSERT INTO turns (tenant, conversation, turn, status, parked) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET status = excluded.status, parked = excluded.parked`,
    ),
    putReview: db.prepare(
      `INSERT INTO reviews (tenant, id, conversation, due_at, body) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET due_at = excluded.due_at, body = excluded.body
       WHERE conversation = excluded.conversation`,
    ),
    putSnapshot: db.prepare(
      'INSERT OR REPLACE INTO snapshots (tenant, conversation, seq, v, state) VALUES (?, ?, ?, ?, ?)',
    ),
  }
}
