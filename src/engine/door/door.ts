import { v7 } from 'uuid'
import { checked, plainMaker, type CheckMaker } from './checks.ts'
import { conversationsIn, liveTextIn, type Conversations } from './conversations.ts'
import { Deadlines } from './deadlines.ts'
import { everyCommit, type EventObserver } from './every-commit.ts'
import { Reviews } from './reviews.ts'
import { StorageHealth, exceptStorage, seamOf, type Seam, type StorageObserver } from './storage-health.ts'
import { Tails } from './tails.ts'
import { Templates } from './templates.ts'
import { Transaction } from './transaction.ts'
import { turnsIn, type Turns } from './turns.ts'
import type { Command } from '../../core/model/command.ts'
import { nextDeadline, type Conversation } from '../../core/model/conversation.ts'
import type { Edge } from '../../core/model/event.ts'
import type { Instant } from '../../core/model/instant.ts'
import { SYSTEM, type Origin } from '../../core/model/origin.ts'
import type {
  At,
  Commit,
  Committed,
  Hint,
  LiveEntry,
  LiveText,
  Notices,
  Ref,
  Search,
  Store,
} from '../../store/store.ts'
import { closed } from '../../store/store-error.ts'

// Edges import everything from here and nothing from the store.
export {
  assertRunnable,
  type CallChecks,
  type CheckedRow,
  type MadeRow,
  type CheckMaker,
  isGone,
  madeCheck,
  preparedChanges,
  preparedTask,
} from './checks.ts'
export { hashOf } from './transaction.ts'
export { addEvidence, evidenceOf, type ReportedCall, type Reporting } from './evidence.ts'
export type { EventObserver } from './every-commit.ts'
export type { Service } from './turns.ts'
export { exceptStorage, type StorageObserver, type StorageReport } from './storage-health.ts'
export {
  type ApprovalWord,
  type DecidedCall,
  decideApproval,
  denyWaiting,
  type WaitingCalls,
  waitingCalls,
} from './approvals.ts'
export { onQueued, Transaction } from './transaction.ts'
export { addTask, changeTask, insist, removeTask, taskAnswer, undoChange, withoutRow } from './person-edits.ts'
export type { SentDecision as Decision } from '../../core/views/wire.ts'
export type { Edge } from '../../core/model/event.ts'
export type { Commit } from '../../store/store.ts'
export { StoreError } from '../../store/store-error.ts'
export type { ReviewRecord } from '../../store/rows.ts'
export { refKey } from '../../store/store.ts'
export { taskPage } from '../../store/cursor.ts'
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
} from '../../store/store.ts'

export interface DoorOptions {
  /** The door owns the store and closes it. */
  readonly store: Store
  /** Generates task and review ids. Default: UUID v7. */
  readonly newId?: () => string
  /** Default: a maker that knows no programs. */
  readonly checks?: CheckMaker
  /** Receives failures that no caller waits for, except storage failures: `observeStorage` reports those. */
  readonly onError?: (error: unknown) => void
  /** Reviews do not expire through a read-only door. */
  readonly readOnly?: boolean
  /** Called for each review that this process opens, except those that a person reopened. */
  readonly onReviewOpened?: (ref: Ref, reviewId: string) => void
  readonly observe?: Observer
}

/** Facts about one tool call: names and figures, never task texts. */
export interface ObservedCall {
  /** The toolset of the tool. */
  readonly toolset: string
  /** The tool's name, or `unknown` if the model invented it. */
  readonly tool: string
  /** Length of the list in the input; 0 without one. */
  readonly items: number
  /** Time from the start of the call, or of the wait for its review, to this outcome. */
  readonly duration_ms: number
  /** How the call ended. A waiting call is reported once it is answered. */
  readonly outcome: 'ok' | 'refused' | 'failed'
  /** The edge that received the call. */
  readonly edge: Edge
  /** The conversation of the call. */
  readonly session_id: string
  /** The turn of the call; absent if storage failed before the turn was known. */
  readonly turn_id?: string
  /** The call's id; absent if the host sent none and the call was refused before it got one. */
  readonly tool_call_id?: string
  /** True if the answer is in the log. Outside of Runsheet's own turns, most refusals store no event. */
  readonly stored: boolean
  /** The model's provider, if the host sent it. */
  readonly provider?: string
  /** The model, if the host sent it. */
  readonly model?: string
}

/** Receives observed tool calls. If it throws, the process emits a warning and the call continues. */
export type Observer = (call: ObservedCall) => void

export type Companion = (ref: Ref) => void

/** Options of a tail. */
export interface TailOptions {
  /** Start after this seq; 0 for the whole log. */
  readonly after?: number
  /** Ends the tail. Closing the runsheet ends it too. */
  readonly signal?: AbortSignal
}

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
    this.conversations = conversationsIn(this.store)
    this.search = this.store.search
    this.templates = new Templates(this.store, this)
    this.turns = turnsIn(this.store, checks)
    this.liveText = liveTextIn(this.store)
    this.notices = this.store.notices
    this.tails = new Tails(this.store, this.onError, this.ending.signal)
    if (observe) this.observers.add(observe)
  }
}

