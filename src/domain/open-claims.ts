import type { Check, CheckResult } from './check.ts'
import { type Plan, planById } from './plan.ts'
import { type CheckRun, countingChecks, type OpenClaim, proofOf, type Proofs, taskRuns } from './proof.ts'
import { valueIn, valuesIn } from './table.ts'

/** How the checks of a claim stand. */
export type Resolution =
  | { readonly result: 'waiting' }
  | { readonly result: 'passed' }
  | { readonly result: 'failed' | 'inconclusive'; readonly check: Check; readonly run?: CheckRun }
  /** The checks do not matter any more. */
  | { readonly result: 'ended'; readonly because: string; readonly isGone?: true }

/** A claim of a call that is made again, and how its checks ended. */
export interface ResolvedClaim {
  readonly claim: OpenClaim
  readonly resolution: Resolution
}

/** The claims of a call, once all are checked. */
export const resolvedClaims = (state: Proofs, turnId: string, callId: string): readonly ResolvedClaim[] =>
  claimsOf(state, turnId, callId).map(claim => ({ claim, resolution: resolutionOf(state, claim) }))

/** The claims, of which those whose checks stand like this end for another reason. `isGone`: their workspace does not exist. */
export const withEnd = (
  claims: readonly ResolvedClaim[],
  result: 'waiting' | 'passed',
  because: string,
  isGone = false,
): readonly ResolvedClaim[] =>
  claims.map(each => {
    if (each.resolution.result !== result) return each
    return { ...each, resolution: { result: 'ended', because, ...(isGone ? { isGone: true } : {}) } }
  })

export function resolutionOf(state: Proofs, claim: OpenClaim): Resolution {
  if (claim.ended !== undefined) return { result: 'ended', because: claim.ended }
  const task = valueIn(state.tasks, claim.task_id)
  if (!task) return { result: 'ended', because: 'gone' }
  if (claim.status === 'cancelled') return { result: 'passed' }
  for (const check of countingChecks(state, task)) {
    const result = resultFor(state, claim, check)
    if (result === undefined) return { result: 'waiting' }
    const { last } = taskRuns(state, task.id, check.hash) ?? {}
    if (result !== 'passed') return { result, check, ...(last ? { run: last } : {}) }
  }
  return { result: 'passed' }
}

function resultFor(state: Proofs, claim: OpenClaim, check: Check): CheckResult | undefined {
  if (check.kind !== 'person') return claim.results[check.hash]
  return proofOf(state, claim.task_id).ticked.includes(check.id) ? 'passed' : undefined
}

/** The open claims of a turn, or of one of its calls, oldest first. */
export function claimsOf({ claims }: Pick<Proofs, 'claims'>, turnId: string, callId?: string): OpenClaim[] {
  return [...valuesIn(claims)]
    .filter(claim => claim.turn_id === turnId && (callId === undefined || claim.tool_call_id === callId))
    .sort((a, b) => a.seq - b.seq || (a.claim_id < b.claim_id ? -1 : 1))
}

export const claimOn = ({ claims }: Pick<Proofs, 'claims'>, taskId: string): OpenClaim | undefined =>
  [...valuesIn(claims)].find(claim => claim.task_id === taskId)

/** Whether all claims of a call are checked: then it is performed. */
export const isResolved = (state: Proofs, claims: readonly OpenClaim[]): boolean =>
  claims.every(claim => resolutionOf(state, claim).result !== 'waiting')

/** The claims of the oldest call of a turn that is checked, and can be made again. */
export function settleable(state: Proofs, turnId: string): readonly OpenClaim[] {
  const claims = claimsOf(state, turnId)
  for (const { tool_call_id } of claims) {
    const together = claims.filter(claim => claim.tool_call_id === tool_call_id)
    if (isResolved(state, together)) return together
  }
  return []
}

/** How the checks of a claim stand that nothing stands against. */
export const GRANTABLE: ReadonlySet<Resolution['result']> = new Set(['passed', 'waiting'])

/**
 * The plans of which nothing is left open if a call's claims are granted, unless one of them is known to be
 * refused.
 */
export function plansEndedBy(state: Proofs, { turn_id, tool_call_id }: OpenClaim): readonly Plan[] {
  const together = claimsOf(state, turn_id, tool_call_id)
  if (together.some(each => !GRANTABLE.has(resolutionOf(state, each).result))) return []
  const claimed = new Set(together.map(({ task_id }) => task_id))
  return claimedPlans(state, together).filter(plan => plan.open.every(id => claimed.has(id)))
}

/** The plans that claims are about. */
export const claimedPlans = (state: Proofs, claims: readonly OpenClaim[]): readonly Plan[] =>
  [...new Set(claims.flatMap(({ task_id }) => valueIn(state.tasks, task_id)?.plan_id ?? []))].map(id =>
    planById(state, id),
  )
