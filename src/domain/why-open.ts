import type { Check } from './check.ts'
import { labelOf } from './check-label.ts'
import { type CheckState, lastState } from './check-state.ts'
import { checkedOf, type Plan } from './plan.ts'
import { unpassedChecks, whyReopened, whyUnpassed } from './plan-checks.ts'
import { countingChecks, type Proofs, taskRuns } from './proof.ts'
import { isGivenUp, isOpen, type Task } from './task.ts'

/** The check that keeps a task open: it failed, or could not be run, when the task was last claimed or looked at. */
export const whyOpen = (state: Proofs, task: Task): string | undefined =>
  isOpen(task) ? (whyReopened(state, task) ?? whyRed(state, task)) : undefined

/** The same for any task: one that is over without a person's word needs approved checks that passed. */
export const whyUndone = (state: Proofs, task: Task): string | undefined => {
  if (isOpen(task)) return whyOpen(state, task)
  if (task.status === 'blocked' || isGivenUp(task)) return whyRed(state, task) ?? whyNeverPassed(state, task)
  return task.status === 'completed' && task.judged_by !== 'person' ? whyNeverPassed(state, task) : undefined
}

function whyRed(state: Proofs, task: Task): string | undefined {
  for (const check of countingChecks(state, task)) {
    const { last } = taskRuns(state, task.id, check.hash) ?? {}
    // At confirmation a check is meant to fail.
    if (!last || last.why === 'baseline' || last.result === 'passed') continue
    if (last.result === 'inconclusive') return `its check \`${labelOf(check)}\` could not be run: ${short(last.reason)}`
    return `its check \`${labelOf(check)}\` fails${last.exit === undefined ? '' : ` with exit code ${last.exit}`}`
  }
  return undefined
}

/** The approved check of a task that never passed. */
export const neverPassed = (state: Proofs, task: Task): Check | undefined =>
  countingChecks(state, task).find(check => !PASSED.has(lastState(state, task, check)))

function whyNeverPassed(state: Proofs, task: Task): string | undefined {
  const waiting = neverPassed(state, task)
  return waiting && `its check \`${labelOf(waiting)}\` never passed`
}

const PASSED: ReadonlySet<CheckState> = new Set(['passed', 'stale'])

/** A sentence for each check of the whole plan that did not pass. */
export const planFailures = (state: Proofs, plan: Plan): readonly string[] =>
  unpassedChecks(state, plan).map(check => {
    const why = whyUnpassed(state, plan, check).replace(/\.$/, '')
    return `\`${labelOf(check)}\`, a check of the whole plan, ${why}.`
  })

/** A sentence for each check of a done task that could not be run before the plan ended: nobody knows whether it still passes. */
export const unseenChecks = (state: Proofs, plan: Plan): readonly string[] =>
  checkedOf(state, plan).flatMap(task => {
    const isClaimed = task.status === 'completed' && task.judged_by !== 'person'
    return countingChecks(state, task).flatMap(check => {
      const { last } = taskRuns(state, task.id, check.hash) ?? {}
      if (!isClaimed || last?.why !== 'final' || last.result !== 'inconclusive') return []
      return `\`${labelOf(check)}\`, the check of task ${task.number}, could not be run: ${short(last.reason)}.`
    })
  })

/** The first sentence, without its full stop. */
const short = (reason = 'it had no result'): string => reason.replace(/\.(?:\s[\s\S]*)?$/, '')
