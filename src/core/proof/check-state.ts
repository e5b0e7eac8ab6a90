import type { Check, Workspace } from './check.ts'
import { checkedOf, hasTasks, planById, type Plan } from '../model/plan.ts'
import {
  countingChecks,
  countingRun,
  planRuns,
  proofOf,
  recordOf,
  taskRuns,
  workspaceOf,
  type CheckRun,
  type OpenClaim,
  type Proofs,
} from './proof.ts'
import { valueIn } from '../model/table.ts'
import { isGivenUp, isOpen, type Task } from '../model/task.ts'
import { labelOf } from './check-text.ts'
import { claimedPlans } from './claims.ts'
import { changesText } from './file-change.ts'
import { planChanges } from './scope.ts'

/** The state of a check; `stale`: it passed before the workspace changed. */
export type CheckState = 'waiting' | 'running' | 'passed' | 'failed' | 'inconclusive' | 'stale'

/** The current state of a task's check. */
export function checkState(state: Proofs, task: Task, check: Check): CheckState {
  return check.kind !== 'person' && isRunning(state, check) ? 'running' : lastState(state, task, check)
}

export function planCheckState(state: Pick<Proofs, 'runs' | 'turns'>, plan: Plan, check: Check): CheckState {
  if (isRunning(state, check)) return 'running'
  return stateOf(state, plan, countingRun(planRuns(plan, check.hash)))
}

const isRunning = (state: Pick<Proofs, 'runs'>, { hash }: Check): boolean => recordOf(state, hash).started !== undefined

export function lastState(state: Proofs, task: Task, check: Check): CheckState {
  if (check.kind === 'person') return proofOf(state, task.id).ticked.includes(check.id) ? 'passed' : 'waiting'
  const stands = stateOf(state, planById(state, task.plan_id), countingRun(taskRuns(state, task.id, check.hash)))
  return stands === 'passed' && hasMoved(state, task, check) ? 'stale' : stands
}

function stateOf(state: Pick<Proofs, 'turns'>, plan: Plan, run: CheckRun | undefined): CheckState {
  if (!run) return 'waiting'
  return run.result === 'passed' && isStale(state, plan, run) ? 'stale' : run.result
}

export function hasMoved(state: Pick<Proofs, 'turns' | 'plans' | 'proof'>, task: Task, { hash }: Check): boolean {
  const { workspace, moved = 0, claimed = 0 } = planById(state, task.plan_id)
  const last = countingRun(taskRuns(state, task.id, hash))
  if (!last || moved === 0) return false
  return last.seq < moved || (last.seq < claimed && !isSamePlace(workspace, workspaceOf(state, task)))
}

/**
 * Stale: the plan's newest run in this workspace saw another fingerprint, or, without fingerprints, any newer run or
 * claim exists. Runs of a final pass stay fresh even if other runs of the pass write files.
 */
function isStale({ turns }: Pick<Proofs, 'turns'>, { looked, claimed = 0, workspace }: Plan, run: CheckRun): boolean {
  const { turn_id, why, fingerprint, seq } = run
  const pathOf = (id: string): string | undefined => valueIn(turns, id)?.workspace?.path
  const path = pathOf(turn_id)
  // Without a fingerprint, the run for a claim counts as part of the final pass.
  const isOfPass = why === 'final' || (why === 'claim' && !fingerprint)
  const isSeen = looked && looked.seq > seq && pathOf(looked.turn_id) === path
  if (isSeen && !(fingerprint && looked.fingerprint === fingerprint)) {
    if (!isOfPass || looked.why !== 'final' || looked.turn_id !== turn_id) return true
  }
  return !fingerprint && claimed > seq && workspace?.path === path
}

export const isSamePlace = (a: Workspace | undefined, b: Workspace | undefined): boolean =>
  a !== undefined && a.path === b?.path && a.machine === b.machine

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
