import type { SeenWorkspace } from '../domain/command.ts'
import { hasFinalRuns } from '../domain/decide/final-runs.ts'
import { namedFiles } from '../domain/check-runs.ts'
import { planOf } from '../domain/plan.ts'
import { workspaceKey } from '../domain/needs.ts'
import type { TurnDeps } from './drive.ts'
import type { ActiveTurn } from './turn.ts'

/** The workspace of the turn's plan, if this process has it. */
export async function look(
  { run: { state, turn } }: ActiveTurn,
  { workspaces }: TurnDeps,
): Promise<SeenWorkspace | undefined> {
  const plan = planOf(state, turn)
  const { workspace } = plan
  if (!workspace || !workspaces?.keys.includes(workspaceKey(workspace)) || !hasFinalRuns(state, plan)) return undefined
  return { fingerprint: await workspaces.fingerprint(workspace, namedFiles(state)) }
}

/**
 * Asks for another run of the checks that the workspace has changed under. Whether there are any. Without the workspace,
 * another process that has it makes them.
 */
export async function recheck(turn: ActiveTurn, { door }: TurnDeps, seen: SeenWorkspace = {}): Promise<boolean> {
  const { state, turn: turn_id, steps } = turn.run
  const plan = planOf(state, turn_id)
  if (!hasFinalRuns(state, plan)) return false
  const key = `recheck:${steps.length}:${plan.passes}`
  const { events } = await door.run(turn.at(key), { type: 'request_final', turn_id, ...seen })
  return events.length > 0
}
