import { type Conversation, emptyConversation } from '../domain/conversation.ts'
import type { StoredEvent } from '../domain/event.ts'
import { type Instant, plusMs } from '../domain/instant.ts'
import { isExclusive, type Need } from '../domain/needs.ts'
import { markOf } from '../domain/session-list.ts'
import { dueBy, StoreClock } from './clock.ts'
import { eventsOf } from './commit.ts'
import { CONVERSATION_ORDER, fitting, paged, sortedPage, type SortKey } from './cursor.ts'
import { Group } from './group.ts'
import { Hints } from './hints.ts'
import { type ReviewRow, rowsOf, taskIdOf, titleAfter, type TurnRow } from './rows.ts'
import { byConversation, type Call, called, type KeyRow, stage, type Staged } from './stage.ts'
import { closed, idTaken } from './store-error.ts'
import type * as seam from './store.ts'
import { type Ref, refKey } from './store.ts'

export interface MemoryStoreOptions {
  /** Added to the machine's clock, so that tests can pass a deadline. */
  readonly skewMs?: () => number
  /** Backing map, so that tests can change what is stored. */
  readonly entries?: Map<string, Entry>
}

/** Keeps nothing after `close`: for tests and experiments. Live text is its only capability. */
export const openMemoryStore = (options: MemoryStoreOptions = {}): seam.Store & Pick<seam.Capabilities, 'live'> =>
  new MemoryStore(options)

interface Turn extends TurnRow {
  readonly attempt: number
  /** End of the lease, in elapsed milliseconds; null without one. */
  readonly until: number | null
  readonly serves: Need | null
}

export interface Entry {
  readonly ref: Ref
  state: Conversation
  title: string | null
  readonly events: StoredEvent[]
  readonly keys: Map<string, KeyRow>
  readonly turns: Map<string, Turn>
  readonly reviews: Map<string, ReviewRow>
  live?: seam.LiveEntry | undefined
}

class MemoryStore implements seam.Store {
  readonly #entries: Map<string, Entry>
  readonly #owners = new Map<string, Entry>()
  readonly #hints = new Hints()
  readonly #clock: StoreClock
  readonly #group = new Group<Call>(async calls => this.#serve(calls))
  #closed = false

  constructor({ skewMs, entries = new Map() }: MemoryStoreOptions) {
    this.#entries = entries
    const reviews = (): ReviewRow[] => [...entries.values()].flatMap(entry => [...entry.reviews.values()])
    this.#clock = new StoreClock({ isAwaited: () => reviews().some(({ due_at }) => due_at !== null), skewMs })
  }

