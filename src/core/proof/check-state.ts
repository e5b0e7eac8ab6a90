import type { Check, Workspace } from './check.ts'
import { type Plan, planById } from '../model/plan.ts'
import { type CheckRun, countingRun, planRuns, proofOf, type Proofs, recordOf, taskRuns, workspaceOf } from './proof.ts'
import { valueIn } from '../model/table.ts'
import type { Task } from '../model/task.ts'

/** The state of a check; `stale`: it passed before the workspace changed. */
export type CheckState = 'waiting' | 'running' | 'passed' | 'failed' | 'inconclusive' | 'stale'

/** The current state of a task's check. */
export function checkState(state: Proofs, task: Task, check: Check): CheckState {
  return check.kind !== 'person' && isRunning(state, check) ? 'running' : lastState(state, task, check)
}

export function planCheckState(state: Pick<Proofs, 'runs' | 'turns'>, plan: Plan, check: Check): CheckState {
  if (isRunning(state, check)) return 'running'
  return stateOf(state, plan, countingRun(planRuns(plan, check.hash)))
}

const isRunning = (state: Pick<Proofs, 'runs'>, { hash }: Check): boolean => recordOf(state, hash).started !== undefined

export function lastState(state: Proofs, task: Task, check: Check): CheckState {
  if (check.kind === 'person') return proofOf(state, task.id).ticked.includes(check.id) ? 'passed' : 'waiting'
  const stands = stateOf(state, planById(state, task.plan_id), countingRun(taskRuns(state, task.id, check.hash)))
  return stands === 'passed' && hasMoved(state, task, check) ? 'stale' : stands
}

function stateOf(state: Pick<Proofs, 'turns'>, plan: Plan, run: CheckRun | undefined): CheckState {
  if (!run) return 'waiting'
  return run.result === 'passed' && isStale(state, plan, run) ? 'stale' : run.result
}

export function hasMoved(state: Pick<Proofs, 'turns' | 'plans' | 'proof'>, task: Task, { hash }: Check): boolean {
  const { workspace, moved = 0, claimed = 0 } = planById(state, task.plan_id)
  const last = countingRun(taskRuns(state, task.id, hash))
  if (!last || moved === 0) return false
  return last.seq < moved || (last.seq < claimed && !isSamePlace(workspace, workspaceOf(state, task)))
}

/**
 * Stale: the plan's newest run in this workspace saw another fingerprint, or, without fingerprints, any newer run or
 * claim exists. Runs of a final pass stay fresh even if other runs of the pass write files.
 */
function isStale({ turns }: Pick<Proofs, 'turns'>, { looked, claimed = 0, workspace }: Plan, run: CheckRun): boolean {
  const { turn_id, why, fingerprint, seq } = run
  const pathOf = (id: string): string | undefined => valueIn(turns, id)?.workspace?.path
  const path = pathOf(turn_id)
  // Without a fingerprint, the run for a claim counts as part of the final pass.
  const isOfPass = why === 'final' || (why === 'claim' && !fingerprint)
  const isSeen = looked && looked.seq > seq && pathOf(looked.turn_id) === path
  if (isSeen && !(fingerprint && looked.fingerprint === fingerprint)) {
    if (!isOfPass || looked.why !== 'final' || looked.turn_id !== turn_id) return true
  }
  return !fingerprint && claimed > seq && workspace?.path === path
}

export const isSamePlace = (a: Workspace | undefined, b: Workspace | undefined): boolean =>
  a !== undefined && a.path === b?.path && a.machine === b.machine
