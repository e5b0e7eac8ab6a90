import type { Instant } from './instant.ts'
import type { Policy } from './policy.ts'
import type { TaskStatus } from './task.ts'

/** `open` is a turn that an agent elsewhere works in; only a `running` one is driven, and finished, here. */
export type TurnStatus = 'open' | 'running' | 'done' | 'incomplete' | 'failed' | 'stopped'

/** How a run came to its end: what the finaliser was told, before the rules say what it amounts to. */
export type Ending = 'answered' | 'exhausted' | 'failed' | 'stopped'

export interface Turn {
  readonly id: string
  readonly status: TurnStatus
  readonly stop_requested: boolean
  readonly started_at: Instant
  /** Tasks of its plan that were removed: they leave the list, but a finished turn still counts them. */
  readonly removed: number
}

/** The tasks of a plan by what became of them. */
export interface PlanCounts {
  readonly completed: number
  readonly blocked: number
  readonly cancelled: number
  readonly removed: number
  readonly open: number
}

/** Under which name a task of a plan is counted. */
export const COUNTED: Record<TaskStatus, keyof PlanCounts> = {
  pending: 'open',
  in_progress: 'open',
  completed: 'completed',
  blocked: 'blocked',
  cancelled: 'cancelled',
}

/** Done means done: an answer, and nothing open or blocked, wherever a judge or a gate watches over the plan. */
export function finalStatus(ending: Ending, counts: PlanCounts, policy: Policy): TurnStatus {
  if (ending === 'failed' || ending === 'stopped') return ending
  if (ending === 'exhausted') return 'incomplete'
  const planCounts = policy.assessor || policy.gate
  return planCounts && counts.open + counts.blocked > 0 ? 'incomplete' : 'done'
}

export const isRunning = (turn: Turn): boolean => turn.status === 'running'
export const isFinished = (turn: Turn): boolean => turn.status !== 'running' && turn.status !== 'open'
