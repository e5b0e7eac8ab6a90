import type { Check } from './check.ts'
import { labelOf } from './check-label.ts'
import { checkedOf, hasTasks, type Plan, tasksOf } from './plan.ts'
import { claimedPlans } from './open-claims.ts'
import { countingChecks, countingRun, type OpenClaim, planRuns, proofOf, type Proofs, taskRuns } from './proof.ts'
import { shortPaths } from './short-paths.ts'
import { isOpen, type Task } from './task.ts'

/** The checks of the whole plan that ran and did not pass: it is not done before they do. */
export function unpassedChecks(state: Proofs, plan: Plan): readonly Check[] {
  if (!hasTasks(plan)) return []
  return (plan.done_checks ?? []).filter(check => {
    const last = countingRun(planRuns(plan, check.hash))
    return last !== undefined && (last.result !== 'passed' || planGuards(state, plan, check).length > 0)
  })
}

/** The guarded files that keep a check of the whole plan from passing, until a person accepts them for one of its tasks. */
export function planGuards(state: Proofs, plan: Plan, { hash }: Check): readonly string[] {
  const { guarded = [], guard = '' } = countingRun(planRuns(plan, hash)) ?? {}
  if (guarded.length === 0) return []
  const isAccepted = tasksOf(state, plan).some(({ id }) => proofOf(state, id).accepted.includes(guard))
  return isAccepted ? [] : guarded
}

/** What is wrong with a check of the whole plan, to follow its name. */
export function whyUnpassed(state: Proofs, plan: Plan, check: Check): string {
  const last = countingRun(planRuns(plan, check.hash))
  if (last?.result === 'failed') return `fails${codeOf(last)}`
  if (last?.result !== 'passed') return `could not be run: ${last?.reason ?? 'it has not run.'}`
  const files = shortPaths(planGuards(state, plan, check)).join(', ')
  return `does not count: ${files} changed since the plan was confirmed. Put that back, or leave it to a person, who can accept it`
}

/** Why a task that was done is open: its check failed in the runs before the end of its plan. `since`: after this seq. */
export function whyReopened(state: Proofs, task: Task, since = 0): string | undefined {
  if (!isOpen(task)) return undefined
  for (const check of countingChecks(state, task)) {
    const { last } = taskRuns(state, task.id, check.hash) ?? {}
    if (last?.why !== 'final' || last.result !== 'failed' || last.seq <= since) continue
    return `its check \`${labelOf(check)}\` fails now${codeOf(last)}`
  }
  return undefined
}

/** The tasks that the last runs for these claims opened again. */
export function reopenedBy(state: Proofs, claims: readonly OpenClaim[]): readonly Reopened[] {
  const since = Math.min(...claims.map(({ seq }) => seq))
  const claimed = new Set(claims.map(({ task_id }) => task_id))
  const tasks = claimedPlans(state, claims).flatMap(plan => checkedOf(state, plan))
  return tasks.flatMap(task => {
    // What is claimed was open before.
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
