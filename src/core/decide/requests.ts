import type { Check } from '../proof/check.ts'
import { fold, stamped, type Conversation } from '../model/conversation.ts'
import type { CheckRef, EventData, NewEvent } from '../model/event.ts'
import { awaitsBaseline, staleChecks } from '../proof/check-runs.ts'
import { isHidden } from '../proof/held-out.ts'
import { hasTasks, lastTurnOf, planById, planOf, type Plan } from '../model/plan.ts'
import { countingChecks, isReworded, proofOf, taskRuns, workspaceOf } from '../proof/proof.ts'
import type { Task } from '../model/task.ts'
import type { SeenWorkspace } from '../model/command.ts'
import type { Instant } from '../model/instant.ts'
import { claimsOf } from '../proof/claims.ts'
import { changePlan } from '../proof/proof-log.ts'

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

/** Records the files of a new plan that has plan checks. Those checks run only when the plan ends. */
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

const MAX_PASSES = 2

/**
 * Requests reruns of the stale checks before a plan ends; none once the plan has had all its passes. Without a
 * fingerprint of the workspace, every check that ran in it is stale.
 */
export function missingRuns(state: Conversation, turn_id: string, seen: SeenWorkspace = {}): NewEvent[] {
  const plan = planOf(state, turn_id)
  const isAny = hasTasks(plan) || claimsOf(state, turn_id).length > 0
  const pass = plan.passes + 1
  return !isAny || pass > MAX_PASSES ? [] : finalRuns(state, turn_id, pass, seen.fingerprint)
}

/** Runs of an earlier end do not count. */
export const hasFinalRuns = (state: Conversation, plan: Plan): boolean =>
  hasTasks(plan) && staleChecks(beforePasses(state, plan), lastTurnOf(plan), undefined).length > 0

export const beforePasses = (state: Conversation, { id }: Plan): Conversation => ({
  ...state,
  ...changePlan(state, id, { passes: 0 }),
})

const finalRuns = (state: Conversation, turn_id: string, pass: number, fingerprint?: string): NewEvent[] =>
  staleChecks(state, turn_id, fingerprint).map(({ task_id, check_id, hash }) => ({
    type: 'check_requested',
    turn_id,
    data: { ...(task_id === undefined ? {} : { task_id }), check_id, hash, why: 'final', pass },
  }))

/**
 * Final runs for plans of external agents that an edit finishes without a claim: a person settled the last task, or a
 * model deleted it, created all tasks as done, or reworded a done one. Our own turns leave this to their driver.
 */
export function finalRunsAfter(
  state: Conversation,
  events: readonly NewEvent[],
  edited: readonly Task[],
  now: Instant,
): NewEvent[] {
  const touched = new Set(
    events.flatMap(event => (event.type === 'task_changed' && event.data.by === 'model' ? event.data.task.id : [])),
  )
  const ended = edited.flatMap(task => {
    const plan = planById(state, task.plan_id)
    // A new outcome in a finished plan is checked again.
    const isSaidAgain = task.status === 'completed' && touched.has(task.id)
    return isSaidAgain || plan.open.length > 0 ? lastTurnOf(plan) : []
  })
  const created = events.flatMap(event => (event.type === 'task_created' ? event.data.task.conversation_turn_id : []))
  const ending = [...new Set([...ended, ...created])].filter(
    // Each event ends one task at most.
    id => state.turns.get(id)?.status === 'open' && planOf(state, id).open.length <= events.length,
  )
  if (ending.length === 0 || events.length === 0) return []
  const after = fold(state, stamped(state, events, now))
  return ending.filter(turnId => planOf(after, turnId).open.length === 0).flatMap(turnId => finalRuns(after, turnId, 1))
}
