import { v7 } from 'uuid'
import type { Commit } from '../store/commit.ts'
import type { Command } from '../domain/command.ts'
import { type Conversation, nextDeadline } from '../domain/conversation.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Instant } from '../domain/instant.ts'
import { type Origin, SYSTEM } from '../domain/origin.ts'
import { templateNameProblem, templateOf } from '../domain/template.ts'
import type {
  Companion,
  Conversations,
  LiveText,
  ObservedCall,
  Observer,
  Door,
  DoorOptions,
  TailOptions,
  Templates,
  Turns,
} from './door.ts'
import { closed } from '../store/store-error.ts'
import type { At, Committed, Hint, Lease, LiveEntry, Notices, Ref, Search, Store } from '../store/store.ts'
import { checked, checkTenant } from './check-ids.ts'
import { type CheckMaker, isGone, plainMaker, preparedRows } from './checks.ts'
import { Deadlines } from './deadlines.ts'
import { EveryCommit, type EventObserver } from './every-commit.ts'
import { OriginDoor } from './origin-door.ts'
import { DoorReviews } from './reviews.ts'
import { ServiceWatch } from './service-watch.ts'
import { exceptStorage, StorageHealth, type StorageObserver } from './storage-health.ts'
import { Tails } from './tails.ts'
import { Transaction } from './transaction.ts'
import { watchedStore } from './watched-store.ts'

/** The door on one store, which is private to it. */
export class StoreDoor implements Door {
  readonly newId: () => string
  readonly checks: CheckMaker
  readonly conversations: Conversations
  readonly search: Search
  readonly reviews: DoorReviews
  readonly templates: Templates
  readonly turns: Turns
  readonly liveText: LiveText
  readonly notices: Notices
  readonly #store: Store
  readonly #health: StorageHealth
  readonly #tails: Tails
  readonly #deadlines: Deadlines | undefined
  readonly #observers = new Set<Observer>()
  readonly #companions = new Set<Companion>()
  readonly #eventObservers = new Set<EventObserver>()
  readonly #onError: (error: unknown) => void
  readonly #ending = new AbortController()
  readonly #onReviewOpened: DoorOptions['onReviewOpened']
  #hasPage = false

  constructor(options: DoorOptions) {
    const { newId = v7, checks = plainMaker, observe, onReviewOpened, readOnly } = options
    const onError = exceptStorage(options.onError ?? (() => {}))
    this.#health = new StorageHealth(options.store)
    const store = watchedStore(options.store, this.#health)
    this.newId = newId
    this.checks = checks
    this.conversations = conversationsIn(store)
    this.search = searchIn(store)
    this.reviews = new DoorReviews(store, this)
    this.templates = templatesIn(store, this)
    this.turns = turnsIn(store, checks)
    this.liveText = liveTextIn(store)
    this.notices = store.notices
    this.#store = store
    this.#onError = onError
    this.#onReviewOpened = onReviewOpened
    this.#tails = new Tails(store, onError)
    this.#deadlines = readOnly
      ? undefined
      : new Deadlines(
          store,
          due => this.run({ ...due, origin: SYSTEM }, { type: 'expire_review', review_id: due.review_id }),
          onError,
        )
    if (observe) this.#observers.add(observe)
  }

  from(origin: Origin): Door {
    return new OriginDoor(this, origin)
  }

  run(at: At, ...commands: readonly Command[]): Promise<Committed<null>> {
    return this.transact(at, transaction => {
      for (const command of commands) transaction.mustRun(command)
      return null
    })
  }

  async transact<T>(at: At, work: (transaction: Transaction) => T): Promise<Committed<T>> {
    const committing = this.#store.commit(checked(at), (state, now) => {
      const transaction = new Transaction(state, now, at.origin)
      return transaction.decided(work(transaction))
    })
    if (!at.lease) for (const companion of this.#companions) companion(at)
    const committed = await committing
    this.#noteDeadline(committed)
    this.#noteReviews(at, committed)
    this.#noteEvents(at, committed)
    return committed
  }

  async read(ref: Ref, need?: 'list'): Promise<Conversation> {
    return this.#store.load(checked(ref), need)
  }

  tail(ref: Ref, { after = 0, signal }: TailOptions = {}): AsyncIterable<Commit> {
    return this.#tails.follow(checked(ref), after, this.#untilEnd(signal))
  }

  texts(ref: Ref, { signal }: { readonly signal?: AbortSignal } = {}): AsyncIterable<LiveEntry> {
    return this.#tails.followText(checked(ref), this.#untilEnd(signal))
  }

  changes(signal: AbortSignal): AsyncIterable<Hint> {
    return this.#store.changes(signal)
  }

  now(): Promise<Instant> {
    return this.#store.now()
  }

