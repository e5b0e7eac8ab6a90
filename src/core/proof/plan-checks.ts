import type { Check } from './check.ts'
import { labelOf } from './check-label.ts'
import { type CheckState, lastState } from './check-state.ts'
import { checkedOf, hasTasks, type Plan } from '../model/plan.ts'
import { claimedPlans } from './open-claims.ts'
import { type CheckRun, countingChecks, countingRun, type OpenClaim, planRuns, type Proofs, taskRuns } from './proof.ts'
import { changesText } from './file-change.ts'
import { planChanges } from './scope.ts'
import { isGivenUp, isOpen, type Task } from '../model/task.ts'

/** Checks of the whole plan that ran and did not pass. */
export function unpassedChecks(plan: Plan): readonly Check[] {
  if (!hasTasks(plan)) return []
  return (plan.done_checks ?? []).filter(check => {
    const last = countingRun(planRuns(plan, check.hash))
    return last !== undefined && (last.result !== 'passed' || planChanges(plan, check).length > 0)
  })
}

/** The reason a plan check does not pass, to follow its name. */
export function whyUnpassed(plan: Plan, check: Check): string {
  const last = countingRun(planRuns(plan, check.hash))
  if (last?.result === 'failed') return `fails${codeOf(last)}`
  if (last?.result !== 'passed') return `could not be run: ${last?.reason ?? 'it has not run.'}`
  const files = changesText(planChanges(plan, check)).join(', ')
  return `does not count: changed outside the scopes of the plan: ${files}. Put that back, or leave it to a person, who can accept it`
}

/** The reason a done task was reopened: its check failed in the final runs after `since`. */
export const whyReopened = (state: Proofs, task: Task, since = 0): string | undefined =>
  isOpen(task)
    ? whyRed(state, task, ({ why, result, seq }) => why === 'final' && result === 'failed' && seq > since)
    : undefined

export function reopenedBy(state: Proofs, claims: readonly OpenClaim[]): readonly Reopened[] {
  const since = Math.min(...claims.map(({ seq }) => seq))
  const claimed = new Set(claims.map(({ task_id }) => task_id))
  const tasks = claimedPlans(state, claims).flatMap(plan => checkedOf(state, plan))
  return tasks.flatMap(task => {
    // Claimed tasks were open before.
    if (claimed.has(task.id)) return []
    const why = whyReopened(state, task, since)
    return why === undefined ? [] : { task, why }
  })
}

export interface Reopened {
  readonly task: Task
  readonly why: string
}

const codeOf = ({ exit }: { readonly exit?: number }): string => (exit === undefined ? '' : ` with exit code ${exit}`)

export const whyOpen = (state: Proofs, task: Task): string | undefined =>
  isOpen(task) ? (whyReopened(state, task) ?? whyRed(state, task)) : undefined

/** The same for any task: unless a person settled it, a settled task needs approved checks that passed. */
export const whyUndone = (state: Proofs, task: Task): string | undefined => {
  if (isOpen(task)) return whyOpen(state, task)
  if (task.status === 'blocked' || isGivenUp(task)) return whyRed(state, task) ?? whyNeverPassed(state, task)
  return task.status === 'completed' && task.judged_by !== 'person' ? whyNeverPassed(state, task) : undefined
}

/** A check is meant to fail before the work. */
function whyRed(
  state: Proofs,
  task: Task,
  counts = ({ why }: CheckRun): boolean => why !== 'baseline',
): string | undefined {
  for (const check of countingChecks(state, task)) {
    const { last } = taskRuns(state, task.id, check.hash) ?? {}
    if (!last || last.result === 'passed' || !counts(last)) continue
    const name = `its check \`${labelOf(check)}\``
    if (last.result === 'inconclusive') return `${name} could not be run: ${short(last.reason)}`
    return `${name} fails${last.why === 'final' ? ' now' : ''}${codeOf(last)}`
  }
  return undefined
}

export const neverPassed = (state: Proofs, task: Task): Check | undefined =>
  countingChecks(state, task).find(check => !PASSED.has(lastState(state, task, check)))

function whyNeverPassed(state: Proofs, task: Task): string | undefined {
  const waiting = neverPassed(state, task)
  return waiting && `its check \`${labelOf(waiting)}\` never passed`
}

const PASSED: ReadonlySet<CheckState> = new Set(['passed', 'stale'])

export const planFailures = (plan: Plan): readonly string[] =>
  unpassedChecks(plan).map(check => {
    const why = whyUnpassed(plan, check).replace(/\.$/, '')
    return `\`${labelOf(check)}\`, a check of the whole plan, ${why}.`
  })

/** The checks of done tasks whose final run had no result. */
export const unseenChecks = (state: Proofs, plan: Plan): readonly string[] =>
  checkedOf(state, plan).flatMap(task => {
    const isClaimed = task.status === 'completed' && task.judged_by !== 'person'
    return countingChecks(state, task).flatMap(check => {
      const { last } = taskRuns(state, task.id, check.hash) ?? {}
      if (!isClaimed || last?.why !== 'final' || last.result !== 'inconclusive') return []
      return `\`${labelOf(check)}\`, the check of task ${task.number}, could not be run: ${short(last.reason)}.`
    })
  })

const short = (reason = 'it had no result'): string => reason.replace(/\.(?:\s[\s\S]*)?$/, '')
