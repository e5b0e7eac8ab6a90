import { currentTask } from '../domain/conversation.ts'
import type { Ending } from '../domain/turn.ts'
import { type Call, lastStep, openInPlan, type Run, type Step } from './run.ts'

/** What a turn does next. */
export type Move =
  /** Asks the model; at the end of the budget for an answer, without tools. */
  | { readonly type: 'ask'; readonly isLast: boolean; readonly budget: number }
  | { readonly type: 'call'; readonly step: Step; readonly call: Call }
  /** Waits for a person: the turn is left to whoever claims it then. */
  | { readonly type: 'park' }
  /** The text is the claim for the task that the model was given; where that is settled by now, the next one is taken up. */
  | { readonly type: 'judge'; readonly step: Step; readonly task: string | undefined }
  /** The gate: says what is open, and to go on. */
  | { readonly type: 'follow'; readonly followUp: number }
  | { readonly type: 'finish'; readonly ending: Ending; readonly because: Because }

/** Why a turn is over, for the words that say so. */
export type Because = 'answered' | 'budget' | 'gate' | 'limit' | 'unjudged' | 'repeats' | 'empty' | 'stopped' | 'error'

/** So often the gate follows up without anything being settled. */
export const PATIENCE = 3
/** So many steps that say the same are no work. */
const SAME_STEPS = 3

/** Decided by the log alone, so that whoever takes a turn up does what the one before would have done. */
export function nextMove(run: Run): Move {
  if (run.state.turns.get(run.turn)?.stop_requested) return finish('stopped', 'stopped')
  const step = lastStep(run)
  const call = step?.calls.find(each => !each.answer)
  if (step && call) return call.review && !call.review.decided ? { type: 'park' } : { type: 'call', step, call }
  if (run.hasReachedLimit) return finish('exhausted', 'limit')
  if (run.unjudged !== undefined) return finish('exhausted', 'unjudged')
  if (run.isAsked || !step) return ask(run)
  if (isEmpty(step)) return isEmpty(run.steps.at(-2)) ? finish('failed', 'empty') : ask(run)
  return afterAnswer(run, step)
}

/** A text, and nothing that it waits for: who says whether that was all? */
function afterAnswer(run: Run, step: Step): Move {
  const { policy, state, turn } = run
  const current = currentTask(state, turn)
  if (policy.toolset === 'manage_todos' && policy.assessor && current) {
    return { type: 'judge', step, task: (step.task ?? current.id) === current.id ? current.id : undefined }
  }
  if (!policy.gate || openInPlan(run).length === 0) return finish('answered', 'answered')
  if (budgetIsSpent(run)) return finish('exhausted', 'budget')
  if (run.followUps >= PATIENCE) return finish('answered', 'gate')
  return { type: 'follow', followUp: run.followUps + 1 }
}

function ask(run: Run): Move {
  if (budgetIsSpent(run)) return finish('exhausted', 'budget')
  if (noProgress(run)) return finish('exhausted', 'repeats')
  const budget = budgetOf(run)
  return { type: 'ask', budget, isLast: run.steps.length + 1 >= budget }
}

/** Ten calls; while the plan has open tasks ten more from here; never beyond fifty. */
export function budgetOf(run: Run): number {
  const { max_steps, max_steps_with_plan } = run.policy
  if (openInPlan(run).length === 0) return run.budget
  const extended = Math.max(run.budget, run.steps.length + max_steps)
  return Math.max(max_steps, Math.min(extended, max_steps_with_plan))
}

export const budgetIsSpent = (run: Run): boolean => run.steps.length >= budgetOf(run)

/** The same calls with the same arguments, over and over: more of it leads nowhere. */
export function noProgress({ steps }: Run): boolean {
  const last = steps.slice(-SAME_STEPS)
  const [first] = last
  if (last.length < SAME_STEPS || !first || first.calls.length === 0) return false
  return last.every(step => sameWork(step, first))
}

function sameWork(a: Step, b: Step): boolean {
  const work = (step: Step): string =>
    JSON.stringify(step.calls.map(({ tool, arguments: args, answer }) => [tool, args, answer?.result]))
  return work(a) === work(b)
}

const isEmpty = (step: Step | undefined): boolean =>
  step !== undefined && step.calls.length === 0 && step.text.trim() === ''

const finish = (ending: Ending, because: Because): Move => ({ type: 'finish', ending, because })
