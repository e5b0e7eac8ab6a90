import type { EventType, StoredEvent } from '../domain/event.ts'
import type { SessionList } from '../domain/session-list.ts'
import type { ConversationSummary, LiveText, Page, Paged, Ref } from '../store/store.ts'
import { checked } from './check-ids.ts'
import type { Seam } from './seam.ts'

export interface EventFilter {
  readonly types?: readonly EventType[] | undefined
  readonly task?: string | undefined
  readonly last?: number | undefined
}

export class Conversations {
  readonly #store: Seam

  constructor(store: Seam) {
    this.#store = store
  }

  list(tenant: string, page: Page, list?: SessionList): Promise<Paged<ConversationSummary>> {
    return this.#store.queries.conversations(tenant, page, list)
  }

  summaries(tenant: string, conversations: readonly string[]): Promise<readonly ConversationSummary[]> {
    return this.#store.queries.summaries(tenant, conversations)
  }

  async summary(ref: Ref): Promise<ConversationSummary | undefined> {
    return this.#store.queries.conversation(checked(ref))
  }

  async events(ref: Ref, filter: EventFilter): Promise<readonly StoredEvent[]> {
    return this.#store.queries.events(checked(ref), filter)
  }

  /** Returns up to `limit` events after `seq`, in log order. `maxBytes` limits the page, but one event always fits. */
  async eventsAfter(ref: Ref, seq: number, limit: number, maxBytes?: number): Promise<readonly StoredEvent[]> {
    return this.#store.eventsAfter(checked(ref), seq, limit, maxBytes)
  }
}

/** The text of running steps: overwritten as it grows, never part of the log. */
export const liveTextIn = ({ live }: Seam): LiveText => ({
  write: async (ref, entry) => live.write(checked(ref), entry),
  read: async ref => live.read(checked(ref)),
  clear: async ref => live.clear(checked(ref)),
})
