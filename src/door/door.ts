import type { CheckMaker } from './checks.ts'
import type { EventObserver } from './every-commit.ts'
import type { Service } from './service-watch.ts'
import type { StorageObserver } from './storage-health.ts'
import { StoreDoor } from './store-door.ts'
import type { Transaction } from './transaction.ts'
import type { Command } from '../domain/command.ts'
import type { Conversation } from '../domain/conversation.ts'
import type { DecisionVia, Edge, EventType, StoredEvent } from '../domain/event.ts'
import type { Instant } from '../domain/instant.ts'
import type { Need } from '../domain/needs.ts'
import type { Origin } from '../domain/origin.ts'
import type { ReviewRequest } from '../domain/review.ts'
import type { SessionList } from '../domain/session-list.ts'
import type { Template } from '../domain/template.ts'
import type { SentDecision, SentRow } from '../domain/wire.ts'
import type { Commit } from '../store/commit.ts'
import type { ReviewRecord } from '../store/rows.ts'
import type {
  At,
  ClaimOptions,
  Committed,
  ConversationSummary,
  Hint,
  Lease,
  LiveEntry,
  Notices,
  Page,
  Paged,
  Ref,
  Search,
  Store,
} from '../store/store.ts'

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

/**
 * The door: the only way to the store. Commands are decided on the current state and committed with their events in
 * one transaction; readers get the state, the log, or the rows derived from it.
 */
export interface Door {
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

  /** The same door, for what comes from there: the log records the origin of each decision. For edges. */
  from(origin: Origin): Door
  /** Runs commands as one commit. Throws the refusal if one is refused; then nothing is written. */
  run(at: At, ...commands: readonly Command[]): Promise<Committed<null>>
  /** Runs `work` as one commit: it runs commands, inspects the state between them, and returns the value. */
  transact<T>(at: At, work: (transaction: Transaction) => T): Promise<Committed<T>>
  /** The current state of a conversation; empty if nothing was written yet. */
  read(ref: Ref, need?: 'list'): Promise<Conversation>
  /** Yields the commits after seq `after`, then new ones, until the signal: without gaps or duplicates. */
  tail(ref: Ref, options?: TailOptions): AsyncIterable<Commit>
  /** Yields the text of a running step each time a process writes it, until the signal. */
  texts(ref: Ref, options?: { readonly signal?: AbortSignal }): AsyncIterable<LiveEntry>
  /** Yields a hint whenever any process changes a conversation, until the signal. Hints may be lost or repeated. */
  changes(signal: AbortSignal): AsyncIterable<Hint>

  /** The store's clock, which leases and deadlines go by. */
  now(): Promise<Instant>
  /** Resolves if a write works, rejects with the reason if not. */
  ready(): Promise<void>
  /**
   * Adds an observer of storage: of every failure, whichever call met it, once until storage works again; and of that.
   * Returns a function that removes it.
   */
  observeStorage(observer: StorageObserver): () => void
  /** Adds an observer of tool calls. Returns a function that removes it. */
  observe(observer: Observer): () => void
  /**
   * Adds an observer of committed events, each reported once: those of this process, or with `others` those of every
   * process on the store. Returns a function that removes it.
   */
  observeEvents(observer: EventObserver, options?: { readonly others?: boolean }): () => void
  /**
   * Adds a companion of commits without a lease: it is called when one is on its way, and what it commits to the same
   * conversation at once comes right behind, in the same flush. Returns a function that removes it.
   */
  accompany(companion: Companion): () => void
  /** Reports a tool call to all observers. For the code that performs calls. */
  observed(call: ObservedCall): void
  /** Says that this process serves the page, so that a person can decide reviews there. */
  servesPage(): void
  /** Whether a person can decide reviews on a page of this process. */
  hasPage(): boolean
  /** Ends tails and the deadline timer, finishes commits in flight, and closes the store. */
  close(): Promise<void>
}

/** Where a tail starts and what ends it. */
export interface TailOptions {
  /** The last seq that the caller has; 0 for the whole log. */
  readonly after?: number
  /** Ends the tail. Closing the runsheet ends it, too. */
  readonly signal?: AbortSignal
}

/** Conversations and their logs. */
export interface Conversations {
  /** A page of one of the tenant's lists of conversations, newest first; `active` unless told. */
  list(tenant: string, page: Page, list?: SessionList): Promise<Paged<ConversationSummary>>
  /** Those of these that exist, in any order. */
  summaries(tenant: string, conversations: readonly string[]): Promise<readonly ConversationSummary[]>
  /** One conversation as the list shows it, or undefined if it does not exist. */
  summary(ref: Ref): Promise<ConversationSummary | undefined>
  /** The events that match the filter, in log order. */
  events(ref: Ref, filter: EventFilter): Promise<readonly StoredEvent[]>
  /** Up to `limit` events after `seq`, in log order; with `maxBytes` no more than fit, but at least one. */
  eventsAfter(ref: Ref, seq: number, limit: number, maxBytes?: number): Promise<readonly StoredEvent[]>
}

