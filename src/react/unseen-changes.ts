import type { LiveState } from '../client/live-state.ts'
import type { Task } from '../domain/task.ts'

/** Whether a person added or changed a task and the agent has not seen it yet. */
export function isUnseen({ conversation, added }: LiveState, { id }: Task): boolean {
  const { edits, answered_seq } = conversation
  return [added[id] ?? 0, ...Object.values(edits[id] ?? {})].some(seq => seq > answered_seq)
}
