import type { Workspace } from '../proof/check.ts'
import { isDisputed } from '../proof/dispute.ts'
import type { Instant } from './instant.ts'
import type { Policy } from './policy.ts'
import type { Task, TaskStatus } from './task.ts'

/**
 * The status of a turn.
 *
 * `open`: an agent elsewhere works in it. `running`: our worker drives it.
 */
export type TurnStatus = 'open' | 'running' | 'done' | 'incomplete' | 'failed' | 'stopped'

/** The reason a run ended. */
export type EndReason =
  | 'answered'
  | 'budget'
  | 'gate'
  | 'limit'
  | 'unjudged'
  | 'unchecked'
  | 'repeats'
  | 'rejected'
  | 'empty'
  | 'stopped'
  | 'error'

export type Ending = 'answered' | 'exhausted' | 'failed' | 'stopped'

export const ENDINGS: Record<EndReason, Ending> = {
  answered: 'answered',
  gate: 'answered',
  budget: 'exhausted',
  limit: 'exhausted',
  unjudged: 'exhausted',
  unchecked: 'exhausted',
  repeats: 'exhausted',
  rejected: 'exhausted',
  empty: 'failed',
  error: 'failed',
  stopped: 'stopped',
}

/** A turn in the state of a conversation. */
export interface Turn {
  readonly id: string
  /** The plan that it works on: the id of the turn that began it. */
  readonly plan_id: string
  readonly status: TurnStatus
  readonly stop_requested: boolean
  readonly started_at: Instant
  /** The model that drives it; absent in a turn of an agent elsewhere. */
  readonly model?: string
  /** The program elsewhere that opened it and its folder. */
  readonly client?: string
  /** The number of calls that others have reported as evidence. */
  readonly reports?: number
  /**
   * The workspace that its checks run in.
   *
   * Fixed at its start.
   */
  readonly workspace?: Workspace
  /** Queued messages start the next turn, however this one ends. */
  readonly releases_queue?: true
}

/** The tasks of a plan, counted by how they ended. */
export interface PlanCounts {
  readonly completed: number
  readonly blocked: number
  /** Blocked by a dispute that waits for a person; not counted as blocked. */
  readonly disputed: number
  readonly cancelled: number
  readonly removed: number
  readonly open: number
}

type Counted = Exclude<keyof PlanCounts, 'removed'>

const COUNTED: Record<TaskStatus, Counted> = {
  pending: 'open',
  in_progress: 'open',
  completed: 'completed',
  blocked: 'blocked',
  cancelled: 'cancelled',
}

export const countedAs = (task: Pick<Task, 'status' | 'dispute'>): Counted =>
  isDisputed(task) ? 'disputed' : COUNTED[task.status]

/**
 * `done`: the model answered and, with the judge or the gate on, no task of the whole plan is open or blocked, and no
 * model removed or cancelled tasks (`givenUp`) of a plan without a completed one. A plan with a failed or pending check
 * is never done (`isUnproven`), nor is one with a dispute that waits.
 */
export function finalStatus(
  ending: Ending,
  counts: PlanCounts,
  policy: Policy,
  givenUp = 0,
  isUnproven = false,
): TurnStatus {
  if (ending === 'failed' || ending === 'stopped') return ending
  if (ending === 'exhausted') return 'incomplete'
  if (isUnproven || counts.disputed > 0) return 'incomplete'
  if (!policy.assessor && !policy.gate) return 'done'
  return counts.open + counts.blocked > 0 || isEmptied(counts, givenUp) ? 'incomplete' : 'done'
}

/** True if a model removed or cancelled tasks of a plan without a completed one. */
export const isEmptied = ({ completed }: PlanCounts, givenUp: number): boolean => givenUp > 0 && completed === 0

export const isRunning = (turn: Turn): boolean => turn.status === 'running'
export const isFinished = (turn: Turn): boolean => turn.status !== 'running' && turn.status !== 'open'
