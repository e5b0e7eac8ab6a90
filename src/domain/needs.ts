import type { Workspace } from './check.ts'
import { type Conversation, isParked } from './conversation.ts'
import { planOf } from './plan.ts'
import { nextRun } from './check-runs.ts'
import { settleable } from './open-claims.ts'
import { workspaceOf } from './proof.ts'
import { isRunning } from './turn.ts'

/** Who acts next on a turn. A process claims turns that need what it is able to do. */
export type Need = typeof DRIVE | typeof JUDGE | `drive@${string}` | `check@${string}`

/** Any runner may go on with the turn. */
export const DRIVE = 'drive'
/** Claims of an agent elsewhere wait for the judge. */
export const JUDGE = 'judge'

/** Only a runner that has this workspace may go on with the turn. */
export const driveIn = (key: string): Need => `drive@${key}`

/** Checks wait to be run in this workspace. */
export const checkIn = (key: string): Need => `${CHECK}${key}`

/** A workspace as needs name it. */
export const workspaceKey = ({ machine, path }: Workspace): string => `${machine}:${path}`

/** The workspace that a need names. */
export function workspaceIn(need: Need): Workspace | undefined {
  const [, machine, path] = /^[a-z]+@([^:]*):(.*)$/s.exec(need) ?? []
  return machine === undefined || path === undefined ? undefined : { machine, path }
}

/** Whether it may be served for one turn at a time only. */
export const isExclusive = (need: Need | null): boolean => need?.startsWith(CHECK) ?? false

/** What a turn needs next; null if it waits for a person, or is none of ours. */
export function needsOf(state: Conversation, turnId: string): Need | null {
  const turn = state.turns.get(turnId)
  if (!turn) return null
  const run = nextRun(state, turnId)
  if (run && !(isRunning(turn) && turn.stop_requested)) return runsIn(state, turnId, run.task_id)
  const claims = turn.status === 'open' ? settleable(state, turnId) : []
  const [claim] = claims
  if (claim) return claims.some(({ judge }) => judge) ? JUDGE : runsIn(state, turnId, claim.task_id)
  // Any process may end a turn that is to stop, also one that waits.
  if (!isRunning(turn) || (isParked(state, turnId) && !turn.stop_requested)) return null
  return turn.workspace && !turn.stop_requested ? driveIn(workspaceKey(turn.workspace)) : DRIVE
}

/** Who may run a check of this task, or of the plan itself. */
function runsIn(state: Conversation, turnId: string, taskId: string | undefined): Need | null {
  const task = taskId === undefined ? undefined : state.tasks.get(taskId)
  const workspace = task ? workspaceOf(state, task) : planOf(state, turnId).workspace
  return workspace ? checkIn(workspaceKey(workspace)) : null
}

const CHECK = 'check@'
