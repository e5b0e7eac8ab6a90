import type { Check } from './check.ts'
import { checkState } from './check-state.ts'
import { isApproved, proofOf, type Proofs } from './proof.ts'
import { waitingChanges } from './scope.ts'
import { standingOf } from './standing.ts'
import type { Task } from '../model/task.ts'
import type { CheckView, TaskView } from '../views/wire.ts'

/** Adds the state of its checks and, once completed, the task's standing. */
export function taskOnWire(state: Proofs, task: Task): TaskView {
  const { checks, ...fields } = task
  const stood = standingOf(state, task)
  return {
    ...fields,
    ...(checks ? { checks: checks.map(check => checkOnWire(state, task, check)) } : {}),
    ...(stood ? { standing: stood.standing, standing_reasons: stood.reasons } : {}),
  }
}

export const needsState = ({ checks }: Task): boolean => checks !== undefined

function checkOnWire(state: Proofs, task: Task, check: Check): CheckView {
  const baseline = proofOf(state, task.id).baseline[check.hash]
  const changes = waitingChanges(state, task, check)
  return {
    ...check,
    approved: isApproved(state, task.id, check),
    state: checkState(state, task, check),
    baseline: baseline === 'failed' || baseline === 'passed' ? baseline : 'not_run',
    ...(changes.length > 0 ? { changes } : {}),
  }
}
