import { v7 } from 'uuid'
import { type CheckMaker, plainMaker } from './checks.ts'
import { checked } from './check-ids.ts'
import { Conversations, liveTextIn } from './conversations.ts'
import { Deadlines } from './deadlines.ts'
import { EveryCommit, type EventObserver } from './every-commit.ts'
import { Reviews } from './reviews.ts'
import { type Seam, seamOf } from './seam.ts'
import { exceptStorage, StorageHealth, type StorageObserver } from './storage-health.ts'
import { Tails } from './tails.ts'
import { Templates } from './templates.ts'
import { Transaction } from './transaction.ts'
import { Turns } from './turns.ts'
import type { Command } from '../domain/command.ts'
import { type Conversation, nextDeadline } from '../domain/conversation.ts'
import type { Edge } from '../domain/event.ts'
import type { Instant } from '../domain/instant.ts'
import { type Origin, SYSTEM } from '../domain/origin.ts'
import type { Commit } from '../store/commit.ts'
import { closed } from '../store/store-error.ts'
import type { At, Committed, Hint, LiveEntry, LiveText, Notices, Ref, Search, Store } from '../store/store.ts'

// Edges import everything that comes through the door from here, and nothing from the store.
export {
  assertRunnable,
  type CallChecks,
  type CheckMaker,
  isGone,
  madeCheck,
  preparedChanges,
  preparedTask,
} from './checks.ts'
export { hashOf } from './hash.ts'
export { addEvidence, evidenceOf, type ReportedCall, type Reporting } from './evidence.ts'
export type { EventObserver } from './every-commit.ts'
export type { Service } from './service-watch.ts'
export { exceptStorage, type StorageObserver, type StorageReport } from './storage-health.ts'
export { type ApprovalWord, type DecidedCall, decideApproval, denyWaiting, waitingApprovals } from './approvals.ts'
export { onQueued } from './queue.ts'
export { Transaction } from './transaction.ts'
export { undoChange } from './undo.ts'
export type { SentDecision as Decision } from '../domain/wire.ts'
export type { Edge } from '../domain/event.ts'
export type { Commit } from '../store/commit.ts'
export { StoreError } from '../store/store-error.ts'
export type { ReviewRecord } from '../store/rows.ts'
export { refKey } from '../store/store.ts'
export { taskPage } from '../store/task-page.ts'
export type {
  At,
  ClaimOptions,
  Committed,
  Found,
  Hint,
  Lease,
  LiveEntry,
  Page,
  Paged,
  Ref,
  Search,
  TakenNotice,
} from '../store/store.ts'

/** What `openDoor` needs. */
export interface DoorOptions {
  /** Where the logs live. From here on it belongs to the runsheet, which also closes it. */
  readonly store: Store
  /** Draws the ids of tasks and reviews; UUID v7 unless given. */
  readonly newId?: () => string
  /** How checks are made where they run. Default: without knowledge of any program. */
  readonly checks?: CheckMaker
  /** Receives failures that no caller waits for, except those of storage: `observeStorage` reports them. */
  readonly onError?: (error: unknown) => void
  /** Only reads: reviews do not expire through this door. */
  readonly readOnly?: boolean
  /** Hears of each review that this process opens, except those that a person reopened. */
  readonly onReviewOpened?: (ref: Ref, reviewId: string) => void
  /** Receives every tool call of every edge. More observers can join with `door.observe`. */
  readonly observe?: Observer
}

/** The facts about one tool call: names and figures, never task texts. */
export interface ObservedCall {
  /** The toolset that the tool belongs to. */
  readonly toolset: string
  /** The tool, or `unknown` if the model invented the name. */
  readonly tool: string
  /** Length of the list in the input, 0 without one. */
  readonly items: number
  /** From the start of the call, or of the wait for its review, to this outcome. */
  readonly duration_ms: number
  /** How the call ended. A call that waits is reported once it is answered. */
  readonly outcome: 'ok' | 'refused' | 'failed'
  /** The way in that the call took. */
  readonly edge: Edge
  /** The conversation of the call. */
  readonly session_id: string
  /** The turn of the call; absent if storage failed before it was known. */
  readonly turn_id?: string
  /** The call's id; absent if the host gave none and the call was refused before it got one. */
  readonly tool_call_id?: string
  /** Whether the answer is in the log. Outside of our own turns, most refusals leave no event. */
  readonly stored: boolean
  /** The provider of the model that called, where the host named it. */
  readonly provider?: string
  /** The model that called, where the host named it. */
  readonly model?: string
}

/** Receives observed tool calls. If it throws, the process emits a warning and the call goes on. */
export type Observer = (call: ObservedCall) => void

