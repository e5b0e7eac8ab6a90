import type { EventType, StoredEvent } from '../domain/event.ts'
import type { SessionList } from '../domain/session-list.ts'
import type { ConversationSummary, LiveText, Page, Paged, Ref } from '../store/store.ts'
import { checked } from './check-ids.ts'
import type { Seam } from './seam.ts'

/** Selects events of a log; an absent field matches everything. */
export interface EventFilter {
  /** Only events of these types. */
  readonly types?: readonly EventType[] | undefined
  /** Only events about the task with this id. */
  readonly task?: string | undefined
  /** Only the newest of the matching events, this many. */
  readonly last?: number | undefined
}

/** Conversations and their logs. */
export class Conversations {
  readonly #store: Seam

  constructor(store: Seam) {
    this.#store = store
  }

  /** A page of one of the tenant's lists of conversations, newest first; `active` unless told. */
  list(tenant: string, page: Page, list?: SessionList): Promise<Paged<ConversationSummary>> {
    return this.#store.queries.conversations(tenant, page, list)
  }

  /** Those of these that exist, in any order. */
  summaries(tenant: string, conversations: readonly string[]): Promise<readonly ConversationSummary[]> {
    return this.#store.queries.summaries(tenant, conversations)
  }

  /** One conversation as the list shows it, or undefined if it does not exist. */
  async summary(ref: Ref): Promise<ConversationSummary | undefined> {
    return this.#store.queries.conversation(checked(ref))
  }

  /** The events that match the filter, in log order. */
  async events(ref: Ref, filter: EventFilter): Promise<readonly StoredEvent[]> {
    return this.#store.queries.events(checked(ref), filter)
  }

  /** Up to `limit` events after `seq`, in log order; with `maxBytes` no more than fit, but at least one. */
  async eventsAfter(ref: Ref, seq: number, limit: number, maxBytes?: number): Promise<readonly StoredEvent[]> {
    return this.#store.eventsAfter(checked(ref), seq, limit, maxBytes)
  }
}

/** The text of running steps: replaced as it grows, never part of the log. */
export const liveTextIn = ({ live }: Seam): LiveText => ({
  write: async (ref, entry) => live.write(checked(ref), entry),
  read: async ref => live.read(checked(ref)),
  clear: async ref => live.clear(checked(ref)),
})
