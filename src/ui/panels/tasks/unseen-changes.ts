import type { LiveState } from '../../../client/live-state.ts'
import type { Task } from '../../../core/model/task.ts'

export function isUnseen({ conversation, added, before }: LiveState, task: Task): boolean {
  if ((added[task.id] ?? 0) > conversation.answered_seq) return true
  return Object.entries(before[task.id] ?? {}).some(
    ([field, value]) => JSON.stringify(task[field as keyof Task] ?? null) !== JSON.stringify(value),
  )
}
