import type { Conversation } from '../core/model/conversation.ts'
import type { EventType, NewEvent, StoredEvent } from '../core/model/event.ts'
import type { Instant } from '../core/model/instant.ts'
import type { Need } from '../core/model/needs.ts'
import type { ReviewRequest } from '../core/model/review.ts'
import type { SearchKind } from '../core/text/search.ts'
import type { SessionList, SessionMark } from '../core/views/session-list.ts'
import type { Task } from '../core/model/task.ts'
import type { Template } from '../core/model/template.ts'
import type { SearchAnswer } from '../core/views/wire.ts'
import type { ReviewRecord } from './rows.ts'
import type { Verifiable } from './verify.ts'

/** A tenant's conversation: the primary key of everything. */
export interface Ref {
  readonly tenant: string
  readonly conversation: string
}

/** Unambiguous, since no id contains a slash. */
export const refKey = ({ tenant, conversation }: Ref): string => `${tenant}/${conversation}`

/** The tenant of a single-tenant installation. */
export const LOCAL_TENANT = 'local'

/** The right to act on one turn. The next claim gets a higher attempt, which fences this one off. */
export interface Lease extends Ref {
  readonly turn: string
  readonly attempt: number
}

/** The abilities of a process, and optionally the one turn it wants. */
export interface ClaimOptions {
  readonly abilities: readonly Need[]
  readonly wanted?: (Ref & { readonly turn: string }) | undefined
}

/** An idempotency key: checked and stored with the answer in the same transaction. */
export interface Once {
  readonly key: string
  readonly bodyHash: string
}

/** The target of a commit, and its conditions. */
export interface At extends Ref {
  readonly once?: Once | undefined
  readonly lease?: Lease | undefined
}

/** Must be synchronous and pure: it may run twice, and a throw writes nothing. With `once`, `value` must be JSON. */
export type Decide<T> = (state: Conversation, now: Instant) => Decided<T>

/** Events to commit and a value, or `discard` with only a value: that writes nothing and leaves the key unused. */
export type Decided<T> =
  /** `after`: the state after the events, if the caller has already folded them. */
  | { readonly value: T; readonly events: readonly NewEvent[]; readonly after?: Conversation }
  | { readonly value: T; readonly discard: true }

export interface Committed<T> {
  readonly value: T
  /** The events that this call wrote; empty if it was replayed or discarded. */
  readonly events: readonly StoredEvent[]
  /** The state after this call. */
  readonly conversation: Conversation
  readonly replayed: boolean
}

/** Says that a log or a live text changed, not how: read it to find out. `seq` is the log's head at that time. */
export type Hint = Ref & ({ readonly kind: 'log'; readonly seq: number } | { readonly kind: 'text' })

/** Selects a page of a list: at most `limit` items after `cursor`. */
export interface Page {
  readonly limit: number
  readonly cursor?: string | undefined
}
/** A page of a list; `next_cursor` is null on the last one. */
export interface Paged<T> {
  readonly items: readonly T[]
  readonly next_cursor: string | null
}

/** A page of search results. */
export interface Found<T> extends Paged<T> {
  /** True while some older texts are not indexed yet. */
  readonly indexing?: true
}

/** A type, not an interface, so that a database row can be cast to it. */
export type ConversationSummary = {
  readonly session_id: string
  readonly title: string | null
  readonly seq: number
  readonly created_at: Instant
  readonly updated_at: Instant
  readonly active_at: Instant
  readonly pinned: boolean
  readonly archived: boolean
  readonly mark: SessionMark | null
}

export interface Queries {
  /** One of the lists (`domain/session-list.ts`), newest first. Default: `active`. */
  conversations(tenant: string, page: Page, list?: SessionList): Promise<Paged<ConversationSummary>>
  /** Returns those that exist, in any order. */
  summaries(tenant: string, conversations: readonly string[]): Promise<readonly ConversationSummary[]>
  conversation(ref: Ref): Promise<ConversationSummary | undefined>
  review(tenant: string, reviewId: string): Promise<(Ref & { readonly record: ReviewRecord }) | undefined>
  /** Pending reviews of one conversation or of all, by deadline, those without one last. Cut to `MAX_PAGE_BYTES`. */
  waiting(tenant: string, conversation: string | undefined, page: Page): Promise<Paged<ReviewRequest>>
  waitingCount(tenant: string, most: number): Promise<number>
  /** Events by type or task, in log order, for timelines and message lists. `last` keeps only the newest. */
  events(
    ref: Ref,
    filter: { types?: readonly EventType[] | undefined; task?: string | undefined; last?: number | undefined },
  ): Promise<readonly StoredEvent[]>
}

/** Full-text search by the rules of `domain/search.ts`. Includes everything committed before the call. */
export interface Search {
  /** Conversations with the words in their title, newest first. */
  conversations(tenant: string, text: string, page: Page): Promise<Found<ConversationSummary>>
  tasks(tenant: string, text: string, page: Page): Promise<Found<Task>>
  all(tenant: string, text: string, options: { limit: number; kind?: SearchKind | undefined }): Promise<SearchAnswer>
}

export interface Templates {
  get(tenant: string, name: string): Promise<Template | undefined>
  list(tenant: string): Promise<readonly Template[]>
  put(tenant: string, template: Template): Promise<void>
  rename(tenant: string, name: string, to: string): Promise<'renamed' | 'unknown' | 'taken'>
  /** Resolves with false if there was none. */
  delete(tenant: string, name: string): Promise<boolean>
}

