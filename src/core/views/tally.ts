import type { Reading } from '../model/conversation.ts'
import type { Proofs } from '../proof/proof.ts'
import { standingsOf, type Standing } from '../proof/standing.ts'
import { valueIn } from '../model/table.ts'
import type { Task, TaskStatus } from '../model/task.ts'
import { countedAs, type PlanCounts, type Turn } from '../model/turn.ts'
import type { DisputeEnd } from '../proof/dispute.ts'
import type { Instant } from '../model/instant.ts'

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

// The words of documents that people keep or paste elsewhere: receipts and exported conversations.

export const STANDING_WORDS: Record<Standing, string> = {
  proven: 'proven',
  confirmed: 'confirmed by a person',
  judged: 'judged',
  reported: "on the agent's word",
}

const STATUS_WORDS: Record<TaskStatus, string> = {
  pending: 'open',
  in_progress: 'open',
  completed: 'done',
  blocked: 'blocked',
  cancelled: 'cancelled',
}

export const statusWord = (status: TaskStatus, isDisputed: boolean): string =>
  isDisputed ? NOT_DONE_WORDS.disputed : STATUS_WORDS[status]

/** How a dispute ended, to be followed by its author. */
export const DISPUTE_ENDS: Record<DisputeEnd, string> = {
  changed: 'what it asks for was changed',
  settled: 'settled as it was',
  insisted: 'insisted on',
  withdrawn: 'withdrawn',
}

/** "5 of 8 done: 3 proven, 2 judged; 1 blocked, 2 cancelled". */
export function doneWords({ done, total, standings, ...counts }: PlanTally): string {
  const how = countWords(STANDING_WORDS, standings)
  const others = countWords(NOT_DONE_WORDS, counts)
  return `${done} of ${total} done${how && `: ${how}`}${others && `; ${others}`}`
}

export const NOT_DONE_WORDS = {
  disputed: 'disputed',
  blocked: STATUS_WORDS.blocked,
  cancelled: STATUS_WORDS.cancelled,
} as const

/** Lists the counts above zero: "3 proven, 2 judged". */
export const countWords = <K extends string>(
  words: Readonly<Record<K, string>>,
  counts: NoInfer<Readonly<Record<K, number>>> | undefined,
): string =>
  (Object.keys(words) as K[])
    .flatMap(each => (counts && counts[each] > 0 ? `${counts[each]} ${words[each]}` : []))
    .join(', ')

export const when = (at: Instant): string => `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`

export const seconds = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`)