/** Selects events of a log; an absent field matches everything. */
export interface EventFilter {
  /** Only events of these types. */
  readonly types?: readonly EventType[] | undefined
  /** Only events about the task with this id. */
  readonly task?: string | undefined
  /** Only the newest of the matching events, this many. */
  readonly last?: number | undefined
}

/** A review and the conversation it belongs to. */
export interface LocatedReview extends Ref {
  /** The review with its drafts, and how it ended if it did. */
  readonly record: ReviewRecord
}

/** Reviews. All methods reject with `review_not_found` if the tenant has no such review. */
export interface Reviews {
  /** The review as of now: an overdue one reads as over even before that is written. */
  get(tenant: string, reviewId: string): Promise<LocatedReview>
  /** How many callers in this process wait for a decision. */
  readonly waiters: number
  /** The conversation that the review belongs to. */
  locate(tenant: string, reviewId: string): Promise<Ref>
  /** Decides a review. Repeating the same decision returns the same answer; a different one is refused. */
  decide(tenant: string, reviewId: string, decision: SentDecision, via: DecisionVia): Promise<ReviewRecord>
  /** Decides, and makes the answer in the same commit. `answer` must return JSON; repetitions get it again. */
  decide<T>(
    tenant: string,
    reviewId: string,
    decision: SentDecision,
    via: DecisionVia,
    answer: (conversation: Conversation, record: ReviewRecord) => T,
  ): Promise<T>
  /** Opens a review again that nobody decided, on a person's behalf. Resolves with the new one. */
  reopen(tenant: string, reviewId: string): Promise<ReviewRequest>
  /** Gives a review more time, on a person's behalf: from now `ms`, by default as long as it had at first. */
  extend(tenant: string, reviewId: string, ms?: number): Promise<ReviewRequest>
  /** The id of the review to wait for instead: the one that reopens it, or revises it once that was heard. */
  successorOf(tenant: string, reviewId: string): Promise<string>
  /** Resolves when the review is over, in whichever process. Rejects with the signal's reason if that comes first. */
  await(tenant: string, reviewId: string, signal?: AbortSignal): Promise<ReviewRecord>
  /** Pending reviews by deadline, soonest first, those without one last: of one conversation, or of all. */
  waiting(tenant: string, conversation: string | undefined, page: Page): Promise<Paged<ReviewRequest>>
  /** How many reviews are pending; not counted beyond `most`. */
  waitingCount(tenant: string, most: number): Promise<number>
}

/** Saved batches of rows, by name. */
export interface Templates {
  /** All templates of the tenant, by name. */
  list(tenant: string): Promise<readonly Template[]>
  /** A template, or undefined if none has the name. */
  get(tenant: string, name: string): Promise<Template | undefined>
  /** Validates and saves the rows under the name, replacing what it held. Throws the refusal if a row is invalid. */
  save(tenant: string, name: string, rows: readonly SentRow[]): Promise<Template>
  /** Gives a template another name, unless that is taken. Throws the refusal if the name is invalid. */
  rename(tenant: string, name: string, to: string): Promise<Template | 'unknown' | 'taken'>
  /** Deletes a template. Resolves with false if none has the name. */
  delete(tenant: string, name: string): Promise<boolean>
}

/** Leases: the right to act on a turn. */
export interface Turns {
  /** Claims a turn that needs one of the abilities and has no lease, or the wanted one; undefined if there is none. */
  claim(runner: string, ttlMs: number, options: ClaimOptions): Promise<Lease | undefined>
  /** Whether a lease for this need is held now, by whichever process. */
  served(need: Need): Promise<boolean>
  /** Follows whether a process is alive that does what is needed in this conversation: for who waits for it. */
  watch(ref: Ref): Service
  /** Adds a listener for needs that somebody in this process waits for and no process serves. Returns a function that removes it. */
  onUnserved(listener: (ref: Ref, need: Need) => void): () => void
  /** Extends a lease. Resolves with false if another runner has taken over. */
  renew(lease: Lease, ttlMs: number): Promise<boolean>
  /** Gives a lease back. */
  release(lease: Lease): Promise<void>
  /** Adds a listener for leases that this process gave back. Returns a function that removes it. */
  onRelease(listener: (lease: Lease) => void): () => void
}

/** The text of a running step: replaced as it grows, never part of the log. */
export interface LiveText {
  /** Replaces the text of the conversation's running step. */
  write(ref: Ref, entry: LiveEntry): Promise<void>
  /** The text so far, or undefined if no step is being written. */
  read(ref: Ref): Promise<LiveEntry | undefined>
  /** Removes the text. */
  clear(ref: Ref): Promise<void>
}

/** Opens the door to a store. */
export function openDoor(options: DoorOptions): Door {
  return new StoreDoor(options)
}
