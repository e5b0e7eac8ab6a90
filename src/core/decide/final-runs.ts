import type { SeenWorkspace } from '../model/command.ts'
import { type Conversation, fold, stamped } from '../model/conversation.ts'
import type { NewEvent } from '../model/event.ts'
import type { Instant } from '../model/instant.ts'
import { hasTasks, lastTurnOf, type Plan, planById, planOf } from '../model/plan.ts'
import { staleChecks } from '../proof/check-runs.ts'
import { claimsOf } from '../proof/open-claims.ts'
import { changePlan } from '../proof/proof-log.ts'
import type { Task } from '../model/task.ts'

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
 * Final runs for plans of agents elsewhere that an edit finishes without a claim: a person settled the last task, or a
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
