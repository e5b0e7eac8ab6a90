import { defined } from '../model/defined.ts'
import type { Conversation } from '../model/conversation.ts'
import type { Json, StoredEvent } from '../model/event.ts'
import type { TaskProof } from '../proof/proof.ts'
import { changePlan } from '../proof/proof-log.ts'
import type { Table } from '../model/table.ts'
import type { Task } from '../model/task.ts'

/** A task that a person removed, with the state needed to restore it. */
export interface RemovedTask {
  readonly task: Task
  /** The seq of its removal. */
  readonly seq: number
  readonly proof?: TaskProof
  readonly rejections?: number
}

/** Removed tasks that can be restored: the newest. */
export const MAX_REMOVED = 50

export const isBack = (from: { readonly [field: string]: Json }): boolean => Object.hasOwn(from, 'removed_at')

export function withRemoved(state: Conversation, { data, seq }: StoredEvent<'task_removed'>): Table<RemovedTask> {
  const { task, by } = data
  if (by !== 'person') return state.removed
  const known = defined({ proof: state.proof.get(task.id), rejections: state.rejections.get(task.id) })
  const removed = state.removed.with(task.id, { task, seq, ...known })
  if (removed.size <= MAX_REMOVED) return removed
  const [oldest] = [...removed.values()].sort((a, b) => a.seq - b.seq)
  return oldest ? removed.without(oldest.task.id) : removed
}

export function broughtBack(state: Conversation, { id, plan_id }: Task): Partial<Conversation> {
  const gone = state.removed.get(id)
  if (!gone) return {}
  const { proof, rejections } = gone
  const put = <V>(table: Table<V>, value: V | undefined): Table<V> =>
    value === undefined ? table : table.with(id, value)
  return {
    removed: state.removed.without(id),
    proof: put(state.proof, proof),
    rejections: put(state.rejections, rejections),
    ...changePlan(state, plan_id, ({ counts }) => ({ counts: { ...counts, removed: counts.removed - 1 } })),
  }
}
