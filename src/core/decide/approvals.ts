import type { Check } from '../proof/check.ts'
import type { Conversation } from '../model/conversation.ts'
import type { CheckRef, EventData, NewEvent } from '../model/event.ts'
import { awaitsBaseline } from '../proof/check-runs.ts'
import { isHidden } from '../proof/held-out.ts'
import { lastTurnOf, planById, planOf } from '../model/plan.ts'
import { countingChecks, isReworded, proofOf, taskRuns, workspaceOf } from '../proof/proof.ts'
import type { Task } from '../model/task.ts'

/**
 * Approves checks and requests a baseline run of each in the turn's workspace. A check that is approved again after a
 * rewording keeps its baseline.
 */
export function approved(
  state: Conversation,
  task: Pick<Task, 'id'>,
  checks: readonly Check[],
  via: EventData['check_approved']['via'],
  turn_id: string,
): NewEvent[] {
  const events: NewEvent[] = []
  for (const check of checks) {
    const ref = { ...refOf(task.id, check), task_id: task.id }
    const isThere = state.tasks.get(task.id)?.checks?.some(({ hash }) => hash === check.hash) ?? false
    const isApproved = isThere && proofOf(state, task.id).approved.includes(check.hash)
    const isOld = isApproved && isReworded(state, task.id, check)
    if (check.kind === 'person' || (isApproved && !isOld)) continue
    events.push({ type: 'check_approved', turn_id, data: { ...ref, via } })
    if (!isOld && planOf(state, turn_id).workspace) {
      events.push({ type: 'check_requested', turn_id, data: { ...ref, why: 'baseline' } })
    }
  }
  return events
}

/** Records the files of a new plan with checks of its own before the work; these checks run only when it ends. */
export function planLook(state: Conversation, turn_id: string): NewEvent[] {
  const { workspace, done_checks = [], baseline } = planOf(state, turn_id)
  if (!workspace || baseline !== undefined || awaitsBaseline(state, turn_id)) return []
  return done_checks.map(check => ({
    type: 'check_requested',
    turn_id,
    data: { ...refOf(undefined, check), why: 'baseline' },
  }))
}

/** The checks of a completed task run again with its new scope: their last runs went by the former one. */
export function runsWithScope(state: Conversation, task: Task, scope: Task['scope']): NewEvent[] {
  const isSame = JSON.stringify(scope ?? []) === JSON.stringify(task.scope ?? [])
  if (isSame || task.status !== 'completed' || !workspaceOf(state, task)) return []
  const turn_id = lastTurnOf(planById(state, task.plan_id))
  return countingChecks(state, task).flatMap(check =>
    taskRuns(state, task.id, check.hash)
      ? { type: 'check_requested', turn_id, data: { ...refOf(task.id, check), why: 'person' } }
      : [],
  )
}

export const refOf = (task_id: string | undefined, check: Check): CheckRef => ({
  ...(task_id === undefined ? {} : { task_id }),
  check_id: check.id,
  hash: check.hash,
  ...(isHidden(check) ? { hidden: true } : {}),
})
