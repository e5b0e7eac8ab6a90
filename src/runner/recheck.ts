import type { SeenWorkspace } from '../domain/command.ts'
import { hasFinalRuns } from '../domain/decide/final-runs.ts'
import { namedFiles } from '../domain/check-runs.ts'
import { homeOf } from '../domain/lineage.ts'
import { workspaceKey } from '../domain/needs.ts'
import type { TurnDeps } from './drive.ts'
import type { ActiveTurn } from './turn.ts'

/** The workspace of the turn's plan, if this process has it. */
export async function look(
  { run: { state, turn } }: ActiveTurn,
  { workspaces }: TurnDeps,
): Promise<SeenWorkspace | undefined> {
  const workspace = homeOf(state, turn)?.workspace
  if (!workspace || !workspaces?.keys.includes(workspaceKey(workspace)) || !hasFinalRuns(state, turn)) return undefined
  return { fingerprint: await workspaces.fingerprint(workspace, namedFiles(state)) }
}

/**
 * Asks for another run of the checks that the workspace has changed under. Whether there are any. Without the workspace,
 * another process that has it makes them.
 */
export async function recheck(turn: ActiveTurn, { door }: TurnDeps, seen: SeenWorkspace = {}): Promise<boolean> {
  const { state, turn: turn_id, steps } = turn.run
  if (!hasFinalRuns(state, turn_id)) return false
  const key = `recheck:${steps.length}:${state.turns.get(turn_id)?.passes ?? 0}`
  const { events } = await door.run(turn.at(key), { type: 'request_final', turn_id, ...seen })
  return events.length > 0
}
