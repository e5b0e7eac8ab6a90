import type { DatabaseSync } from 'node:sqlite'
import { apply, type Conversation, emptyConversation } from '../../domain/conversation.ts'
import { EVENT_VERSION, type StoredEvent } from '../../domain/event.ts'
import { freeze, SNAPSHOT_VERSION, snapshotIsDue, thaw } from '../../domain/snapshot.ts'
import { eventsOf } from '../commit.ts'
import type { Checksums } from '../checksum.ts'
import { idTaken, StoreError } from '../store-error.ts'
import { Lru } from '../lru.ts'
import { type ConversationRow, type EventRow, eventOf, isListedAlike, rowsOf, titleAfter } from '../rows.ts'
import type { KeyRow, Staged } from '../stage.ts'
import { type ConversationSummary, type Ref, refKey } from '../store.ts'
import { reading, writing } from './log-sql.ts'

/** A cached state, the seq of its newest snapshot, and the `data_version` at which it is current. */
interface Cached {
  readonly id: number
  readonly state: Conversation
  readonly snapshotSeq: number
  readonly version: number
}

export type SummedRow = EventRow & { readonly sum: number }

export type SummaryRow = Omit<ConversationSummary, 'pinned' | 'archived'> &
  ListedFlags & { readonly tenant: string; readonly sum: number }

/** SQLite has no booleans. */
type ListedFlags = { readonly pinned: number; readonly archived: number }

/** The fields of a conversation's row, in checksum order. */
type ListedRow = Pick<SummaryRow, 'title' | 'created_at' | 'active_at' | 'pinned' | 'archived' | 'mark'>

export class SqliteLog {
  readonly #db: DatabaseSync
  readonly #sql
  readonly #sums: Checksums
  readonly #onWrite: (id: number) => void
  readonly #cache = new Lru<Cached>(1_000)
  #lastVersion = -1
  #prepared: ReturnType<typeof writing> | undefined

  /** `onWrite` gets the id of each write's newest event; ids increase across conversations. */
  constructor(db: DatabaseSync, sums: Checksums, onWrite: (id: number) => void = () => {}) {
    this.#db = db
    this.#sql = reading(db)
    this.#sums = sums
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
    if (!head) {
      this.checkUnknown(ref)
      return emptyConversation(ref.conversation)
    }
    const { id, seq } = head
    const base = cached ?? this.#snapshot(ref, id)
    const state = base.state.seq === seq ? base.state : this.#folded(ref, id, base.state, seq ?? 0)
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
    if (id === undefined) {
      this.checkUnknown(ref)
      return []
    }
    const events: StoredEvent[] = []
    let left = maxBytes
    for (const row of this.#sql.eventsAfter.iterate(id, seq, limit) as Iterable<SummedRow>) {
      left -= row.data.length
      if (left < 0 && events.length > 0) return events
      events.push(this.#next(ref, seq + events.length, row))
    }
    const isEnd = events.length < limit
    const known = this.#cache.get(refKey(ref))?.state.seq ?? 0
    if (isEnd && seq + events.length < known) throw missing(ref, seq + events.length + 1)
    return events
  }

  /** A damaged index must not make an existing conversation look new. Its turns are found without that index. */
  checkUnknown(ref: Ref): void {
    if (!this.#sql.anyTurn.get(ref.tenant, ref.conversation)) return
    throw storedDamage(`${refKey(ref)} has turns, but an index does not find it`)
  }

  /** Throws if the row does not match its checksum. */
  summary({ tenant, sum, ...summary }: SummaryRow): ConversationSummary {
    const ref = { tenant, conversation: summary.session_id }
    if (sum !== this.#conversationSum(ref, summary)) throw damagedRow(`the row of ${refKey(ref)}`)
    return { ...summary, pinned: summary.pinned === 1, archived: summary.archived === 1 }
  }

  /** Throws if the event does not match its checksum. */
  event(ref: Ref, row: SummedRow): StoredEvent {
    if (!this.isWhole(ref, row)) throw damagedRow(`event ${row.seq} of ${refKey(ref)}`)
    return eventOf(ref.conversation, row)
  }

  isWhole(ref: Ref, row: SummedRow): boolean {
    return this.#sums.event(ref, row) === row.sum
  }

  /** Writes a staged group. Returns a callback to run after the commit. */
  write(ref: Ref, staged: Staged): () => void {
    const { tenant, conversation } = ref
    this.writeKeys(ref, staged.keys)
    if (staged.commits.length === 0) return () => {}
    const rows = rowsOf(staged.before, staged.after, staged.commits)
    const id = this.#putConversation(ref, staged.before, rows.conversation)
    let newest = 0
    for (const { seq, type, turn_id, timestamp, data } of eventsOf(staged.commits)) {
      const row = { seq, v: EVENT_VERSION, type, turn_id, timestamp, data: JSON.stringify(data) }
      const sum = this.#sums.event(ref, row)
      const put = this.#put.event.run(id, seq, row.v, type, turn_id, timestamp, row.data, sum)
      newest = Number(put.lastInsertRowid)
    }
    this.#onWrite(newest)
    for (const task of rows.tasks) {
      const { seq, created_at, removed } = task
      const { changes } = this.#put.task.run(tenant, task.id, id, seq, created_at, removed ? 1 : 0)
      if (changes === 0) throw idTaken()
    }
    for (const { turn, status, needs } of rows.turns) this.#put.turn.run(tenant, conversation, turn, status, needs)
    for (const { id: review, pending, due_at, body } of rows.reviews) {
      const text = JSON.stringify(body)
      const values = [conversation, pending ? 1 : 0, due_at, text] as const
      const sum = this.#sums.of('review', tenant, review, ...values)
      const { changes } = this.#put.review.run(tenant, review, ...values, sum)
      if (changes === 0) throw idTaken()
    }
    const snapshotSeq = this.#snapshotAfter(ref, id, staged.after)
    // Still current: we have held the write lock since `current` ran.
    const version = this.#lastVersion
    return () => this.#cache.set(refKey(ref), { id, state: staged.after, snapshotSeq, version })
  }

  writeKeys(ref: Ref, keys: readonly KeyRow[]): void {
    for (const row of keys) {
      this.#put.key.run(ref.tenant, ref.conversation, row.key, row.bodyHash, row.value, this.#keySum(ref, row))
    }
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
    const stored = id === undefined ? undefined : this.#storedRow(ref, id)
    const { active_at, mark } = row
    const next: ListedRow = {
      title: titleAfter(stored?.title ?? null, row),
      created_at: stored?.created_at ?? row.created_at,
      active_at,
      pinned: row.pinned ? 1 : 0,
      archived: row.archived ? 1 : 0,
      mark,
    }
    const sum = this.#conversationSum(ref, next)
    const values = [next.title, active_at, next.pinned, next.archived, mark, sum] as const
    if (id === undefined) {
      const put = this.#put.conversation.run(ref.tenant, ref.conversation, next.created_at, ...values)
      return Number(put.lastInsertRowid)
    }
    if (!isAlike || next.title !== stored?.title) this.#put.listed.run(...values, id)
    return id
  }

  /** Throws on damage, because a new checksum would hide it. */
  #storedRow(ref: Ref, id: number): ListedRow {
    const row = this.#put.row.get(id) as (ListedRow & { readonly sum: number }) | undefined
    if (!row || row.sum !== this.#conversationSum(ref, row)) throw damagedRow(`the row of ${refKey(ref)}`)
    return row
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
    this.#put.snapshot.run(id, ...values, this.#snapshotSum(ref, ...values))
    return state.seq
  }

  #conversationSum({ tenant, conversation }: Ref, row: ListedRow): number {
    const { title, created_at, active_at, pinned, archived, mark } = row
    return this.#sums.of('conversation', tenant, conversation, title, created_at, active_at, pinned, archived, mark)
  }

  #keySum({ tenant, conversation }: Ref, { key, bodyHash, value }: KeyRow): number {
    return this.#sums.of('key', tenant, conversation, key, bodyHash, value)
  }

  #snapshotSum({ tenant, conversation }: Ref, seq: number, v: number, state: string): number {
    return this.#sums.of('snapshot', tenant, conversation, seq, v, state)
  }

