import type { Check, CheckSpec } from './check.ts'
import { hasMoved, isSamePlace } from './check-state.ts'
import type { Instant } from '../model/instant.ts'
import { checkedOf, planOf, type Plans } from '../model/plan.ts'
import { onlyReads } from './check-text.ts'
import { checkedBy, claimedPlans, claimsOf, plansEndedBy } from './claims.ts'
import {
  awaitedChecks,
  countingChecks,
  countingRun,
  planRuns,
  recordOf,
  taskRuns,
  workspaceOf,
  type CheckRequest,
  type PlanRuns,
  type Proofs,
  type RunReason,
} from './proof.ts'
import { valueIn, valuesIn } from '../model/table.ts'

export interface RunToMake {
  readonly turn_id: string
  readonly task_id?: string
  readonly check: Check
  readonly why: RunReason
  readonly claim_id?: string
  readonly at: Instant
}

/** The next run of a turn, derived from the log alone so that it survives a crash. */
export function nextRun(state: Proofs, turnId: string): RunToMake | undefined {
  const asked = state.requests.filter(request => request.turn_id === turnId)
  const baseline = asked.find(({ why }) => why === 'baseline')
  return (baseline && requested(state, baseline)) ?? claimed(state, turnId) ?? (asked[0] && requested(state, asked[0]))
}

function claimed(state: Proofs, turnId: string): RunToMake | undefined {
  for (const claim of claimsOf(state, turnId)) {
    const task = valueIn(state.tasks, claim.task_id)
    if (!task || checkedBy(state, claim).result !== 'waiting') continue
    const check = awaitedChecks(state, task).find(each => each.kind !== 'person' && !claim.results[each.hash])
    const { claim_id, at } = claim
    if (check) return { turn_id: turnId, task_id: task.id, check, why: 'claim', claim_id, at }
  }
  return undefined
}

function requested(state: Proofs, { turn_id, task_id, hash, why, at }: CheckRequest): RunToMake | undefined {
  const check = findCheck(state, turn_id, task_id, hash)
  return check && { turn_id, ...(task_id === undefined ? {} : { task_id }), check, why, at }
}

export function isWanted(state: Proofs, hash: string, runId: string): boolean {
  const { started } = recordOf(state, hash)
  if (started?.run_id !== runId) return false
  if (started.claim_id === undefined) return true
  const claim = valueIn(state.claims, started.claim_id)
  return claim !== undefined && checkedBy(state, claim).result !== 'closed'
}

export function findCheck(state: Plans, turnId: string, taskId: string | undefined, hash: string): Check | undefined {
  const checks = taskId === undefined ? planOf(state, turnId).done_checks : valueIn(state.tasks, taskId)?.checks
  return checks?.find(check => check.hash === hash)
}

export const awaitsBaseline = ({ requests }: Pick<Proofs, 'requests'>, turnId: string): boolean =>
  requests.some(({ turn_id, why }) => turn_id === turnId && why === 'baseline')

export const awaitsFinal = ({ requests }: Pick<Proofs, 'requests'>, turnId: string): boolean =>
  requests.some(({ turn_id, why }) => turn_id === turnId && why === 'final')

/**
 * The distinct checks of a plan and its completed tasks that have not passed on this fingerprint. Includes plans
 * claimed in this turn.
 */
export function staleChecks(state: Proofs, turnId: string, fingerprint: string | undefined): CheckRequest[] {
  const found = new Map<string, Omit<CheckRequest, 'at' | 'why'>>()
  const own = planOf(state, turnId)
  const isInPass = own.passes > 0
  // Runs for the last claim count as the final pass unless that pass changed the files.
  const claimed = fingerprint === undefined ? new Set<string>() : lastClaimed(state, turnId)
  const isFresh = (runs: PlanRuns | undefined): boolean => {
    const run = countingRun(runs)
    if (!run || run.result === 'inconclusive' || run.fingerprint !== fingerprint) return false
    // A result of the final pass counts whatever it is; an older failure may have been fixed since.
    return isInPass && run.why === 'final' ? true : run.result === 'passed' && fingerprint !== undefined
  }
  for (const plan of new Set([own, ...claimedPlans(state, claimsOf(state, turnId))])) {
    for (const task of checkedOf(state, plan)) {
      if (task.status !== 'completed' && !claimed.has(task.id)) continue
      if (!isSamePlace(workspaceOf(state, task), plan.workspace)) continue
      for (const check of countingChecks(state, task)) {
        const { hash, id, kind } = check
        if (kind === 'person' || found.has(hash)) continue
        if (isFresh(taskRuns(state, task.id, hash)) && !hasMoved(state, task, check)) continue
        found.set(hash, { turn_id: turnId, task_id: task.id, check_id: id, hash })
      }
    }
    for (const { hash, id } of plan.done_checks ?? []) {
      if (found.has(hash) || isFresh(planRuns(plan, hash))) continue
      found.set(hash, { turn_id: turnId, check_id: id, hash })
    }
  }
  return [...found.values()].map(each => ({ ...each, why: 'final', at: '' }))
}

const lastClaimed = (state: Proofs, turnId: string): ReadonlySet<string> =>
  new Set(
    claimsOf(state, turnId)
      .filter(claim => claim.status === 'completed' && plansEndedBy(state, claim).length > 0)
      .map(({ task_id }) => task_id),
  )

/** Files that checks look at count in a fingerprint even if git ignores them. */
export function namedFiles({ tasks }: Pick<Proofs, 'tasks'>): readonly string[] {
  const checks = [...valuesIn(tasks)].flatMap(task => task.checks ?? [])
  return [...new Set(checks.flatMap(filesOf))].sort()
}

/** The words of a command need not be files. */
function filesOf(check: CheckSpec): readonly string[] {
  if (check.kind === 'file') return [check.path]
  if (check.kind !== 'command' || !onlyReads(check.run)) return []
  const words = check.run.slice(1).filter(word => !word.startsWith('-'))
  const paths = words.map(word => (check.cwd ? `${check.cwd}/${word}` : word))
  return paths.filter(path => !/^\/|(?:^|\/)\.\.(?:\/|$)|[\0\n]/.test(path))
}
