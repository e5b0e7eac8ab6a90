import { emptyConversation, type Conversation } from '../core/model/conversation.ts'
import type { StoredEvent } from '../core/model/event.ts'
import type { Instant } from '../core/model/instant.ts'
import { isExclusive, type Need } from '../core/model/needs.ts'
import { markOf } from '../core/views/session-list.ts'
import { StoreClock } from './clock.ts'
import type * as seam from './store.ts'
import { eventsOf, refKey, type Ref } from './store.ts'
import { CONVERSATION_ORDER, fitting, paged, sortedPage, type SortKey } from './cursor.ts'
import { Group, byConversation, called, stage, type Call, type KeyRow, type Staged } from './stage.ts'
import { Hints } from './hints.ts'
import { rowsOf, taskIdOf, titleAfter, type ReviewRow, type TurnRow } from './rows.ts'
import { closed, idTaken } from './store-error.ts'

export interface MemoryStoreOptions {
  /** Added to the machine's clock, so that tests can pass a deadline. */
  readonly skewMs?: () => number
  /** The backing map of turns, so that tests can change what is stored. */
  readonly turns?: Map<string, Turn>
}

/** Keeps nothing after `close`: for tests and experiments. Live text is its only capability. */
export const openMemoryStore = (options: MemoryStoreOptions = {}): seam.Store & Pick<seam.Capabilities, 'live'> =>
  new MemoryStore(options)

interface Log {
  readonly ref: Ref
  state: Conversation
  title: string | null
  readonly events: StoredEvent[]
  readonly keys: Map<string, KeyRow>
  live?: seam.LiveEntry | undefined
}

export interface Turn extends TurnRow, Ref {
  readonly attempt: number
  /** End of the lease, in milliseconds; null without one. */
  readonly until: number | null
  readonly serves: Need | null
}

const FREE = { until: null, serves: null }

export const turnKey = (ref: Ref, turn: string): string => `${refKey(ref)}/${turn}`

class MemoryStore implements seam.Store {
  readonly #logs = new Map<string, Log>()
  readonly #turns: Map<string, Turn>
  /** By tenant and id, as are the owners of the ids of reviews and tasks. */
  readonly #reviews = new Map<string, ReviewRow & { readonly ref: Ref }>()
  readonly #owners = new Map<string, Log>()
  readonly #hints = new Hints()
  readonly #clock: StoreClock
  readonly #group = new Group<Call>(async calls => this.#serve(calls))
  #closed = false

