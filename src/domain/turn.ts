import type { PlanRuns, RunReason } from './proof.ts'
import type { Check, Workspace } from './check.ts'
import type { Instant } from './instant.ts'
import type { Policy } from './policy.ts'
import type { TaskStatus } from './task.ts'

/**
 * The state of the turn.
 *
 * `open`: an agent elsewhere works in it. `running`: our runner drives it.
 */
export type TurnStatus = 'open' | 'running' | 'done' | 'incomplete' | 'failed' | 'stopped'

/** Why a run ended. */
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

/** A turn as the state of a conversation has it. */
export interface Turn {
  readonly id: string
  readonly status: TurnStatus
  readonly stop_requested: boolean
  readonly started_at: Instant
  /** The model that drives it; absent in a turn of an agent elsewhere. */
  readonly model?: string
  /** The program elsewhere that opened it and its folder. */
  readonly client?: string
  /**
   * The number of tasks that were removed from its plan.
   *
   * They still count when the turn finishes.
   */
  readonly removed: number
  /** How many of the removed tasks a model removed. */
  readonly dropped: number
  /** Run once before its plan ends. */
  readonly done_checks?: readonly Check[]
  /** How often its checks were run before its plan ended. */
  readonly passes?: number
  /** The seq of the newest claim in it. */
  readonly claimed?: number
  /** The seq of its newest record of guarded files. */
  readonly baseline?: number
  /** Hash to the runs, in this turn, of the checks of the whole plan. */
  readonly checked?: Readonly<Record<string, PlanRuns>>
  /** The workspace as the newest run in this turn saw it. */
  readonly looked?: { readonly seq: number; readonly why: RunReason; readonly fingerprint?: string }
  /** How many calls others have reported as evidence. */
  readonly reports?: number
  /** The turn whose open tasks it adopted. */
  readonly continues?: string
  /** Other turns whose open tasks it adopted. */
  readonly adopts?: readonly string[]
  /**
   * Where its checks run.
   *
   * Fixed when it began.
   */
  readonly workspace?: Workspace
  /** Queued messages start the next turn, however it ends. */
  readonly releases_queue?: true
}

/** The tasks of a plan, counted by how they ended. */
export interface PlanCounts {
  readonly completed: number
  readonly blocked: number
  readonly cancelled: number
  readonly removed: number
  readonly open: number
}

/** What a task counts as, by status. */
export const COUNTED: Record<TaskStatus, keyof PlanCounts> = {
  pending: 'open',
  in_progress: 'open',
  completed: 'completed',
  blocked: 'blocked',
  cancelled: 'cancelled',
}

/**
 * `done`: the model answered and, with the assessor or the gate on, no task is open or blocked, nor did a model remove tasks
 * from a plan of which nothing was completed. `dropped` is how many it removed. A plan whose own check fails, of which a check
 * opened a task again, or whose checks have still to run, is never done.
 */
export function finalStatus(
  ending: Ending,
  counts: PlanCounts,
  policy: Policy,
  dropped = 0,
  isUnproven = false,
): TurnStatus {
  if (ending === 'failed' || ending === 'stopped') return ending
  if (ending === 'exhausted') return 'incomplete'
  if (isUnproven) return 'incomplete'
  if (!policy.assessor && !policy.gate) return 'done'
  return counts.open + counts.blocked > 0 || isEmptied(counts, dropped) ? 'incomplete' : 'done'
}

/** Whether a model removed tasks from a plan of which nothing was completed. */
export const isEmptied = ({ completed }: PlanCounts, dropped: number): boolean => dropped > 0 && completed === 0

export const isRunning = (turn: Turn): boolean => turn.status === 'running'
export const isFinished = (turn: Turn): boolean => turn.status !== 'running' && turn.status !== 'open'
