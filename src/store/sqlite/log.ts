import type { DatabaseSync } from 'node:sqlite'
import { apply, type Conversation, emptyConversation } from '../../domain/conversation.ts'
import { EVENT_VERSION, type StoredEvent } from '../../domain/event.ts'
import { freeze, SNAPSHOT_VERSION, snapshotIsDue, thaw } from '../../domain/snapshot.ts'
import { eventsOf } from '../commit.ts'
import type { Checksums } from '../checksum.ts'
import { idTaken, StoreError } from '../store-error.ts'
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

/** An event with its checksum. */
export type SummedRow = EventRow & { readonly sum: number }
export const SUMMED_COLUMNS = `${EVENT_COLUMNS}, sum`

/** The logs in one SQLite database: cached states, and the writes of a transaction. */
export class SqliteLog {
  readonly #sql
  readonly #sums: Checksums
  readonly #onWrite: (id: number) => void
  readonly #cache = new Lru<Cached>(1_000)
  #lastVersion = -1

  /** `onWrite` hears the id of the newest event of each write; ids count up across conversations. */
  constructor(db: DatabaseSync, sums: Checksums, onWrite: (id: number) => void = () => {}) {
    this.#sql = statements(db)
    this.#sums = sums
    this.#onWrite = onWrite
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
    if (!row) return undefined
    const [bodyHash, value] = [String(row['body_hash']), String(row['value'])]
    if (row['sum'] !== this.#keySum(ref, { key, bodyHash, value })) throw damagedRow(`the key ${key} of ${refKey(ref)}`)
    return { key, bodyHash, value }
  }

  attempt(ref: Ref, turn: string): number | undefined {
    const row = this.#sql.attempt.get(ref.tenant, ref.conversation, turn)
    return row && Number(row['attempt'])
  }

  eventsAfter(ref: Ref, seq: number, limit: number, maxBytes: number = Number.POSITIVE_INFINITY): StoredEvent[] {
    const id = this.#idOf(ref)
    if (id === undefined) return []
    const rows: SummedRow[] = []
    let left = maxBytes
    for (const row of this.#sql.eventsAfter.iterate(id, seq, limit) as Iterable<SummedRow>) {
      left -= row.data.length
      if (left < 0 && rows.length > 0) break
      rows.push(row)
    }
    return rows.map(row => this.event(ref, row))
  }

  /** The event of a row. Throws if it is not what was written. */
  event(ref: Ref, row: SummedRow): StoredEvent {
    if (!this.isWhole(ref, row)) throw damagedRow(`event ${row.seq} of ${refKey(ref)}`)
    return eventOf(ref.conversation, row)
  }

  /** Whether the event of a row is what was written. */
  isWhole(ref: Ref, row: SummedRow): boolean {
    return this.#sums.event(ref, row) === row.sum
  }

  /** Writes a staged group. Returns what to do once it is committed. */
  write(ref: Ref, staged: Staged): () => void {
    const { tenant, conversation } = ref
    this.writeKeys(ref, staged.keys)
    if (staged.commits.length === 0) return () => {}
    const rows = rowsOf(staged.before, staged.after, staged.commits)
    const id = this.#putConversation(ref, rows.conversation)
    let newest = 0
    for (const { seq, type, turn_id, timestamp, data } of eventsOf(staged.commits)) {
      const row = { seq, v: EVENT_VERSION, type, turn_id, timestamp, data: JSON.stringify(data) }
      const sum = this.#sums.event(ref, row)
      const put = this.#sql.putEvent.run(id, seq, row.v, type, turn_id, timestamp, row.data, sum)
      newest = Number(put.lastInsertRowid)
    }
    this.#onWrite(newest)
    for (const task of rows.tasks) {
      const { seq, created_at, removed } = task
      const { changes } = this.#sql.putTask.run(tenant, task.id, id, seq, created_at, removed ? 1 : 0)
      if (changes === 0) throw idTaken()
    }
    for (const { turn, status, needs } of rows.turns) this.#sql.putTurn.run(tenant, conversation, turn, status, needs)
    for (const { id: review, pending, due_at, body } of rows.reviews) {
      const text = JSON.stringify(body)
      const values = [conversation, pending ? 1 : 0, due_at, text] as const
      const sum = this.#sums.of('review', tenant, review, ...values)
      const { changes } = this.#sql.putReview.run(tenant, review, ...values, sum)
      if (changes === 0) throw idTaken()
    }
    const snapshotSeq = this.#snapshotAfter(ref, id, staged.after)
    // Still current: we hold the write lock since `current` looked.
    const version = this.#lastVersion
    return () => this.#cache.set(refKey(ref), { id, state: staged.after, snapshotSeq, version })
  }

  writeKeys(ref: Ref, keys: readonly KeyRow[]): void {
    for (const row of keys) {
      this.#sql.putKey.run(ref.tenant, ref.conversation, row.key, row.bodyHash, row.value, this.#keySum(ref, row))
    }
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
    const values = [state.seq, SNAPSHOT_VERSION, freeze(state)] as const
    this.#sql.putSnapshot.run(id, ...values, this.#snapshotSum(ref, ...values))
    return state.seq
  }

  #keySum({ tenant, conversation }: Ref, { key, bodyHash, value }: KeyRow): number {
    return this.#sums.of('key', tenant, conversation, key, bodyHash, value)
  }