/** The text of running steps: overwritten as it grows, not in the log, not flushed. */
export interface LiveText {
  write(ref: Ref, entry: LiveEntry): Promise<void>
  read(ref: Ref): Promise<LiveEntry | undefined>
  clear(ref: Ref): Promise<void>
}
export interface LiveEntry {
  readonly turn_id: string
  readonly message_id: string
  readonly text: string
}

/**
 * Events to deliver to webhooks (`domain/notice.ts`). The commit that writes an event stores its notice, which stays
 * until settled. Taking a notice reserves it for a while.
 */
export interface Notices {
  /** Subscribes a tenant for `forMs` from now. Notices are stored only for tenants that subscribed. */
  want(tenant: string, forMs: number): Promise<void>
  /** Takes due notices, longest waiting first. They become due again after `forMs`. */
  take(tenant: string, limit: number, forMs: number): Promise<readonly TakenNotice[]>
  /** Deletes a taken notice, or schedules its retry. False if it has been taken again since. */
  settle(notice: TakenNotice, retryInMs?: number): Promise<boolean>
  /** The number of notices, and the time until the next is due. */
  waiting(tenant: string): Promise<{ readonly count: number; readonly dueInMs?: number }>
}
/**
 * The event at `seq`, on delivery attempt `tries`. A type, not an interface, so that a database row can be cast to it.
 */
export type TakenNotice = Ref & { readonly seq: number; readonly tries: number }

/** The storage of logs. `test/store/contract.ts` tests the rules that every store keeps. */
export interface Store extends Partial<Capabilities> {
  /** Runs `decide` on the current state and commits its events. Resolves once they are durable. */
  commit<T>(at: At, decide: Decide<T>): Promise<Committed<T>>
  /** The clock that leases and deadlines use. */
  now(): Promise<Instant>
  /** With `list`, throws if the file of the list cannot be read. Without it, falls back to the log alone. */
  load(ref: Ref, need?: 'list'): Promise<Conversation>
  /** In log order, up to `limit` events and `maxBytes` of data, but at least one. */
  eventsAfter(ref: Ref, seq: number, limit: number, maxBytes?: number): Promise<readonly StoredEvent[]>
  /**
   * Yields hints from all processes until the signal aborts. Starts listening at the call, not at the first `next`.
   */
  changes(signal: AbortSignal): AsyncIterable<Hint>
  /**
   * Claims an unleased turn that needs one of the abilities. An exclusive need (`domain/needs.ts`) has at most one
   * lease at a time, across all turns.
   */
  claim(runner: string, ttlMs: number, options: ClaimOptions): Promise<Lease | undefined>
  /** True if any process holds a lease for this need. */
  served(need: Need): Promise<boolean>
  renew(lease: Lease, ttlMs: number): Promise<boolean>
  release(lease: Lease): Promise<void>
  due(limit: number): Promise<{ readonly reviews: readonly DueReview[]; readonly next?: Instant }>
  readonly queries: Queries
  /**
   * Proves that writes work, with a small write that no log shows. `room` also proves that the disk has space again.
   */
  probe(options: { readonly room: boolean }): Promise<void>
  /** The file to blame for failures whose error names none. */
  readonly place?: string
  close(): Promise<void>
}

/** Optional capabilities of a store. `door/storage-health.ts` has the answers for missing ones. */
export interface Capabilities {
  readonly search: Search
  readonly templates: Templates
  readonly live: LiveText
  readonly notices: Notices
  /**
   * Writes a whole log unchanged, or nothing. Refuses a conversation that has events, and ids that belong to another
   * one.
   */
  importLog(ref: Ref, commits: Iterable<Commit>): Promise<void>
  verifiable(): Verifiable
}

export type FullStore = Store & Capabilities

export interface DueReview extends Ref {
  readonly review_id: string
}

/** Events that were written together, in order. */
export interface Commit {
  /** The seq of its last event: continue reading after it. */
  readonly seq: number
  readonly timestamp: Instant
  readonly events: readonly StoredEvent[]
}

/** Returns whole commits after `after`, about `limit` events in all; empty at the end of the log. */
export async function commitsAfter(
  store: Pick<Store, 'eventsAfter'>,
  ref: Ref,
  after: number,
  limit: number,
): Promise<readonly Commit[]> {
  const events = await store.eventsAfter(ref, after, limit)
  const commits = commitsOf(events)
  if (events.length < limit) return commits
  // The page may end inside the last commit.
  if (commits.length > 1) return commits.slice(0, -1)
  return commitsAfter(store, ref, after, limit * 2)
}

export function commitOf(events: readonly StoredEvent[]): Commit {
  const last = events.at(-1)
  if (!last) throw new TypeError('a commit has at least one event')
  return { seq: last.seq, timestamp: last.timestamp, events }
}

export const eventsOf = (commits: readonly Commit[]): StoredEvent[] => commits.flatMap(({ events }) => events)

/** Stores give each commit of a conversation a distinct timestamp [EV5], so the timestamp identifies the commit. */
const commitsOf = (events: readonly StoredEvent[]): Commit[] =>
  [...Map.groupBy(events, ({ timestamp }) => timestamp).values()].map(commitOf)
