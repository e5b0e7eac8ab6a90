import { awaitsChecks, currentTask } from '../../core/model/conversation.ts'
import { MAX_FOLLOW_UPS } from '../../core/views/gate.ts'
import { claimsOf } from '../../core/proof/claims.ts'
import { planOf } from '../../core/model/plan.ts'
import { unpassedChecks } from '../../core/proof/check-state.ts'
import type { OpenClaim } from '../../core/proof/proof.ts'
import { isBlank } from '../../core/model/text.ts'
import type { EndReason } from '../../core/model/turn.ts'
import { lastStep, openInPlan, type Call, type Run, type Step } from './run.ts'

export type Move =
  /** Asks the model; the last call of the budget is without tools. */
  | { readonly type: 'ask'; readonly isLast: boolean; readonly budget: number }
  | { readonly type: 'deliver'; readonly first: string }
  | { readonly type: 'call'; readonly step: Step; readonly call: Call }
  /** Checks the claims of a call or a text; the judge rules on them. */
  | { readonly type: 'settle'; readonly step: Step; readonly claim: OpenClaim }
  /** Waits for a person or for checks: the lease is released. */
  | { readonly type: 'park' }
  /** The text claims the step's task; undefined if that is already settled. */
  | { readonly type: 'judge'; readonly step: Step; readonly task: string | undefined }
  | { readonly type: 'follow'; readonly followUp: number }
  | { readonly type: 'finish'; readonly because: EndReason }

/** Consecutive rejected plans that end a turn. */
const MAX_REFUSALS = 3
/** Consecutive identical steps that end a turn. */
export const MAX_REPEATS = 3

/** Follows from the log alone, so that any process continues a turn in the same way. */
export function nextMove(run: Run): Move {
  if (run.state.turns.get(run.turn)?.stop_requested) return finish('stopped')
  const step = lastStep(run)
  const call = step?.calls.find(each => !each.answer)
  if (isUndecided(call) || awaitsChecks(run.state, run.turn)) return { type: 'park' }
  const [claim] = claimsOf(run.state, run.turn)
  if (step && claim) return { type: 'settle', step, claim }
  // The third rejection is still answered; then no further plan is proposed.
  if (run.refusals >= MAX_REFUSALS && !call?.review) return finish('rejected')
  if (step && call) return { type: 'call', step, call }
  if (run.hasReachedLimit) return finish('limit')
  if (run.unjudged !== undefined) return finish('unjudged')
  if (run.hasNewInput || !step) return ask(run)
  if (isEmpty(step)) return isEmpty(run.steps.at(-2)) ? finish('empty') : ask(run)
  return afterAnswer(run, step)
}

const isUndecided = (call: Call | undefined): boolean =>
  call?.review?.decided === false || (call?.approval !== undefined && call.approval.decision === undefined)

/** The model answered in text and no call is open. */
function afterAnswer(run: Run, step: Step): Move {
  const { policy, state, turn } = run
  const current = currentTask(state, turn)
  if (policy.toolset === 'manage_todos' && policy.assessor && current) {
    return { type: 'judge', step, task: (step.task ?? current.id) === current.id ? current.id : undefined }
  }
  const isOver = openInPlan(run).length === 0 && unpassedChecks(planOf(state, turn)).length === 0
  if (!policy.gate || isOver) return finish('answered')
  if (budgetIsSpent(run)) return finish('budget')
  if (run.followUps >= MAX_FOLLOW_UPS) return finish('gate')
  return { type: 'follow', followUp: run.followUps + 1 }
}

function ask(run: Run): Move {
  if (budgetIsSpent(run)) return finish('budget')
  if (noProgress(run)) return finish('repeats')
  const budget = budgetOf(run)
  const isLast = run.steps.length + 1 >= budget
  const [waiting] = run.state.queued
  // The last call has no tools: a queued message starts the next turn instead.
  if (waiting && !isLast) return { type: 'deliver', first: waiting.message_id }
  return { type: 'ask', budget, isLast }
}

/** `max_steps` model calls; while tasks are open, `max_steps` more from here, up to `max_steps_with_plan`. */
export function budgetOf(
  run: Pick<Run, 'policy' | 'budget' | 'state' | 'turn'> & { readonly steps: { readonly length: number } },
): number {
  const { max_steps, max_steps_with_plan } = run.policy
  if (openInPlan(run).length === 0) return run.budget
  const extended = Math.max(run.budget, run.steps.length + max_steps)
  return Math.max(max_steps, Math.min(extended, max_steps_with_plan))
}

export const budgetIsSpent = (run: Run): boolean => run.steps.length >= budgetOf(run)

export function noProgress({ steps }: Run): boolean {
  const last = steps.slice(-MAX_REPEATS)
  const [first] = last
  if (last.length < MAX_REPEATS || !first || first.calls.length === 0) return false
  return last.every(step => sameWork(step, first))
}

function sameWork(a: Step, b: Step): boolean {
  const work = (step: Step): string =>
    JSON.stringify(step.calls.map(({ tool, arguments: args, answer }) => [tool, args, answer?.result]))
  return work(a) === work(b)
}

const isEmpty = (step: Step | undefined): boolean => step !== undefined && step.calls.length === 0 && isBlank(step.text)

const finish = (because: EndReason): Move => ({ type: 'finish', because })
