import type { Conversation } from '../domain/conversation.ts'
import type { StoredEvent } from '../domain/event.ts'
import { type Instant, plusMs } from '../domain/instant.ts'
import type { Need } from '../domain/needs.ts'
import { freeze, SNAPSHOT_VERSION } from '../domain/snapshot.ts'
import type { Template } from '../domain/template.ts'
import { StoreClock } from './clock.ts'
import { type Commit, eventsOf } from './commit.ts'
import { CONVERSATION_ORDER, fitting, paged, sortedPage, type SortKey } from './cursor.ts'
import { closed, idTaken } from './store-error.ts'
import { Group } from './group.ts'
import { Hints } from './hints.ts'
import { Entry, loaded, summaryOf } from './memory-entry.ts'
import { MemoryLeases } from './memory-leases.ts'
import { MemoryNotices } from './memory-notices.ts'
import { MemoryIndex } from './memory-search.ts'
import { logExists, piecesOf } from './pieces.ts'
import { type ReviewRow, rowsOf, taskIdOf, titleAfter } from './rows.ts'
import { searchIn } from './search.ts'
import { type Call, stage, type Staged } from './stage.ts'
import {
  type At,
  type ClaimOptions,
  type Committed,
  type Decide,
  type DueReview,
  type Lease,
  type LiveText,
  type Queries,
  type Ref,
  refKey,
  type Store,
  type Templates,
} from './store.ts'
import { type Verifiable, Replay, type StoredRows } from './verify.ts'

export interface MemoryStoreOptions {
  /** How far the store's clock is ahead of the machine's: lets tests pass a deadline. */
  readonly skewMs?: () => number
  /** Where it keeps them: lets tests change what is stored. */
  readonly entries?: Map<string, Entry>
}

/** A store that keeps nothing after `close`: for tests and experiments. */
export function openMemoryStore(options: MemoryStoreOptions = {}): Store {
  return new MemoryStore(options)
}

class MemoryStore implements Store {
  readonly #entries: Map<string, Entry>
  /** The conversation that owns a task or review, by tenant and id. */
  readonly #owners = new Map<string, Entry>()
  readonly #templates = new Map<string, Map<string, Template>>()
  readonly #hints = new Hints()
  readonly #clock: StoreClock
  readonly #leases: MemoryLeases
  readonly #index = new MemoryIndex()
  readonly notices: MemoryNotices
  readonly #group = new Group<Call>(async calls => this.#serve(calls))
  #closed = false