  async ready(): Promise<void> {
    if (this.#ending.signal.aborted) throw closed()
    await this.#health.ready()
  }

  observeStorage(observer: StorageObserver): () => void {
    return this.#health.observe(observer)
  }

  observe(observer: Observer): () => void {
    this.#observers.add(observer)
    return () => void this.#observers.delete(observer)
  }

  observeEvents(observer: EventObserver, { others = false } = {}): () => void {
    const observe: EventObserver = (ref, events) => guarded(() => observer(ref, events))
    const ending = new AbortController()
    const every = others && new EveryCommit(this.#store, observe, this.#onError, this.#untilEnd(ending.signal))
    const note: EventObserver = every ? (ref, events) => every.committed(ref, events) : observe
    this.#eventObservers.add(note)
    return () => {
      this.#eventObservers.delete(note)
      ending.abort()
    }
  }

  accompany(companion: Companion): () => void {
    this.#companions.add(companion)
    return () => void this.#companions.delete(companion)
  }

  observed(call: ObservedCall): void {
    for (const observer of this.#observers) guarded(() => observer(call))
  }

  servesPage(): void {
    this.#hasPage = true
  }

  hasPage(): boolean {
    return this.#hasPage
  }

  async close(): Promise<void> {
    this.#ending.abort()
    await this.#deadlines?.stop()
    await this.#store.close()
  }

  #noteEvents({ tenant, conversation }: Ref, { events }: Committed<unknown>): void {
    if (events.length === 0) return
    for (const observer of this.#eventObservers) observer({ tenant, conversation }, events)
  }

  #noteReviews({ tenant, conversation }: Ref, { events }: Committed<unknown>): void {
    if (!this.#onReviewOpened) return
    for (const event of events) {
      // The person who reopened a review decides it.
      if (event.type === 'task_create_review_required' && event.data.reopens === undefined) {
        this.#onReviewOpened({ tenant, conversation }, event.data.review_id)
      }
    }
  }

  #untilEnd(signal: AbortSignal | undefined): AbortSignal {
    const ending = this.#ending.signal
    return signal ? AbortSignal.any([signal, ending]) : ending
  }

  /** Deadlines that this process sets are met on time; those of other processes are found by the regular sweep. */
  #noteDeadline({ events, conversation }: Committed<unknown>): void {
    const last = events.at(-1)
    if (!last || conversation.pending_reviews.length === 0) return
    const next = nextDeadline(conversation)
    if (next) this.#deadlines?.within(Date.parse(next) - Date.parse(last.timestamp))
  }
}

/** What an observer throws must not fail what it observes. */
function guarded(observe: () => void): void {
  try {
    observe()
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error))
  }
}

function conversationsIn(store: Store): Conversations {
  return {
    list: (tenant, page, list) => store.queries.conversations(tenant, page, list),
    summaries: (tenant, conversations) => store.queries.summaries(tenant, conversations),
    summary: async ref => store.queries.conversation(checked(ref)),
    events: async (ref, filter) => store.queries.events(checked(ref), filter),
    eventsAfter: async (ref, seq, limit, maxBytes) => store.eventsAfter(checked(ref), seq, limit, maxBytes),
  }
}

function searchIn(store: Store): Search {
  return {
    conversations: (tenant, text, page) => store.search.conversations(tenant, text, page),
    tasks: (tenant, text, page) => store.search.tasks(tenant, text, page),
    all: (tenant, text, options) => store.search.all(tenant, text, options),
  }
}

function templatesIn(store: Store, door: Pick<Door, 'checks' | 'newId'>): Templates {
  return {
    list: tenant => store.templates.list(tenant),
    get: (tenant, name) => store.templates.get(tenant, name),
    save: async (tenant, name, rows) => {
      checkTenant(tenant)
      const template = templateOf(name, preparedRows(rows, [], undefined, door))
      if (template instanceof Refusal) throw template
      await store.templates.put(tenant, template)
      return template
    },
    rename: async (tenant, name, to) => {
      const wrong = templateNameProblem(to)
      if (wrong) throw wrong
      const outcome = name === to ? 'renamed' : await store.templates.rename(tenant, name, to)
      if (outcome !== 'renamed') return outcome
      return (await store.templates.get(tenant, to)) ?? 'unknown'
    },
    delete: (tenant, name) => store.templates.delete(tenant, name),
  }
}

function turnsIn(store: Store, checks: CheckMaker): Turns {
  const services = new ServiceWatch(
    need => store.served(need),
    need => isGone(checks, need),
  )
  const listeners = new Set<(lease: Lease) => void>()
  return {
    watch: ref => services.watch(ref),
    onUnserved: listener => services.onUnserved(listener),
    claim: (runner, ttlMs, options) => store.claim(runner, ttlMs, options),
    served: need => store.served(need),
    renew: (lease, ttlMs) => store.renew(lease, ttlMs),
    release: async lease => {
      await store.release(lease)
      for (const listener of listeners) listener(lease)
    },
    onRelease: listener => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

function liveTextIn(store: Store): LiveText {
  return {
    write: async (ref, entry) => store.live.write(checked(ref), entry),
    read: async ref => store.live.read(checked(ref)),
    clear: async ref => store.live.clear(checked(ref)),
  }
}
