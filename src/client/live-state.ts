import { apply, type Conversation, emptyConversation } from '../core/model/conversation.ts'
import type { StoredEvent } from '../core/model/event.ts'
import { type ConversationSnapshot, conversationOf, SNAPSHOT_VERSION, snapshotOf } from '../core/model/snapshot.ts'
import { type View, view } from '../core/views/view.ts'
import type { SnapshotAnswer } from '../core/views/wire.ts'
import { RunsheetError } from './runsheet-error.ts'

/** The state of a live conversation as plain, serialisable data. */
export interface LiveState extends View {
  /** `waiting`: the conversation does not exist yet. `failed`: a retry cannot help; `error` says why. */
  readonly status: 'connecting' | 'live' | 'reconnecting' | 'waiting' | 'failed' | 'closed'
  readonly conversation: ConversationSnapshot
  /** The text of the message that is being streamed. */
  readonly text: { readonly message_id: string; readonly text: string } | null
  /** The end of the running check's output. */
  readonly output: { readonly run_id: string; readonly text: string } | null
  readonly error: RunsheetError | null
}

export type Connection = Pick<LiveState, 'status' | 'text' | 'output' | 'error'>

export interface Folded {
  readonly conversation: Conversation
  readonly view: View
}

/** Copies `view.initial` so that `useConversation` does not load the code that folds events. */
const NOTHING: View = {
  title: null,
  messages: [],
  resolutions: {},
  limited: { turns: [], max_steps: null },
  added: {},
  before: {},
  work: {},
  thread: {},
}

export const emptyFold = (sessionId: string): Folded => ({
  conversation: emptyConversation(sessionId),
  view: NOTHING,
})

export function foldOf(answer: SnapshotAnswer): Folded {
  if (answer.conversation.version !== SNAPSHOT_VERSION) {
    const message = 'The server has another version than this client. Reload the page, or update the package.'
    throw new RunsheetError(426, { code: 'upgrade_required', message })
  }
  return { conversation: conversationOf(answer.conversation), view: answer.view }
}

export const folded = (before: Folded, event: StoredEvent): Folded => ({
  conversation: apply(before.conversation, event),
  view: view.apply(before.view, event),
})

export const liveState = ({ conversation, view }: Folded, connection: Connection): LiveState => ({
  ...view,
  ...connection,
  conversation: shown(conversation),
})

const SHOWN = new WeakMap<Conversation, ConversationSnapshot>()

/** Cached per state, so that streamed text does not change the snapshot. */
function shown(conversation: Conversation): ConversationSnapshot {
  const snapshot = SHOWN.get(conversation) ?? snapshotOf(conversation)
  SHOWN.set(conversation, snapshot)
  return snapshot
}

export const initialState = (sessionId: string, status: LiveState['status'] = 'connecting'): LiveState =>
  liveState(emptyFold(sessionId), { status, text: null, output: null, error: null })