  async commit<T>(at: seam.At, decide: seam.Decide<T>): Promise<seam.Committed<T>> {
    this.#check()
    return called(at, decide, call => this.#group.add(call))
  }

  async now(): Promise<Instant> {
    this.#check()
    return this.#clock.now()
  }

  async load(ref: Ref): Promise<Conversation> {
    return this.#at(ref).state
  }

  async eventsAfter(ref: Ref, seq: number, limit: number, maxBytes = Infinity): Promise<readonly StoredEvent[]> {
    const events = this.#at(ref).events.slice(seq, seq + limit)
    if (maxBytes === Infinity) return events
    return events.slice(
      0,
      fitting(events, ({ data }) => JSON.stringify(data).length, maxBytes),
    )
  }

  changes(signal: AbortSignal): AsyncIterable<seam.Hint> {
    this.#check()
    return this.#hints.subscribe(signal)
  }

  async claim(_: string, ttlMs: number, options: seam.ClaimOptions): Promise<seam.Lease | undefined> {
    const { abilities, wanted } = options
    const able = new Set<Need | null>(abilities.filter(need => !isExclusive(need) || !this.#isServed(need)))
    const isWanted = ({ ref }: Entry, turn: string): boolean =>
      !wanted || (refKey(ref) === refKey(wanted) && turn === wanted.turn)
    const found = this.#turns().find(
      ([entry, row]) => isWanted(entry, row.turn) && able.has(row.needs) && !this.#isHeld(row),
    )
    if (!found) return undefined
    const [{ ref, turns }, row] = found
    if (isExclusive(row.needs)) this.#overtake(row.needs)
    const attempt = row.attempt + 1
    turns.set(row.turn, { ...row, attempt, until: this.#clock.elapsed() + ttlMs, serves: row.needs })
    return { ...ref, turn: row.turn, attempt }
  }

  async served(need: Need): Promise<boolean> {
    return this.#isServed(need)
  }

  async renew(lease: seam.Lease, ttlMs: number): Promise<boolean> {
    return this.#setLease(lease, { until: this.#clock.elapsed() + ttlMs })
  }

  async release(lease: seam.Lease): Promise<void> {
    this.#setLease(lease, { until: null, serves: null })
  }

  async due(limit: number): ReturnType<seam.Store['due']> {
    this.#check()
    const timed = this.#reviews().flatMap(([{ ref, state }, { id, due_at }]) => {
      if (due_at === null) return []
      const ahead = this.#clock.aheadMs(ref, state.updated_at)
      return [{ review: { ...ref, review_id: id }, due_at: plusMs(due_at, -ahead) }]
    })
    const due = dueBy(timed, this.#clock.now())
    return { ...due, reviews: due.reviews.slice(0, limit) }
  }

  async probe(): Promise<void> {
    this.#check()
  }

  readonly queries: seam.Queries = {
    conversations: async (tenant, page, list = 'active') => {
      const { kinds, keyOf } = CONVERSATION_ORDER[list === 'all' ? 'created' : 'active']
      const rows = this.#summaries(tenant).filter(
        ({ archived }) => list === 'all' || archived === (list === 'archived'),
      )
      return sortedPage(rows, page, kinds, keyOf, 'descending')
    },
    summaries: async (tenant, conversations) =>
      this.#summaries(tenant).filter(({ session_id }) => conversations.includes(session_id)),
    conversation: async ({ tenant, conversation }) =>
      this.#summaries(tenant).find(({ session_id }) => session_id === conversation),
    review: async (tenant, reviewId) => {
      this.#check()
      const entry = this.#owners.get(`${tenant}/${reviewId}`)
      const row = entry?.reviews.get(reviewId)
      return entry && row && { ...entry.ref, record: row.body }
    },
    waiting: async (tenant, conversation, page) => {
      const keyOf = ({ due_at, id }: ReviewRow): SortKey => [due_at ?? NEVER, id]
      const rows = this.#waiting(tenant, conversation)
      const { items, next_cursor } = sortedPage(rows, page, ['string', 'string'], keyOf, 'ascending')
      const fits = fitting(items, ({ body }) => JSON.stringify(body).length)
      const cut = paged(items, fits, ({ body }) => body.review, keyOf)
      return { items: cut.items, next_cursor: cut.next_cursor ?? next_cursor }
    },
    waitingCount: async (tenant, most) => Math.min(most, this.#waiting(tenant).length),
    events: async (ref, { types, task, last = Infinity }) =>
      this.#at(ref)
        .events.filter(
          event => (!types || types.includes(event.type)) && (task === undefined || taskIdOf(event) === task),
        )
        .slice(-last),
  }

  readonly live: seam.LiveText = {
    write: async (ref, entry) => {
      this.#put(ref).live = entry
      this.#hints.publish({ ...ref, kind: 'text' })
    },
    read: async ref => this.#at(ref).live,
    clear: async ref => {
      this.#put(ref).live = undefined
    },
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#group.idle()
  }

  #serve(calls: readonly Call[]): void {
    for (const group of byConversation(calls)) {
      const entry = this.#entries.get(refKey(group.ref)) ?? emptyEntry(group.ref)
      const staged = stage(
        group.calls,
        { state: entry.state, key: key => entry.keys.get(key), attempt: turn => entry.turns.get(turn)?.attempt },
        this.#clock.nowIn(entry.ref, entry.state.updated_at),
      )
      staged.rejectRefused()
      try {
        if (staged.commits.length > 0 || staged.keys.length > 0) this.#write(entry, staged)
        staged.resolve()
      } catch (error) {
        staged.reject(error)
      }
    }
  }

  #write(entry: Entry, { before, after, commits, keys }: Staged): void {
    const rows = rowsOf(before, after, commits)
    const owned = [...rows.tasks, ...rows.reviews].map(({ id }) => `${entry.ref.tenant}/${id}`)
    if (owned.some(key => (this.#owners.get(key) ?? entry) !== entry)) throw idTaken()
    for (const key of owned) this.#owners.set(key, entry)
    this.#entries.set(refKey(entry.ref), entry)
    entry.state = after
    entry.title = titleAfter(entry.title, rows.conversation)
    entry.events.push(...eventsOf(commits))
    for (const row of keys) entry.keys.set(row.key, row)
    for (const row of rows.turns) {
      entry.turns.set(row.turn, { attempt: 0, until: null, serves: null, ...entry.turns.get(row.turn), ...row })
    }
    for (const row of rows.reviews) entry.reviews.set(row.id, row)
    if (commits.length > 0) this.#hints.publish({ ...entry.ref, kind: 'log', seq: after.seq })
  }

  #isServed(need: Need): boolean {
    return this.#turns().some(([, row]) => row.serves === need && this.#isHeld(row))
  }

  #isHeld({ until }: Turn): boolean {
    return until !== null && until > this.#clock.elapsed()
  }

  /** Changes a lease unless it was overtaken or released. Returns whether it did. */
  #setLease({ turn, attempt, ...ref }: seam.Lease, change: Partial<Turn>): boolean {
    const { turns } = this.#at(ref)
    const row = turns.get(turn)
    if (row?.attempt !== attempt || row.until === null) return false
    turns.set(turn, { ...row, ...change })
    return true
  }

  #overtake(need: Need | null): void {
    for (const [{ turns }, row] of this.#turns()) {
      if (row.serves === need) turns.set(row.turn, { ...row, attempt: row.attempt + 1, until: null, serves: null })
    }
  }

