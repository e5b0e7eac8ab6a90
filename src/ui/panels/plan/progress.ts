import { openTasks } from '../../../core/model/conversation.ts'
import type { LimitedTurns } from '../../../core/views/view.ts'
import { planOf, tasksOf } from '../../../core/model/plan.ts'
import type { ConversationSnapshot } from '../../../core/model/snapshot.ts'
import { captures } from '../../../core/model/policy.ts'
import { isOpen, type Task } from '../../../core/model/task.ts'
import { isSettledElsewhere, type PlanTally, tallyOf } from '../../../core/views/tally.ts'
import { isFinished, type Turn, type TurnStatus } from '../../../core/model/turn.ts'
import type { Standing } from '../../../core/proof/standing.ts'
import type { Strings } from '../texts/strings.ts'

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

/** Such as "All 5 steps done · 3 proven, 2 on the agent's word" or "3 done, 2 blocked, 1 cancelled". */
export function tallyWords(tally: PlanTally, strings: Strings): string {
  const { total, done, open, standings } = tally
  const { list } = strings.timeline
  // If nothing is proven, the summary omits standings; the steps show them.
  const proof = standings?.proven ? [list(standingWords(standings, strings))] : []
  if (done === total) return [strings.allDone(total), ...proof].join(' · ')
  const parts = [
    ...(done > 0 ? [strings.doneSteps(done)] : []),
    ...notDoneWords(tally, strings),
    ...(open > 0 ? [strings.leftSteps(open)] : []),
  ]
  return [list(parts), ...proof].join(' · ')
}

/** Such as "2 blocked" or "1 cancelled". */
export const notDoneWords = (
  { disputed, blocked, cancelled }: Pick<PlanTally, 'disputed' | 'blocked' | 'cancelled'>,
  strings: Strings,
): readonly string[] => [
  ...(disputed > 0 ? [strings.disputed(disputed)] : []),
  ...(blocked > 0 ? [strings.blocked(blocked)] : []),
  ...(cancelled > 0 ? [strings.cancelled(cancelled)] : []),
]

/** True if every task is done or cancelled and the turn ended well. */
export const isDoneWith = ({ total, done, cancelled }: PlanTally, status: TurnStatus): boolean =>
  done === total || (done > 0 && done + cancelled === total && status !== 'incomplete')

/** Such as "3 proven" or "2 on the agent's word". */
export function standingWords(
  standings: Readonly<Record<Standing, number>>,
  { checks: { standingCount } }: Strings,
): readonly string[] {
  return (Object.keys(standingCount) as Standing[]).flatMap(standing =>
    standings[standing] > 0 ? standingCount[standing](standings[standing]) : [],
  )
}