  /** Changes when another connection commits, in this process or another, but not for our own commits. */
  #version(): number {
    this.#lastVersion = Number(this.#sql.version.get()?.['data_version'])
    return this.#lastVersion
  }

  #snapshot(ref: Ref, id: number): Pick<Cached, 'state' | 'snapshotSeq'> {
    const row = this.#sql.snapshot.get(id, SNAPSHOT_VERSION)
    const [seq, text] = [Number(row?.['seq']), String(row?.['state'])]
    // A damaged snapshot is harmless: the log has everything.
    if (row?.['sum'] !== this.#snapshotSum(ref, seq, SNAPSHOT_VERSION, text)) {
      return { state: emptyConversation(ref.conversation), snapshotSeq: 0 }
    }
    return { state: thaw(text), snapshotSeq: seq }
  }

  /** Folds up to `end`, which comes from an index: a damaged log must not be shortened silently. */
  #folded(ref: Ref, id: number, base: Conversation, end: number): Conversation {
    let state = base
    const rows = this.#sql.eventsAfter.iterate(id, base.seq, -1)
    for (const row of rows) state = apply(state, this.#next(ref, state.seq, row as SummedRow))
    if (state.seq !== end) throw missing(ref, Math.min(state.seq, end) + 1)
    return state
  }

  #next(ref: Ref, seq: number, row: SummedRow): StoredEvent {
    if (row.seq !== seq + 1) throw missing(ref, seq + 1)
    return this.event(ref, row)
  }
}

export const damagedRow = (which: string): StoreError => storedDamage(`${which} does not have its checksum`)

const missing = (ref: Ref, seq: number): StoreError => storedDamage(`event ${seq} of ${refKey(ref)} is missing`)

/** The message is safe to show; the operator reads the cause. */
export const storedDamage = (cause: string): StoreError =>
  new StoreError(
    'corrupt',
    'What is stored here is damaged. "runsheet verify" shows what; to save what can be read, stop the server and run "runsheet recover".',
    { cause },
  )