/** Hears of a commit that is on its way to this conversation. */
export type Companion = (ref: Ref) => void

/** Where a tail starts and what ends it. */
export interface TailOptions {
  /** The last seq that the caller has; 0 for the whole log. */
  readonly after?: number
  /** Ends the tail. Closing the runsheet ends it, too. */
  readonly signal?: AbortSignal
}

/** Opens the door to a store. */
export function openDoor(options: DoorOptions): Door {
  const core = new Core(options)
  if (!options.readOnly) {
    const door = new Door(core, SYSTEM)
    core.deadlines = new Deadlines(
      core.store,
      ({ review_id, ...ref }) => door.run(ref, { type: 'expire_review', review_id }),
      core.onError,
    )
  }
  return new Door(core)
}

/** What the doors of all origins share. */
class Core {
  readonly options: DoorOptions
  readonly onError: (error: unknown) => void
  readonly health: StorageHealth
  readonly store: Seam
  readonly newId: () => string
  readonly checks: CheckMaker
  readonly conversations: Conversations
  readonly search: Search
  readonly templates: Templates
  readonly turns: Turns
  readonly liveText: LiveText
  readonly notices: Notices
  readonly tails: Tails
  readonly observers = new Set<Observer>()
  readonly companions = new Set<Companion>()
  readonly eventObservers = new Set<EventObserver>()
  readonly ending = new AbortController()
  deadlines: Deadlines | undefined
  reviewWaiters = 0
  hasPage = false

  constructor(options: DoorOptions) {
    const { store, newId = v7, checks = plainMaker, onError = () => {}, observe } = options
    this.options = options
    this.onError = exceptStorage(onError)
    this.health = new StorageHealth(store)
    this.store = seamOf(store, this.health)
    this.newId = newId
    this.checks = checks
    this.conversations = new Conversations(this.store)
    this.search = this.store.search
    this.templates = new Templates(this.store, this)
    this.turns = new Turns(this.store, checks)
    this.liveText = liveTextIn(this.store)
    this.notices = this.store.notices
    this.tails = new Tails(this.store, this.onError)
    if (observe) this.observers.add(observe)
  }
}

/**
 * The door: the only way to the store, which is private to it. Commands are decided on the current state and committed with
 * their events in one transaction; readers get the state, the log, or the rows derived from it.
 */
export class Door {
  /** Draws an id for a task, a review or a message. */
  readonly newId: () => string
  /** Reads command lines and hashes checks. */
  readonly checks: CheckMaker
  /** Conversations and their logs. */
  readonly conversations: Conversations
  /** What the tenant's conversations hold, by words. Includes everything that was committed before the call. */
  readonly search: Search
  /** Reviews: read, decide, wait. */
  readonly reviews: Reviews
  /** Saved batches of rows. */
  readonly templates: Templates
  /** Leases on running turns. */
  readonly turns: Turns
  /** The text of steps that are still being written. */
  readonly liveText: LiveText
  /** Events to be told to the outside, each taken by one process at a time. */
  readonly notices: Notices
  readonly #core: Core
  readonly #origin: Origin | undefined

  /** For `openDoor` and `from`. */
  constructor(core: Core, origin?: Origin) {
    this.newId = core.newId
    this.checks = core.checks
    this.conversations = core.conversations
    this.search = core.search
    this.reviews = new Reviews(core, this)
    this.templates = core.templates
    this.turns = core.turns
    this.liveText = core.liveText
    this.notices = core.notices
    this.#core = core
    this.#origin = origin
  }