  #snapshotSum({ tenant, conversation }: Ref, seq: number, v: number, state: string): number {
    return this.#sums.of('snapshot', tenant, conversation, seq, v, state)
  }

  /** Changes when another connection commits, in this process or another; our own commits do not count. */
  #version(): number {
    this.#lastVersion = Number(this.#sql.version.get()?.['data_version'])
    return this.#lastVersion
  }

  #snapshot(ref: Ref, id: number): Pick<Cached, 'state' | 'snapshotSeq'> {
    const row = this.#sql.snapshot.get(id, SNAPSHOT_VERSION)
    const [seq, text] = [Number(row?.['seq']), String(row?.['state'])]
    // A damaged one does no harm: the log has it all.
    if (row?.['sum'] !== this.#snapshotSum(ref, seq, SNAPSHOT_VERSION, text)) {
      return { state: emptyConversation(ref.conversation), snapshotSeq: 0 }
    }
    return { state: thaw(text), snapshotSeq: seq }
  }

  #folded(ref: Ref, id: number, base: Conversation): Conversation {
    let state = base
    const rows = this.#sql.eventsAfter.iterate(id, base.seq, -1)
    for (const row of rows) state = apply(state, this.event(ref, row as SummedRow))
    return state
  }
}

/** A row that does not have its checksum. The message is safe to show; the operator reads which row it is. */
export const damagedRow = (which: string): StoreError =>
  new StoreError('corrupt', 'What is stored here is damaged. Stop the server and run: runsheet verify', {
    cause: `${which} does not have its checksum`,
  })

function statements(db: DatabaseSync) {
  return {
    version: db.prepare('PRAGMA data_version'),
    id: db.prepare('SELECT id FROM conversations WHERE tenant = ? AND conversation = ?'),
    head: db.prepare(
      `SELECT id, (SELECT max(seq) FROM events WHERE conversation_id = conversations.id) AS seq
       FROM conversations WHERE tenant = ? AND conversation = ?`,
    ),
    eventsAfter: db.prepare(
      `SELECT ${SUMMED_COLUMNS} FROM events WHERE conversation_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
    ),
    snapshot: db.prepare('SELECT seq, state, sum FROM snapshots WHERE conversation_id = ? AND v = ?'),
    key: db.prepare('SELECT body_hash, value, sum FROM keys WHERE tenant = ? AND conversation = ? AND key = ?'),
    attempt: db.prepare('SELECT attempt FROM turns WHERE tenant = ? AND conversation = ? AND turn = ?'),
    putKey: db.prepare('INSERT INTO keys (tenant, conversation, key, body_hash, value, sum) VALUES (?, ?, ?, ?, ?, ?)'),
    putEvent: db.prepare(
      'INSERT INTO events (conversation_id, seq, v, type, turn_id, timestamp, data, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
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
      `INSERT INTO reviews (tenant, id, conversation, pending, due_at, body, sum) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET pending = excluded.pending, due_at = excluded.due_at, body = excluded.body, sum = excluded.sum
       WHERE conversation = excluded.conversation`,
    ),
    putSnapshot: db.prepare(
      'INSERT OR REPLACE INTO snapshots (conversation_id, seq, v, state, sum) VALUES (?, ?, ?, ?, ?)',
    ),
  }
}