  constructor({ skewMs, entries = new Map() }: MemoryStoreOptions) {
    this.#entries = entries
    this.#clock = new StoreClock({ isAwaited: () => this.#isAwaited(), skewMs })
    this.#leases = new MemoryLeases(this.#entries, this.#clock)
    this.notices = new MemoryNotices(this.#clock)
  }

  async commit<T>(at: At, decide: Decide<T>): Promise<Committed<T>> {
    this.#check()
    return new Promise<Committed<T>>((resolve, reject) => {
      this.#group.add({ at, decide, resolve: resolve as Call['resolve'], reject })
    })
  }

  async now(): Promise<Instant> {
    this.#check()
    return this.#clock.now()
  }

  async load(ref: Ref): Promise<Conversation> {
    this.#check()
    return this.#peek(ref).state
  }

  async eventsAfter(ref: Ref, seq: number, limit: number, maxBytes?: number): Promise<readonly StoredEvent[]> {
    this.#check()
    const events = this.#peek(ref).events.slice(seq, seq + limit)
    if (maxBytes === undefined) return events
    return events.slice(
      0,
      fitting(events, ({ data }) => JSON.stringify(data).length, maxBytes),
    )
  }

  changes(signal: AbortSignal): ReturnType<Store['changes']> {
    this.#check()
    return this.#hints.subscribe(signal)
  }

  async claim(_runner: string, ttlMs: number, options: ClaimOptions): Promise<Lease | undefined> {
    this.#check()
    return this.#leases.claim(ttlMs, options)
  }

  async served(need: Need): Promise<boolean> {
    this.#check()
    return this.#leases.served(need)
  }

  async renew(lease: Lease, ttlMs: number): Promise<boolean> {
    this.#check()
    return this.#leases.renew(lease, ttlMs)
  }

  async release(lease: Lease): Promise<void> {
    this.#check()
    this.#leases.release(lease)
  }

  async due(limit: number): ReturnType<Store['due']> {
    this.#check()
    const now = this.#clock.now()
    const waiting = this.#timed()
    const next = waiting.find(({ due_at }) => due_at > now)?.due_at
    const reviews = waiting.filter(({ due_at }) => due_at <= now).map(({ review }) => review)
    return { reviews: reviews.slice(0, limit), ...(next === undefined ? {} : { next }) }
  }

  async importLog(ref: Ref, commits: Iterable<Commit>): Promise<void> {
    this.#check()
    if (this.#peek(ref).state.seq > 0) throw logExists()
    const pieces = [...piecesOf(ref, commits)]
    const [first, last] = [pieces[0], pieces.at(-1)]
    // In one go: an id that another conversation has must leave nothing behind.
    if (first && last)
      this.#write(this.#ensure(ref), { ...last, before: first.before, commits: pieces.flatMap(piece => piece.commits) })
  }

  async probe(): Promise<void> {
    this.#check()
  }

  readonly queries: Queries = {
    conversations: async (tenant, page, list = 'active') => {
      const rows = this.#of(tenant)
        .filter(({ state }) => state.seq > 0)
        .map(summaryOf)
        .filter(({ archived }) => list === 'all' || archived === (list === 'archived'))
      const { kinds, keyOf } = CONVERSATION_ORDER[list === 'all' ? 'created' : 'active']
      return sortedPage(rows, page, kinds, keyOf, 'descending')
    },
    summaries: async (tenant, conversations) => {
      const wanted = new Set(conversations)
      return this.#of(tenant)
        .filter(({ ref, state }) => state.seq > 0 && wanted.has(ref.conversation))
        .map(summaryOf)
    },
    conversation: async ref => {
      this.#check()
      const entry = this.#entries.get(refKey(ref))
      return entry && entry.state.seq > 0 ? summaryOf(entry) : undefined
    },
    review: async (tenant, reviewId) => {
      this.#check()
      const entry = this.#owners.get(`${tenant}/${reviewId}`)
      const row = entry?.reviews.get(reviewId)
      return entry && row && { ...entry.ref, record: row.body }
    },
    waiting: async (tenant, conversation, page) => {
      const rows = this.#waiting(tenant).filter(row => conversation === undefined || row.conversation === conversation)
      const keyOf = ({ due_at, id }: ReviewRow): SortKey => [due_at ?? NEVER, id]
      const { items, next_cursor } = sortedPage(rows, page, ['string', 'string'], keyOf, 'ascending')
      const fits = fitting(items, ({ body }) => JSON.stringify(body).length)
      const cut = paged(items, fits, ({ body }) => body.review, keyOf)
      return { items: cut.items, next_cursor: cut.next_cursor ?? next_cursor }
    },
    waitingCount: async (tenant, most) => Math.min(most, this.#waiting(tenant).length),
    events: async (ref, { types, task, last }) => {
      const found = this.#peek(ref).events.filter(
        event => (!types || types.includes(event.type)) && (task === undefined || taskIdOf(event) === task),
      )
      return last === undefined ? found : found.slice(-last)
    },
  }

  readonly search = searchIn({
    places: ['number'],
    newest: async (...asked) => {
      this.#check()
      return this.#index.newest(...asked)
    },
    load: async (tenant, documents) => documents.map(document => loaded(this.#peek({ ...document, tenant }), document)),
  })

  readonly templates: Templates = {
    get: async (tenant, name) => this.#templates.get(tenant)?.get(name),
    list: async tenant => [...(this.#templates.get(tenant)?.values() ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1)),
    put: async (tenant, template) => {
      this.#check()
      const templates = this.#templates.get(tenant) ?? new Map<string, Template>()
      this.#templates.set(tenant, templates.set(template.name, template))
    },
    rename: async (tenant, name, to) => {
      this.#check()
      const templates = this.#templates.get(tenant)
      const template = templates?.get(name)
      if (!templates || !template) return 'unknown'
      if (templates.has(to)) return 'taken'
      templates.delete(name)
      templates.set(to, { ...template, name: to })
      return 'renamed'
    },
    delete: async (tenant, name) => this.#templates.get(tenant)?.delete(name) ?? false,
  }

  readonly live: LiveText = {
    write: async (ref, entry) => {
      this.#check()
      this.#ensure(ref).live = entry
      this.#hints.publish({ ...ref, kind: 'text' })
    },
    read: async ref => this.#peek(ref).live,
    clear: async ref => {
      this.#ensure(ref).live = undefined
    },
  }

  verifiable(): Verifiable {
    const entries = this.#entries
    return {
      conversations: async function* () {
        for (const { ref, state } of entries.values()) if (state.seq > 0) yield ref
      },
      differences: async ref => {
        const entry = this.#peek(ref)
        const rows = storedRows(entry)
        const replay = new Replay(ref, rows.snapshot)
        replay.add(entry.events)
        return replay.differences(rows)
      },
      problems: async function* () {},
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#group.idle()
  }

  #serve(calls: readonly Call[]): void {
    for (const group of Map.groupBy(calls, ({ at }) => refKey(at)).values()) {
      const [first] = group
      if (!first) continue
      const entry = this.#peek(first.at)
      const staged = stage(
        group,
        { state: entry.state, key: key => entry.keys.get(key), attempt: turn => entry.turns.get(turn)?.attempt },
        this.#clock.nowIn(entry.ref, entry.state.updated_at),
      )
      staged.rejectRefused()
      try {
        if (staged.commits.length > 0 || staged.keys.length > 0) this.#write(this.#ensure(first.at), staged)
        this.notices.add(entry.ref, eventsOf(staged.commits))
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
    entry.state = after
    entry.title = titleAfter(entry.title, rows.conversation)
    entry.events.push(...eventsOf(commits))
    this.#index.add(entry.ref, entry.title, eventsOf(commits))
    for (const row of keys) entry.keys.set(row.key, row)
    for (const row of rows.tasks) entry.tasks.set(row.id, row)
    for (const row of rows.turns) {
      const { attempt = 0, until = null, serves = null } = entry.turns.get(row.turn) ?? {}
      entry.turns.set(row.turn, { ...row, attempt, until, serves })
    }
    for (const row of rows.reviews) entry.reviews.set(row.id, row)
    if (commits.length > 0) this.#hints.publish({ ...entry.ref, kind: 'log', seq: after.seq })
  }

  /** Whether a review waits for its deadline. */
  #isAwaited(): boolean {
    return [...this.#entries.values()].some(({ reviews }) =>
      [...reviews.values()].some(({ due_at }) => due_at !== null),
    )
  }

  /** The reviews that have a deadline, soonest first. */
  #timed(): { review: DueReview; due_at: Instant }[] {
    return [...this.#entries.values()]
      .flatMap(({ ref, reviews, state: { updated_at } }) =>
        [...reviews.values()].flatMap(({ id, due_at }) =>
          due_at === null
            ? []
            : [{ review: { ...ref, review_id: id }, due_at: plusMs(due_at, -this.#clock.aheadMs(ref, updated_at)) }],
        ),
      )
      .sort((a, b) => (a.due_at < b.due_at ? -1 : 1))
  }

  #check(): void {
    if (this.#closed) throw closed()
  }

  #peek(ref: Ref): Entry {
    return this.#entries.get(refKey(ref)) ?? new Entry({ tenant: ref.tenant, conversation: ref.conversation })
  }

  #ensure(ref: Ref): Entry {
    const entry = this.#peek(ref)
    this.#entries.set(refKey(ref), entry)
    return entry
  }

  #waiting(tenant: string): (ReviewRow & { readonly conversation: string })[] {
    const now = this.#clock.now()
    return this.#of(tenant)
      .flatMap(({ ref, reviews }) => [...reviews.values()].map(row => ({ ...row, conversation: ref.conversation })))
      .filter(({ pending, due_at }) => pending && (due_at === null || due_at > now))
  }

  #of(tenant: string): Entry[] {
    this.#check()
    return [...this.#entries.values()].filter(({ ref }) => ref.tenant === tenant)
  }
}

/** Sorts after every deadline. */
const NEVER = '~'

function storedRows(entry: Entry): StoredRows {
  const { state, tasks, turns, reviews } = entry
  const { session_id: _, ...conversation } = summaryOf(entry)
  return {
    conversation,
    tasks: [...tasks.values()],
    turns: [...turns.values()].map(({ turn, status, needs }) => ({ turn, status, needs })),
    reviews: [...reviews.values()],
    snapshot: { seq: state.seq, v: SNAPSHOT_VERSION, state: freeze(state) },
  }
}