  /** The same door, for what comes from there: the log records the origin of each decision. For edges. */
  from(origin: Origin): Door {
    return new Door(this.#core, origin)
  }

  /** Runs commands as one commit. Throws the refusal if one is refused; then nothing is written. */
  run(at: At, ...commands: readonly Command[]): Promise<Committed<null>> {
    return this.transact(at, transaction => {
      for (const command of commands) transaction.mustRun(command)
      return null
    })
  }

  /** Runs `work` as one commit: it runs commands, inspects the state between them, and returns the value. */
  async transact<T>(at: At, work: (transaction: Transaction) => T): Promise<Committed<T>> {
    const committing = this.#core.store.commit(checked(at), (state, now) => {
      const transaction = new Transaction(state, now, this.#origin)
      return transaction.decided(work(transaction))
    })
    if (!at.lease) for (const companion of this.#core.companions) companion(at)
    const committed = await committing
    this.#noteDeadline(committed)
    this.#noteReviews(at, committed)
    this.#noteEvents(at, committed)
    return committed
  }

  /** The current state of a conversation; empty if nothing was written yet. */
  async read(ref: Ref, need?: 'list'): Promise<Conversation> {
    return this.#core.store.load(checked(ref), need)
  }

  /** Yields the commits after seq `after`, then new ones, until the signal: without gaps or duplicates. */
  tail(ref: Ref, { after = 0, signal }: TailOptions = {}): AsyncIterable<Commit> {
    return this.#core.tails.follow(checked(ref), after, this.#untilEnd(signal))
  }

  /** Yields the text of a running step each time a process writes it, until the signal. */
  texts(ref: Ref, { signal }: { readonly signal?: AbortSignal } = {}): AsyncIterable<LiveEntry> {
    return this.#core.tails.followText(checked(ref), this.#untilEnd(signal))
  }

  /** Yields a hint whenever any process changes a conversation, until the signal. Hints may be lost or repeated. */
  changes(signal: AbortSignal): AsyncIterable<Hint> {
    return this.#core.store.changes(signal)
  }

  /** The store's clock, which leases and deadlines go by. */
  now(): Promise<Instant> {
    return this.#core.store.now()
  }

  /** Resolves if a write works, rejects with the reason if not. */
  async ready(): Promise<void> {
    if (this.#core.ending.signal.aborted) throw closed()
    await this.#core.health.ready()
  }

  /**
   * Adds an observer of storage: of every failure, whichever call met it, once until storage works again; and of that.
   * Returns a function that removes it.
   */
  observeStorage(observer: StorageObserver): () => void {
    return this.#core.health.observe(observer)
  }

  /** Adds an observer of tool calls. Returns a function that removes it. */
  observe(observer: Observer): () => void {
    return added(this.#core.observers, observer)
  }

  /**
   * Adds an observer of committed events, each reported once: those of this process, or with `others` those of every
   * process on the store. Returns a function that removes it.
   */
  observeEvents(observer: EventObserver, { others = false } = {}): () => void {
    const { store, onError, eventObservers } = this.#core
    const observe: EventObserver = (ref, events) => guarded(() => observer(ref, events))
    const ending = new AbortController()
    const every = others && new EveryCommit(store, observe, onError, this.#untilEnd(ending.signal))
    const remove = added(eventObservers, every ? (ref, events) => every.committed(ref, events) : observe)
    return () => {
      remove()
      ending.abort()
    }
  }

  /**
   * Adds a companion of commits without a lease: it is called when one is on its way, and what it commits to the same
   * conversation at once comes right behind, in the same flush. Returns a function that removes it.
   */
  accompany(companion: Companion): () => void {
    return added(this.#core.companions, companion)
  }

  /** Reports a tool call to all observers. For the code that performs calls. */
  observed(call: ObservedCall): void {
    for (const observer of this.#core.observers) guarded(() => observer(call))
  }

  /** Says that this process serves the page, so that a person can decide reviews there. */
  servesPage(): void {
    this.#core.hasPage = true
  }

  /** Whether a person can decide reviews on a page of this process. */
  hasPage(): boolean {
    return this.#core.hasPage
  }

  /** Ends tails and the deadline timer, finishes commits in flight, and closes the store. */
  async close(): Promise<void> {
    this.#core.ending.abort()
    await this.#core.deadlines?.stop()
    await this.#core.store.close()
  }

  #noteEvents({ tenant, conversation }: Ref, { events }: Committed<unknown>): void {
    if (events.length === 0) return
    for (const observer of this.#core.eventObservers) observer({ tenant, conversation }, events)
  }

  #noteReviews({ tenant, conversation }: Ref, { events }: Committed<unknown>): void {
    const { onReviewOpened } = this.#core.options
    if (!onReviewOpened) return
    for (const event of events) {
      // The person who reopened a review decides it.
      if (event.type === 'task_create_review_required' && event.data.reopens === undefined) {
        onReviewOpened({ tenant, conversation }, event.data.review_id)
      }
    }
  }

  /** Deadlines that this process sets are met on time; those of other processes are found by the regular sweep. */
  #noteDeadline({ events, conversation }: Committed<unknown>): void {
    const last = events.at(-1)
    if (!last || conversation.pending_reviews.length === 0) return
    const next = nextDeadline(conversation)
    if (next) this.#core.deadlines?.within(Date.parse(next) - Date.parse(last.timestamp))
  }

  #untilEnd(signal: AbortSignal | undefined): AbortSignal {
    const ending = this.#core.ending.signal
    return signal ? AbortSignal.any([signal, ending]) : ending
  }
}

/** Adds to a set. Returns a function that removes it. */
function added<T>(set: Set<T>, member: T): () => void {
  set.add(member)
  return () => void set.delete(member)
}

/** What an observer throws must not fail what it observes. */
function guarded(observe: () => void): void {
  try {
    observe()
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error))
  }
}
