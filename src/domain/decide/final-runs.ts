import { type Conversation, fold, planTurnOf, stamped } from '../conversation.ts'
import type { NewEvent } from '../event.ts'
import type { Instant } from '../instant.ts'
import { openInPlan } from '../lineage.ts'
import { staleChecks } from '../check-runs.ts'
import type { Task } from '../task.ts'

/** Asks for the checks of a plan that did not run on this fingerprint; without one, for all of them. */
export const finalRuns = (state: Conversation, turn_id: string, pass: number, fingerprint?: string): NewEvent[] =>
  staleChecks(state, turn_id, fingerprint).map(({ task_id, check_id, hash }) => ({
    type: 'check_requested',
    turn_id,
    data: { ...(task_id === undefined ? {} : { task_id }), check_id, hash, why: 'final', pass },
  }))

/**
 * The same for plans of agents elsewhere in which an edit of these tasks leaves nothing open without a claim: a
 * person settled the last one, or a model deleted it. In a turn of ours its driver sees to that.
 */
export function finalRunsAfter(
  state: Conversation,
  events: readonly NewEvent[],
  edited: readonly Task[],
  now: Instant,
): NewEvent[] {
  const ending = [...new Set(edited.map(task => planTurnOf(state, task)))].filter(turnId => {
    const turn = state.turns.get(turnId)
    return turn?.status === 'open' && openInPlan(state, turnId).length > 0
  })
  if (ending.length === 0 || events.length === 0) return []
  const after = fold(state, stamped(state, events, now))
  return ending.filter(turnId => openInPlan(after, turnId).length === 0).flatMap(turnId => finalRuns(after, turnId, 1))
}
