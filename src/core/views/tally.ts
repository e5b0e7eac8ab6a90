import type { Reading } from '../model/conversation.ts'
import type { Proofs } from '../proof/proof.ts'
import { type Standing, standingsOf } from '../proof/standing.ts'
import { valueIn } from '../model/table.ts'
import type { Task } from '../model/task.ts'
import { countedAs, type PlanCounts, type Turn } from '../model/turn.ts'

/** Counts of a plan's tasks. */
export interface PlanTally {
  readonly total: number
  readonly done: number
  readonly blocked: number
  /** Disputed by the agent: they wait for a person, and are not counted as blocked. */
  readonly disputed: number
  readonly cancelled: number
  readonly open: number
  /** The completed tasks by standing; undefined if unknown. */
  readonly standings: Readonly<Record<Standing, number>> | undefined
}

/** The same for documents: `of` is the total. */
export interface PlanCount extends Omit<PlanTally, 'total' | 'standings'> {
  readonly of: number
  readonly standings: Readonly<Record<Standing, number>>
}

export function planCount(state: Proofs, tasks: readonly Task[]): PlanCount {
  const { total: of, ...counts } = countTasks(tasks)
  return { ...counts, of, standings: standingsOf(state, tasks) }
}

type TaskTally = Omit<PlanTally, 'standings'>

export function countTasks(tasks: readonly Task[]): TaskTally {
  const counts = { completed: 0, blocked: 0, disputed: 0, cancelled: 0, open: 0 }
  for (const task of tasks) counts[countedAs(task)] += 1
  return tallied(counts)
}

/** The current counts of a plan's tasks; undefined without any. */
export const tallyOf = (state: Proofs, tasks: readonly Task[]): PlanTally | undefined =>
  tasks.length === 0 ? undefined : { ...countTasks(tasks), standings: standingsOf(state, tasks) }

export const tallied = ({
  completed: done,
  blocked,
  disputed,
  cancelled,
  open,
}: Omit<PlanCounts, 'removed'>): TaskTally => ({
  total: done + blocked + disputed + cancelled + open,
  done,
  blocked,
  disputed,
  cancelled,
  open,
})

/** True if the plan of an agent elsewhere has nothing open and no review waits. */
export function isSettledElsewhere(
  { pending_reviews, reviews }: Reading<'pending_reviews' | 'reviews'>,
  { id, status }: Turn,
  tally: PlanTally | undefined,
): boolean {
  const waits = pending_reviews.some(review => valueIn(reviews, review)?.conversation_turn_id === id)
  return status === 'open' && tally !== undefined && tally.open === 0 && !waits
}
