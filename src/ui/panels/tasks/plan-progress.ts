import { openTasks } from '../../../core/model/conversation.ts'
import type { LimitedTurns } from '../../../core/views/view.ts'
import { planOf, tasksOf } from '../../../core/model/plan.ts'
import type { ConversationSnapshot } from '../../../core/model/snapshot.ts'
import { captures } from '../../../core/model/policy.ts'
import { isOpen, type Task } from '../../../core/model/task.ts'
import { isSettledElsewhere, tallyOf } from '../../../core/views/tally.ts'
import { isFinished, type Turn } from '../../../core/model/turn.ts'

/** The number of tasks in view that are done, and of all tasks in view. */
export interface TaskCounts {
  readonly done: number
  readonly total: number
  readonly remaining: number
  readonly blocked: number
  readonly disputed: number
  readonly cancelled: number
}

/** The open tasks of the latest turn after it ended. */
export interface UnfinishedTurn {
  readonly turnId: string
  readonly count: number
  /** A step limit ended the turn. */
  readonly isLimited: boolean
  /** An error ended the turn. */
  readonly hasFailed: boolean
}

/** If several plans have a task in progress, the plan of the running or latest turn counts. */
export function currentTaskOf(state: ConversationSnapshot, tasks: readonly Task[]): Task | undefined {
  const turn = state.running_turn ?? state.latest_turn ?? undefined
  const own = openTasks(state, turn).find(({ status }) => status === 'in_progress')
  return tasks.find(({ id, status }) => (own ? id === own.id : status === 'in_progress'))
}

export function isAgentWorking({ turns, running_turn, latest_turn }: ConversationSnapshot): boolean {
  const turn = turns[running_turn ?? latest_turn ?? '']
  return turn !== undefined && !isFinished(turn) && !turn.stop_requested
}

export function unfinishedTurn(state: ConversationSnapshot, limited: LimitedTurns): UnfinishedTurn | undefined {
  const turn = endedTurn(state)
  const count = turn ? openTasks(state, turn.id).length : 0
  if (!turn || count === 0 || captures(state.policy)) return undefined
  return { turnId: turn.id, count, isLimited: limited.turns.includes(turn.id), hasFailed: turn.status === 'failed' }
}

/** True if the thread shows the end of the latest turn and `tasks` belong to its plan only. */
export function isEnded(state: ConversationSnapshot, tasks: readonly Task[]): boolean {
  const turn = endedTurn(state) ?? settledTurn(state)
  return turn !== undefined && tasks.every(({ plan_id }) => plan_id === turn.plan_id)
}

/** The latest turn, if an external agent has settled its plan and no turn runs. */
function settledTurn(state: ConversationSnapshot): Turn | undefined {
  const turn = state.running_turn === null ? state.turns[state.latest_turn ?? ''] : undefined
  return turn && isSettledElsewhere(state, turn, tallyOf(state, tasksOf(state, planOf(state, turn.id))))
    ? turn
    : undefined
}

function endedTurn({ running_turn, latest_turn, turns }: ConversationSnapshot): Turn | undefined {
  const turn = running_turn === null ? turns[latest_turn ?? ''] : undefined
  return turn && isFinished(turn) ? turn : undefined
}

/** At most `limit` tasks in list order: open and blocked tasks take precedence, then the latest others. */
export function mostRelevant(tasks: readonly Task[], limit: number): readonly Task[] {
  if (tasks.length <= limit) return tasks
  const isActive = (task: Task): boolean => isOpen(task) || task.status === 'blocked'
  const active = tasks.filter(isActive).slice(0, limit)
  const others = tasks.filter(task => !isActive(task))
  const chosen = new Set([...active, ...others.slice(others.length - (limit - active.length))])
  return tasks.filter(task => chosen.has(task))
}
