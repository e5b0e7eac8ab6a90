import type { Conversation } from '../domain/conversation.ts'
import type { EventType, NewEvent, StoredEvent } from '../domain/event.ts'
import type { Instant } from '../domain/instant.ts'
import type { Need } from '../domain/needs.ts'
import type { ReviewRequest } from '../domain/review.ts'
import type { SearchKind } from '../domain/search.ts'
import type { SessionList, SessionMark } from '../domain/session-list.ts'
import type { Task } from '../domain/task.ts'
import type { Template } from '../domain/template.ts'
import type { SearchAnswer } from '../domain/wire.ts'
import type { Commit } from './commit.ts'
import type { ReviewRecord } from './rows.ts'
import type { Verifiable } from './verify.ts'

/** A tenant's conversation: the primary key of everything. */
export interface Ref {
  readonly tenant: string
  readonly conversation: string
}

/** A conversation's key in maps: no id holds a slash. */
export const refKey = ({ tenant, conversation }: Ref): string => `${tenant}/${conversation}`

/** The tenant of a single-tenant installation. */
export const LOCAL_TENANT = 'local'

/** The right to act on one turn. The next claim gets a higher attempt, which fences this one off. */
export interface Lease extends Ref {
  readonly turn: string
  readonly attempt: number
}

/** What a process can do, and the turn that it wants; any without one. */
export interface ClaimOptions {
  readonly abilities: readonly Need[]
  readonly wanted?: (Ref & { readonly turn: string }) | undefined
}

/** An idempotency key: checked, and stored with the answer, in the same transaction. */
export interface Once {
  readonly key: string
  readonly bodyHash: string
}

/** Where a commit goes, and under which conditions. */
export interface At extends Ref {
  readonly once?: Once | undefined
  readonly lease?: Lease | undefined
}

/** Synchronous and pure: it may run twice, and a throw writes nothing. With `once`, `value` must be JSON. */
export type Decide<T> = (state: Conversation, now: Instant) => Decided<T>

/** Events to commit with the value, or a value alone: `discard` writes nothing and leaves the key unused. */
export type Decided<T> =
  /** `after`: the state after the events, if the caller has folded them already. */
  | { readonly value: T; readonly events: readonly NewEvent[]; readonly after?: Conversation }
  | { readonly value: T; readonly discard: true }

export interface Committed<T> {
  readonly value: T
  /** What this call wrote: empty if it was replayed or discarded. */
  readonly events: readonly StoredEvent[]
  /** The state after this call. */
  readonly conversation: Conversation
  readonly replayed: boolean
}

/** Says that a log or a live text changed, never how: read it to find out. `seq` is the head of the log then. */
export type Hint = Ref & ({ readonly kind: 'log'; readonly seq: number } | { readonly kind: 'text' })

/** Which page of a list: at most `limit` items, after `cursor`. */
export interface Page {
  readonly limit: number
  readonly cursor?: string | undefined
}
/** A page of a list; `next_cursor` is null on the last one. */
export interface Paged<T> {
  readonly items: readonly T[]
  readonly next_cursor: string | null
}

/** A page of what a search found. */
export interface Found<T> extends Paged<T> {
  /** Some of the older texts are not indexed yet. */
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
  /** One of the lists (`domain/session-list.ts`), newest first; `active` unless told. */
  conversations(tenant: string, page: Page, list?: SessionList): Promise<Paged<ConversationSummary>>
  /** Those of these that exist, in any order. */
  summaries(tenant: string, conversations: readonly string[]): Promise<readonly ConversationSummary[]>
  conversation(ref: Ref): Promise<ConversationSummary | undefined>
  review(tenant: string, reviewId: string): Promise<(Ref & { readonly record: ReviewRecord }) | undefined>
  /** Pending reviews of one conversation or of all, by deadline; those without one come last. Cut to `MAX_PAGE_BYTES`. */
  waiting(tenant: string, conversation: string | undefined, page: Page): Promise<Paged<ReviewRequest>>
  /** How many reviews are pending; not counted beyond `most`. */
  waitingCount(tenant: string, most: number): Promise<number>
  /** Events by type or task, in order: what timelines and message lists are made of. `last` keeps the newest only. */
  events(
    ref: Ref,
    filter: { types?: readonly EventType[] | undefined; task?: string | undefined; last?: number | undefined },
  ): Promise<readonly StoredEvent[]>
}

