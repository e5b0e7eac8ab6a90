import type { Instant } from './instant.ts'
import type { Policy } from './policy.ts'
import type { TaskStatus } from './task.ts'

/** An `open` turn belongs to an agent elsewhere; the server drives and finishes `running` ones only. */
export type TurnStatus = 'open' | 'running' | 'done' | 'incomplete' | 'failed' | 'stopped'

/** How a run ended, before `finalStatus` says what that makes of its turn. */
export type Ending = 'answered' | 'exhausted' | 'failed' | 'stopped'

export interface Turn {
  readonly id: string
  readonly status: TurnStatus
  readonly stop_requested: boolean
  readonly started_at: Instant
  /** The number of tasks removed from its plan: they leave the list, and a finished turn still counts them. */
  readonly removed: number
}

/** The number of a plan's tasks by what became of them. */
export interface PlanCounts {
  readonly completed: number
  readonly blocked: number
  readonly cancelled: number
  readonly removed: number
  readonly open: number
}

/** The name that a task is counted under. */
export const COUNTED: Record<TaskStatus, keyof PlanCounts> = {
  pending: 'open',
  in_progress: 'open',
  completed: 'completed',
  blocked: 'blocked',
  cancelled: 'cancelled',
}

/** Where an assessor or a gate is on, a turn is `done` only if nothing is open or blocked. */
export function finalStatus(ending: Ending, counts: PlanCounts, policy: Policy): TurnStatus {
  if (ending === 'failed' || ending === 'stopped') return ending
  if (ending === 'exhausted') return 'incomplete'
  const planCounts = policy.assessor || policy.gate
  return planCounts && counts.open + counts.blocked > 0 ? 'incomplete' : 'done'
}

export const isRunning = (turn: Turn): boolean => turn.status === 'running'
export const isFinished = (turn: Turn): boolean => turn.status !== 'running' && turn.status !== 'open'
