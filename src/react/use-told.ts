import type { Task } from '../domain/task.ts'
import type { ConversationView } from './use-conversation.ts'

/** Tells of a task whether a person added or changed it and the agent does not know yet. */
export function useTold({ state }: ConversationView): (task: Task) => boolean {
  const { added } = state
  const { edits, answered_seq } = state.conversation
  return ({ id }) => (added[id] ?? 0) > answered_seq || Object.values(edits[id] ?? {}).some(seq => seq > answered_seq)
}