  #turns(): (readonly [Entry, Turn])[] {
    return this.#all().flatMap(entry => [...entry.turns.values()].map(row => [entry, row] as const))
  }

  #reviews(): (readonly [Entry, ReviewRow])[] {
    return this.#all().flatMap(entry => [...entry.reviews.values()].map(row => [entry, row] as const))
  }

  #waiting(tenant: string, conversation?: string): ReviewRow[] {
    const now = this.#clock.now()
    return this.#reviews()
      .filter(([{ ref }]) => ref.tenant === tenant && (conversation ?? ref.conversation) === ref.conversation)
      .map(([, row]) => row)
      .filter(({ pending, due_at }) => pending && (due_at === null || due_at > now))
  }

  #summaries(tenant: string): seam.ConversationSummary[] {
    return this.#all()
      .filter(({ ref, state }) => ref.tenant === tenant && state.seq > 0)
      .map(summaryOf)
  }

  #all(): Entry[] {
    this.#check()
    return [...this.#entries.values()]
  }

  #at(ref: Ref): Entry {
    this.#check()
    return this.#entries.get(refKey(ref)) ?? emptyEntry(ref)
  }

  #put(ref: Ref): Entry {
    const entry = this.#at(ref)
    this.#entries.set(refKey(ref), entry)
    return entry
  }

  #check(): void {
    if (this.#closed) throw closed()
  }
}

/** Sorts after every deadline. */
const NEVER = '~'

const emptyEntry = ({ tenant, conversation }: Ref): Entry => ({
  ref: { tenant, conversation },
  state: emptyConversation(conversation),
  title: null,
  events: [],
  keys: new Map(),
  turns: new Map(),
  reviews: new Map(),
})

const summaryOf = ({ state, title }: Entry): seam.ConversationSummary => ({
  session_id: state.session_id,
  title,
  seq: state.seq,
  created_at: state.created_at ?? '',
  updated_at: state.updated_at ?? '',
  active_at: state.active_at ?? state.created_at ?? '',
  pinned: state.pinned,
  archived: state.archived,
  mark: markOf(state),
})