/**
 * The only way to the store. Commands are decided on the current state and committed with their events in one
 * transaction; readers get the state, the log, or rows derived from it.
 */
export class Door {
  readonly newId: () => string
  readonly checks: CheckMaker
  readonly conversations: Conversations
  /** Full-text search over the tenant's conversations. Includes everything committed before the call. */
  readonly search: Search
  readonly reviews: Reviews
  readonly templates: Templates
  readonly turns: Turns
  readonly liveText: LiveText
  /** Events to deliver to webhooks; one process at a time takes each. */
  readonly notices: Notices
  readonly #core: Core
  readonly #origin: Origin | undefined

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

  /** Returns a door that records this origin with each decision. For edges. */
  from(origin: Origin): Door {
    return new Door(this.#core, origin)
  }

  /** Runs commands as one commit. Throws the first refusal; then nothing is written. */
  run(at: At, ...commands: readonly Command[]): Promise<Committed<null>> {
    return this.transact(at, transaction => {
      for (const command of commands) transaction.mustRun(command)
      return null
    })
  }

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

  /** Returns the current state of a conversation; empty if it has no events. */
  async read(ref: Ref, need?: 'list'): Promise<Conversation> {
    return this.#core.store.load(checked(ref), need)
  }

  /** Yields the commits after seq `after`, then new ones, without gaps or duplicates, until the signal aborts. */
  tail(ref: Ref, { after = 0, signal }: TailOptions = {}): AsyncIterable<Commit> {
    return this.#core.tails.follow(checked(ref), after, signal)
  }

  /** Yields the current state, then newer ones, until the signal aborts. May skip states. */
  states(ref: Ref, { signal }: { readonly signal?: AbortSignal } = {}): AsyncIterable<Conversation> {
    return this.#core.tails.states(checked(ref), signal)
  }

  /** Yields the text of a running step whenever any process writes it, until the signal aborts. */
  texts(ref: Ref, { signal }: { readonly signal?: AbortSignal } = {}): AsyncIterable<LiveEntry> {
    return this.#core.tails.followText(checked(ref), signal)
  }

  /**
   * Yields a hint whenever any process changes a conversation, until the signal aborts. Hints may be lost or repeated.
   */
  changes(signal: AbortSignal): AsyncIterable<Hint> {
    return this.#core.store.changes(signal)
  }

  /** The store's clock, which leases and deadlines use. */
  now(): Promise<Instant> {
    return this.#core.store.now()
  }

  /** Resolves if a write works; rejects with the reason if not. */
  async ready(): Promise<void> {
    if (this.#core.ending.signal.aborted) throw closed()
    await this.#core.health.ready()
  }

  /**
   * Adds an observer of storage. Reports each failure once until storage recovers, and then the recovery. Returns a
   * function that removes it.
   */
  observeStorage(observer: StorageObserver): () => void {
    return this.#core.health.observe(observer)
  }

  observe(observer: Observer): () => void {
    return added(this.#core.observers, observer)
  }

  /**
   * Adds an observer of committed events, each reported once: those of this process, or with `others` those of every
   * process on the store. Returns a function that removes it.
   */
  observeEvents(observer: EventObserver, { others = false } = {}): () => void {
    const { store, onError, eventObservers, ending } = this.#core
    const observe: EventObserver = (ref, events) => guarded(() => observer(ref, events))
    if (!others) return added(eventObservers, observe)
    const removed = new AbortController()
    void everyCommit(store, observe, onError, AbortSignal.any([removed.signal, ending.signal]))
    return () => removed.abort()
  }

  /**
   * Adds a companion, called for each commit without a lease that is about to be written. Its own commits to the same
   * conversation, if made synchronously, share the flush. Returns a function that removes it.
   */
  accompany(companion: Companion): () => void {
    return added(this.#core.companions, companion)
  }

  observed(call: ObservedCall): void {
    for (const observer of this.#core.observers) guarded(() => observer(call))
  }

  /** Declares that this process serves the page, where a person can decide reviews. */
  servesPage(): void {
    this.#core.hasPage = true
  }

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
      // The person who reopened a review also decides it.
      if (event.type === 'task_create_review_required' && event.data.reopens === undefined) {
        onReviewOpened({ tenant, conversation }, event.data.review_id)
      }
    }
  }

  /** Deadlines set by this process are met on time; the regular sweep finds those of other processes. */
  #noteDeadline({ events, conversation }: Committed<unknown>): void {
    const last = events.at(-1)
    if (!last || conversation.pending_reviews.length === 0) return
    const next = nextDeadline(conversation)
    if (next) this.#core.deadlines?.within(Date.parse(next) - Date.parse(last.timestamp))
  }
}

function added<T>(set: Set<T>, member: T): () => void {
  set.add(member)
  return () => void set.delete(member)
}

/** An observer's error must not fail the observed call. */
function guarded(observe: () => void): void {
  try {
    observe()
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error))
  }
}
