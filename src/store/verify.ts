import { emptyConversation, fold, type Conversation } from '../core/model/conversation.ts'
import type { StoredEvent } from '../core/model/event.ts'
import { SNAPSHOT_VERSION, freeze } from '../core/model/snapshot.ts'
import { commitOf, refKey, type Ref } from './store.ts'
import { rowsOf, titleAfter, type ConversationRow, type ReviewRow, type TaskRow, type TurnRow } from './rows.ts'
import { StoreError } from './store-error.ts'

/** A row as a store returns it; named like `Rows`. */
type Stored = Readonly<Record<string, unknown>>

export interface StoredRows {
  readonly conversation: Stored | undefined
  readonly tasks: readonly Stored[]
  readonly turns: readonly Stored[]
  readonly reviews: readonly Stored[]
  readonly snapshot?: StoredSnapshot | undefined
}
export interface StoredSnapshot {
  readonly seq: number
  readonly v: number
  readonly state: string
}

export interface Verifiable {
  conversations(): AsyncIterable<Ref>
  /** Differences between the log, folded by `Replay`, and its rows, read as of one moment. */
  differences(ref: Ref): Promise<readonly string[]>
  problems(): AsyncIterable<string>
}

/** Folds every log and compares it with the stored rows. Yields each difference; may run beside writers. */
export async function* verify(verifiable: Verifiable): AsyncGenerator<string> {
  yield* verifiable.problems()
  for await (const ref of verifiable.conversations()) {
    try {
      yield* await verifiable.differences(ref)
    } catch (error) {
      yield damageOf(error)
    }
  }
}

export function damageOf(error: unknown): string {
  if (error instanceof StoreError && error.code === 'corrupt') return error.detail ?? error.message
  throw error
}

export class Replay {
  readonly #ref: Ref
  readonly #storable: (value: unknown) => unknown
  readonly #snapshot: StoredSnapshot | undefined
  readonly #tasks = new Map<string, TaskRow>()
  readonly #turns = new Map<string, TurnRow>()
  readonly #reviews = new Map<string, ReviewRow>()
  readonly #found: string[] = []
  #state: Conversation
  #conversation: ConversationRow | undefined
  #open: StoredEvent[] = []
  #seq = 0

  /** `storable` returns a value as the store holds it. */
  constructor(ref: Ref, snapshot: StoredSnapshot | undefined, storable: (value: unknown) => unknown) {
    this.#ref = ref
    this.#storable = storable
    this.#snapshot = snapshot?.v === SNAPSHOT_VERSION ? snapshot : undefined
    this.#state = emptyConversation(ref.conversation)
  }

  get seq(): number {
    return this.#seq
  }

  add(events: Iterable<StoredEvent>): void {
    for (const event of events) {
      if (event.seq !== this.#seq + 1) this.#differs(`event ${this.#seq + 1} is missing`)
      this.#seq = event.seq
      if (this.#open.length > 0 && this.#open[0]?.timestamp !== event.timestamp) this.#commit()
      this.#open.push(event)
    }
  }

  differences({ conversation, tasks, turns, reviews }: StoredRows): readonly string[] {
    this.#commit()
    if (this.#found.length > 0) return this.#found
    if (this.#snapshot && this.#snapshot.seq > this.#seq) this.#differs('its log is shorter than its snapshot')
    if (this.#conversation) this.#compare('its row', conversation, this.#conversation)
    this.#compareAll('task', tasks, 'id', this.#tasks)
    this.#compareAll('turn', turns, 'turn', this.#turns)
    this.#compareAll('review', reviews, 'id', this.#reviews)
    return this.#found
  }

  #commit(): void {
    if (this.#open.length === 0 || this.#found.length > 0) return
    const commit = commitOf(this.#open)
    const before = this.#state
    this.#open = []
    try {
      this.#state = fold(before, commit.events)
      const rows = rowsOf(before, this.#state, [commit])
      const title = titleAfter(this.#conversation?.title ?? null, rows.conversation)
      this.#conversation = { ...rows.conversation, title }
      for (const row of rows.tasks) this.#tasks.set(row.id, row)
      for (const row of rows.turns) this.#turns.set(row.turn, row)
      for (const row of rows.reviews) this.#reviews.set(row.id, row)
    } catch (error) {
      this.#differs(`event ${commit.seq} cannot be folded (${(error as Error).message})`)
    }
    if (this.#state.seq === this.#snapshot?.seq && !isSameJson(this.#snapshot.state, freeze(this.#state))) {
      this.#differs(`its snapshot at ${this.#state.seq} differs from its log`)
    }
  }

  #compareAll(kind: string, stored: readonly Stored[], key: string, expected: ReadonlyMap<string, object>): void {
    const left = new Map(expected)
    for (const row of stored) {
      const id = String(row[key])
      const wanted = left.get(id)
      left.delete(id)
      if (wanted) this.#compare(`${kind} ${id}`, row, wanted)
      else this.#differs(`${kind} ${id} is not in its log`)
    }
    for (const id of left.keys()) this.#differs(`${kind} ${id} is missing, though its log has it`)
  }

  /** Compares only the fields that the store keeps. It keeps objects as JSON. */
  #compare(what: string, stored: Stored | undefined, expected: object): void {
    if (!stored) return this.#differs(`${what} is missing`)
    const values: Stored = { ...expected }
    const wrong = Object.keys(stored).filter(name => {
      const [value, wanted] = [stored[name], values[name]]
      return isObject(wanted) ? !isSameJson(value, JSON.stringify(wanted)) : value !== this.#storable(wanted)
    })
    if (wrong.length > 0) this.#differs(`${what} differs from its log (${wrong.join(', ')})`)
  }

  #differs(what: string): void {
    this.#found.push(`${refKey(this.#ref)}: ${what}`)
  }
}

/** Compares plain data. `node:util` would load `net` into every program that uses the library. */
function isSame(one: unknown, other: unknown): boolean {
  if (!isObject(one) || !isObject(other)) return one === other
  const names = Object.keys(one)
  return (
    Array.isArray(one) === Array.isArray(other) &&
    names.length === Object.keys(other).length &&
    names.every(name => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  )
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

function isSameJson(stored: unknown, expected: string): boolean {
  try {
    return stored === expected || isSame(JSON.parse(String(stored)), JSON.parse(expected))
  } catch {
    return false
  }
}
