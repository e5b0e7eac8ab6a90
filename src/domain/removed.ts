import type { Conversation } from './conversation.ts'
import type { Json, StoredEvent } from './event.ts'
import { planTurnOf } from './lineage.ts'
import type { TaskProof } from './proof.ts'
import { changeTurn } from './proof-log.ts'
import type { Table } from './table.ts'
import type { Task } from './task.ts'

/** A task that a person removed, with what the state knew of it: it can be brought back as it was. */
export interface RemovedTask {
  readonly task: Task
  /** The seq of its removal. */
  readonly seq: number
  /** The turn that had taken it over. */
  readonly adopted?: string
  /** The turn of this server that had. */
  readonly held?: string
  readonly proof?: TaskProof
  readonly rejections?: number
}

/** How many removed tasks can be brought back: the newest. */
export const MAX_REMOVED = 50

/** Whether a change brought a removed task back. */
export const isBack = (from: { readonly [field: string]: Json }): boolean => Object.hasOwn(from, 'removed_at')

/** The removed tasks, with the one that a person removed now. */
export function withRemoved(state: Conversation, { data, seq }: StoredEvent<'task_removed'>): Table<RemovedTask> {
  const { task, by } = data
  if (by !== 'person') return state.removed
  const known = {
    adopted: state.adopted.get(task.id),
    held: state.held.get(task.id),
    proof: state.proof.get(task.id),
    rejections: state.rejections.get(task.id),
  }
  const set = Object.entries(known).filter(([, value]) => value !== undefined)
  const removed = state.removed.with(task.id, { task, seq, ...(Object.fromEntries(set) as Partial<RemovedTask>) })
  if (removed.size <= MAX_REMOVED) return removed
  const [oldest] = [...removed.values()].sort((a, b) => a.seq - b.seq)
  return oldest ? removed.without(oldest.task.id) : removed
}

/** What else the state knows again of a task that was brought back. */
export function broughtBack(state: Conversation, { id }: Task): Partial<Conversation> {
  const gone = state.removed.get(id)
  if (!gone) return {}
  const { adopted, held, proof, rejections, task } = gone
  const put = <V>(table: Table<V>, value: V | undefined): Table<V> =>
    value === undefined ? table : table.with(id, value)
  const after = { ...state, adopted: put(state.adopted, adopted) }
  return {
    removed: state.removed.without(id),
    adopted: after.adopted,
    held: put(state.held, held),
    proof: put(state.proof, proof),
    rejections: put(state.rejections, rejections),
    ...changeTurn(state, planTurnOf(after, task), turn => ({ removed: turn.removed - 1 })),
  }
}
