import type { LiveState } from '../client/live-state.ts'
import type { Task } from '../domain/task.ts'

/** Whether a person added a task, or it differs by a person's changes from what the agent has seen. */
export function isUnseen({ conversation, added, before }: LiveState, task: Task): boolean {
  if ((added[task.id] ?? 0) > conversation.answered_seq) return true
  return Object.entries(before[task.id] ?? {}).some(
    ([field, value]) => JSON.stringify(task[field as keyof Task] ?? null) !== JSON.stringify(value),
  )
}