/** What is indexed, by the rules of `domain/search.ts`. It has everything that was committed before the call. */
export interface Search {
  /** Conversations with the words in their title, newest first. */
  conversations(tenant: string, text: string, page: Page): Promise<Found<ConversationSummary>>
  /** Listed tasks of all conversations with the words in title, details and outcome, newest first. */
  tasks(tenant: string, text: string, page: Page): Promise<Found<Task>>
  /** Conversations, tasks and messages, or one kind of them, best first. */
  all(tenant: string, text: string, options: { limit: number; kind?: SearchKind | undefined }): Promise<SearchAnswer>
}

export interface Templates {
  get(tenant: string, name: string): Promise<Template | undefined>
  /** By name. */
  list(tenant: string): Promise<readonly Template[]>
  put(tenant: string, template: Template): Promise<void>
  /** Gives it another name, unless that is taken. */
  rename(tenant: string, name: string, to: string): Promise<'renamed' | 'unknown' | 'taken'>
  /** Whether there was one. */
  delete(tenant: string, name: string): Promise<boolean>
}

/** The text of a running step: overwritten as it grows, not in the log, not flushed. */
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
 * Events to be told to the outside (`domain/notice.ts`): noted by the commit that writes them, and kept until they are
 * settled. Whoever takes one has it alone for a while.
 */
export interface Notices {
  /** Keeps the notices of a tenant for so long from now on. Nobody's are kept that nobody wants. */
  want(tenant: string, forMs: number): Promise<void>
  /** Takes some that are due, those that wait longest first. They fall due again after so long. */
  take(tenant: string, limit: number, forMs: number): Promise<readonly TakenNotice[]>
  /** Drops one that was taken, or puts it off. False if it was taken again since. */
  settle(notice: TakenNotice, retryInMs?: number): Promise<boolean>
  /** How many there are, and how soon one is due. */
  waiting(tenant: string): Promise<{ readonly count: number; readonly dueInMs?: number }>
}
/** The event at `seq`, taken for the `tries`th time. A type, not an interface, so that a database row can be cast to it. */
export type TakenNotice = Ref & { readonly seq: number; readonly tries: number }

/** Where logs live: what every store does. `contract.ts` is the test suite of the rules that every store keeps. */
export interface Store extends Partial<Capabilities> {
  /** Runs `decide` on the current state and commits its events. Resolves once that is durable. */
  commit<T>(at: At, decide: Decide<T>): Promise<Committed<T>>
  /** The clock by which leases end and reviews fall due. */
  now(): Promise<Instant>
  /** `list`: throws where the list has a file that cannot be read. Without it, the log alone is read then. */
  load(ref: Ref, need?: 'list'): Promise<Conversation>
  /** In order; the first one, and further ones while their data has at most `maxBytes` in all, up to `limit`. */
  eventsAfter(ref: Ref, seq: number, limit: number, maxBytes?: number): Promise<readonly StoredEvent[]>
  /** Hints from all processes, until the signal. Listening starts with the call, not with the first `next`. */
  changes(signal: AbortSignal): AsyncIterable<Hint>
  /**
   * Claims a turn that needs one of the abilities and has no lease. Of needs that are exclusive (`domain/needs.ts`) only one
   * lease is held at a time, whichever turn it is on.
   */
  claim(runner: string, ttlMs: number, options: ClaimOptions): Promise<Lease | undefined>
  /** Whether a lease for this need is held, by whichever process. */
  served(need: Need): Promise<boolean>
  renew(lease: Lease, ttlMs: number): Promise<boolean>
  release(lease: Lease): Promise<void>
  /** Overdue reviews that are not resolved yet, by deadline; and the next deadline. */
  due(limit: number): Promise<{ readonly reviews: readonly DueReview[]; readonly next?: Instant }>
  readonly queries: Queries
  /** Proves that writes work, by a small one that no log shows. `room`: also that the disk has space again. */
  probe(options: { readonly room: boolean }): Promise<void>
  /** The file that failures are about, where their error names none. */
  readonly place?: string
  /** Finishes the calls under way, then frees everything. */
  close(): Promise<void>
}

/** What a store may have besides. `door/without.ts` says what is answered where it has not. */
export interface Capabilities {
  readonly search: Search
  readonly templates: Templates
  readonly live: LiveText
  readonly notices: Notices
  /** Writes a whole log as it is, or nothing. Refuses a conversation that has events, and ids that another has. */
  importLog(ref: Ref, commits: Iterable<Commit>): Promise<void>
  /** All that is stored, for `verify`. */
  verifiable(): Verifiable
}

/** A store that has it all, as those have that keep something. */
export type FullStore = Store & Capabilities

export interface DueReview extends Ref {
  readonly review_id: string
}
