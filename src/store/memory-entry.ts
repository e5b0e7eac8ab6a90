import { type Conversation, emptyConversation } from '../domain/conversation.ts'
import type { StoredEvent } from '../domain/event.ts'
import type { Need } from '../domain/needs.ts'
import { markOf } from '../domain/session-list.ts'
import type { ReviewRow, TaskRow, TurnRow } from './rows.ts'
import type { IndexedDocument, Loaded } from './search.ts'
import type { KeyRow } from './stage.ts'
import type { ConversationSummary, LiveEntry, Ref } from './store.ts'

export interface TurnLease extends TurnRow {
  readonly attempt: number
  /** When the lease is over, in elapsed milliseconds; null without one. */
  readonly until: number | null
  /** The need that the lease was claimed for. */
  readonly serves: Need | null
}

/** All that is stored of one conversation. */
export class Entry {
  readonly ref: Ref
  state: Conversation
  title: string | null = null
  readonly events: StoredEvent[] = []
  readonly keys = new Map<string, KeyRow>()
  readonly tasks = new Map<string, TaskRow>()
  readonly turns = new Map<string, TurnLease>()
  readonly reviews = new Map<string, ReviewRow>()
  live: LiveEntry | undefined

  constructor(ref: Ref) {
    this.ref = ref
    this.state = emptyConversation(ref.conversation)
  }
}

export const summaryOf = ({ state, title }: Entry): ConversationSummary => ({
  session_id: state.session_id,
  title,
  seq: state.seq,
  created_at: state.created_at ?? '',
  updated_at: state.updated_at ?? '',
  active_at: state.active_at ?? state.created_at ?? '',
  pinned: state.pinned,
  archived: state.archived,
  mark: markOf(state),
})

/** What a document of the conversation is about. */
export function loaded(entry: Entry, { kind, ref, seq }: IndexedDocument): Loaded {
  const session = summaryOf(entry)
  if (kind === 'conversation') return { session }
  return kind === 'task' ? { session, task: entry.tasks.get(ref)?.body } : { session, event: entry.events[seq - 1] }
}
