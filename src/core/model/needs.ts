import type { Workspace } from '../proof/check.ts'
import { isParked, type Conversation } from './conversation.ts'
import { planOf } from './plan.ts'
import { nextRun } from '../proof/check-runs.ts'
import { settleable } from '../proof/claims.ts'
import { workspaceOf } from '../proof/proof.ts'
import { isRunning } from './turn.ts'

/** The next need of a turn. Workers claim turns by the needs that they can serve. */
export type Need = typeof DRIVE | typeof JUDGE | `drive@${string}` | `check@${string}`

/** Any process with models may drive the turn. */
export const DRIVE = 'drive'
/** Claims of an agent elsewhere wait for the judge. */
export const JUDGE = 'judge'

/** Only a process with this workspace may drive the turn. */
export const driveIn = (key: string): Need => `drive@${key}`

/** Checks wait to run in this workspace. */
export const checkIn = (key: string): Need => `${CHECK}${key}`

export const workspaceKey = ({ machine, path }: Workspace): string => `${machine}:${path}`

export function workspaceIn(need: Need): Workspace | undefined {
  const [, machine, path] = /^[a-z]+@([^:]*):(.*)$/s.exec(need) ?? []
  return machine === undefined || path === undefined ? undefined : { machine, path }
}

/** True if only one turn at a time may be leased for this need. */
export const isExclusive = (need: Need | null): boolean => need?.startsWith(CHECK) ?? false

/** Null if the turn waits for a person, or is not ours. */
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

function runsIn(state: Conversation, turnId: string, taskId: string | undefined): Need | null {
  const task = taskId === undefined ? undefined : state.tasks.get(taskId)
  const workspace = task ? workspaceOf(state, task) : planOf(state, turnId).workspace
  return workspace ? checkIn(workspaceKey(workspace)) : null
}

const CHECK = 'check@'