  constructor({ skewMs, turns = new Map() }: MemoryStoreOptions) {
    this.#turns = turns
    const isAwaited = (): boolean => [...this.#reviews.values()].some(({ due_at }) => due_at !== null)
    this.#clock = new StoreClock({ isAwaited, skewMs })
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
    return this.#log(ref).state
  }

  async eventsAfter(ref: Ref, seq: number, limit: number, maxBytes = Infinity): Promise<readonly StoredEvent[]> {
    const events = this.#log(ref).events.slice(seq, seq + limit)
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
    this.#check()
    const { abilities, wanted } = options
    const able = new Set<Need | null>(abilities.filter(need => !isExclusive(need) || !this.#isServed(need)))
    const rows = wanted ? [this.#turns.get(turnKey(wanted, wanted.turn))] : [...this.#turns.values()]
    const free = rows.find(row => row && able.has(row.needs) && !this.#isHeld(row))
    if (!free) return undefined
    for (const late of this.#turns.values()) {
      if (isExclusive(free.needs) && late.serves === free.needs)
        this.#put({ ...late, ...FREE, attempt: late.attempt + 1 })
    }
    const { tenant, conversation, turn, needs } = free
    const attempt = free.attempt + 1
    this.#put({ ...free, attempt, until: this.#clock.wall() + ttlMs, serves: needs })
    return { tenant, conversation, turn, attempt }
  }

  async served(need: Need): Promise<boolean> {
    this.#check()
    return this.#isServed(need)
  }

  async renew(lease: seam.Lease, ttlMs: number): Promise<boolean> {
    return this.#setLease(lease, { until: this.#clock.wall() + ttlMs })
  }

  async release(lease: seam.Lease): Promise<void> {
    this.#setLease(lease, FREE)
  }

  async due(limit: number): ReturnType<seam.Store['due']> {
    this.#check()
    const now = this.#clock.now()
    const timed = [...this.#reviews.values()]
      .flatMap(({ ref, id, due_at }) => (due_at === null ? [] : [{ review: { ...ref, review_id: id }, due_at }]))
      .sort((a, b) => (a.due_at < b.due_at ? -1 : 1))
    const reviews = timed.filter(({ due_at }) => due_at <= now).map(({ review }) => review)
    const next = timed[reviews.length]?.due_at
    return { reviews: reviews.slice(0, limit), ...(next === undefined ? {} : { next }) }
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
      const row = this.#reviews.get(`${tenant}/${reviewId}`)
      return row && { ...row.ref, record: row.body }
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
      this.#log(ref)
        .events.filter(
          event => (!types || types.includes(event.type)) && (task === undefined || taskIdOf(event) === task),
        )
        .slice(-last),
  }

  readonly live: seam.LiveText = {
    write: async (ref, entry) => {
      this.#keep(this.#log(ref)).live = entry
      this.#hints.publish({ ...ref, kind: 'text' })
    },
    read: async ref => this.#log(ref).live,
    clear: async ref => {
      this.#log(ref).live = undefined
    },
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#group.idle()
  }

  #serve(calls: readonly Call[]): void {
    for (const { ref, calls: group } of byConversation(calls)) {
      const log = this.#logs.get(refKey(ref)) ?? emptyLog(ref)
      const basis = {
        state: log.state,
        key: (key: string) => log.keys.get(key),
        attempt: (turn: string) => this.#turns.get(turnKey(ref, turn))?.attempt,
      }
      const staged = stage(group, basis, this.#clock.now())
      staged.rejectRefused()
      try {
        if (staged.commits.length > 0 || staged.keys.length > 0) this.#write(log, staged)
        staged.resolve()
      } catch (error) {
        staged.reject(error)
      }
    }
  }

  #write(log: Log, { before, after, commits, keys }: Staged): void {
    const { ref } = log
    const rows = rowsOf(before, after, commits)
    const owned = [...rows.tasks, ...rows.reviews].map(({ id }) => `${ref.tenant}/${id}`)
    if (owned.some(key => (this.#owners.get(key) ?? log) !== log)) throw idTaken()
    for (const key of owned) this.#owners.set(key, log)
    this.#keep(log).state = after
    log.title = titleAfter(log.title, rows.conversation)
    log.events.push(...eventsOf(commits))
    for (const row of keys) log.keys.set(row.key, row)
    for (const row of rows.turns) {
      this.#put({ ...ref, attempt: 0, ...FREE, ...this.#turns.get(turnKey(ref, row.turn)), ...row })
    }
    for (const row of rows.reviews) this.#reviews.set(`${ref.tenant}/${row.id}`, { ...row, ref })
    if (commits.length > 0) this.#hints.publish({ ...ref, kind: 'log', seq: after.seq })
  }

  #isServed(need: Need): boolean {
    return [...this.#turns.values()].some(row => row.serves === need && this.#isHeld(row))
  }

  #isHeld({ until }: Turn): boolean {
    return until !== null && until > this.#clock.wall()
  }

  /** Changes a lease unless it was overtaken or released. Returns whether it did. */
  #setLease({ turn, attempt, ...ref }: seam.Lease, change: Partial<Turn>): boolean {
    this.#check()
    const row = this.#turns.get(turnKey(ref, turn))
    if (row?.attempt !== attempt || row.until === null) return false
    this.#put({ ...row, ...change })
    return true
  }

  #put(row: Turn): void {
    this.#turns.set(turnKey(row, row.turn), row)
  }

  #waiting(tenant: string, conversation?: string): ReviewRow[] {
    this.#check()
    const now = this.#clock.now()
    return [...this.#reviews.values()].filter(
      ({ ref, pending, due_at }) =>
        ref.tenant === tenant &&
        (conversation ?? ref.conversation) === ref.conversation &&
        pending &&
        (due_at === null || due_at > now),
    )
  }

  #summaries(tenant: string): seam.ConversationSummary[] {
    this.#check()
    return [...this.#logs.values()].filter(({ ref, state }) => ref.tenant === tenant && state.seq > 0).map(summaryOf)
  }

  #log(ref: Ref): Log {
    this.#check()
    return this.#logs.get(refKey(ref)) ?? emptyLog(ref)
  }

  #keep(log: Log): Log {
    this.#logs.set(refKey(log.ref), log)
    return log
  }

  #check(): void {
    if (this.#closed) throw closed()
  }
}

/** Sorts after every deadline. */
const NEVER = '~'

const emptyLog = ({ tenant, conversation }: Ref): Log => ({
  ref: { tenant, conversation },
  state: emptyConversation(conversation),
  title: null,
  events: [],
  keys: new Map(),
})

const summaryOf = ({ state, title }: Log): seam.ConversationSummary => {
  const { session_id, seq, created_at, updated_at, active_at, pinned, archived } = state
  const [created, updated] = [created_at ?? '', updated_at ?? '']
  const times = { created_at: created, updated_at: updated, active_at: active_at ?? created }
  return { session_id, title, seq, ...times, pinned, archived, mark: markOf(state) }
}
