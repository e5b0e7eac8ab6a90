import type { Conversation } from './conversation.ts'
import type { StoredEvent } from './event.ts'

/** The reason an event cannot be next in a log with this state; undefined if it can. Its form is validated elsewhere. */
export function eventProblem(state: Conversation, event: StoredEvent): string | undefined {
  if (event.session_id !== state.session_id) return `session_id is not ${state.session_id}`
  if (event.seq !== state.seq + 1) return `seq is ${event.seq}, expected ${state.seq + 1}`
  if (state.updated_at !== null && event.timestamp < state.updated_at)
    return 'timestamp is before that of the last event'
  return undefined
}
