import type { Usage, Verdict } from '../model/event.ts'
import { isBlank } from '../model/text.ts'
import type { Check, CheckResult } from './check.ts'
import { cleanFields, type SomeFields } from '../model/fields.ts'
import { planById, type Plan } from '../model/plan.ts'
import { awaitedChecks, proofOf, taskRuns, type CheckRun, type HeldCall, type OpenClaim, type Proofs } from './proof.ts'
import { Refusal } from '../model/refusal.ts'
import { valueIn, valuesIn } from '../model/table.ts'

/** Rejections after which a task is blocked. */
export const MAX_REJECTIONS = 2
/**
 * Rejections after which further claims are refused without asking the judge: one more than it takes to block the task.
 */
export const MAX_REJECTED_CLAIMS = MAX_REJECTIONS + 1

export interface Claim {
  readonly task: string
  readonly title: string
  readonly details: string
  readonly criteria: string
  readonly status: 'completed' | 'cancelled'
  readonly outcome: string
}

export interface Opinion {
  readonly verdict: Verdict
  readonly reason: string
  readonly model: string
  readonly usage?: Usage
  /** The basis of an ok: cited evidence, uncited evidence, or words alone. */
  readonly rests?: VerdictBasis
  readonly cited?: readonly string[]
}

export type VerdictBasis = 'cited' | 'uncited' | 'words'

export const reasonIn = ({ verdict, reason }: Pick<Opinion, 'verdict' | 'reason'>): string =>
  verdict !== 'ok' && isBlank(reason) ? 'The assessor gave no reason.' : reason

export type Checked =
  | { readonly result: 'waiting'; readonly check: Check }
  | { readonly result: 'passed' }
  | { readonly result: 'failed' | 'inconclusive'; readonly check: Check; readonly run?: CheckRun }
  /** A person edited or removed the task. */
  | { readonly result: 'closed' }

export function checkedBy(state: Proofs, claim: OpenClaim): Checked {
  const task = valueIn(state.tasks, claim.task_id)
  // A new task is created with the answer.
  if (!task) return { result: draftOf(state, claim) ? 'passed' : 'closed' }
  if (Object.values(valueIn(state.edits, task.id) ?? {}).some(seq => seq > claim.seq)) return { result: 'closed' }
  if (claim.status === 'cancelled') return { result: 'passed' }
  for (const check of awaitedChecks(state, task)) {
    const result = resultFor(state, claim, check)
    if (result === undefined) return { result: 'waiting', check }
    const { last } = taskRuns(state, task.id, check.hash) ?? {}
    if (result !== 'passed') return { result, check, ...(last ? { run: last } : {}) }
  }
  return { result: 'passed' }
}

function resultFor(state: Proofs, claim: OpenClaim, check: Check): CheckResult | undefined {
  if (check.kind !== 'person') return claim.results[check.hash]
  return proofOf(state, claim.task_id).ticked.includes(check.id) ? 'passed' : undefined
}

export function claimsOf({ claims }: Pick<Proofs, 'claims'>, turnId: string, callId?: string): OpenClaim[] {
  return [...valuesIn(claims)]
    .filter(claim => claim.turn_id === turnId && (callId === undefined || claim.tool_call_id === callId))
    .sort((a, b) => a.seq - b.seq || (a.claim_id < b.claim_id ? -1 : 1))
}

export const claimOn = ({ claims }: Pick<Proofs, 'claims'>, taskId: string): OpenClaim | undefined =>
  [...valuesIn(claims)].find(claim => claim.task_id === taskId)

export const heldBy = (claims: readonly OpenClaim[]): HeldCall | undefined => claims.find(({ held }) => held)?.held

const draftOf = (state: Proofs, { turn_id, tool_call_id, task_id }: OpenClaim) =>
  heldBy(claimsOf(state, turn_id, tool_call_id))?.edit.create?.find(({ id }) => id === task_id)

export function claimText(state: Proofs, claim: OpenClaim): Claim {
  const { turn_id, tool_call_id, task_id, status, outcome } = claim
  const task = valueIn(state.tasks, task_id)
  const { create = [], change = [] } = heldBy(claimsOf(state, turn_id, tool_call_id))?.edit ?? {}
  const said: readonly SomeFields[] = [
    ...create.filter(({ id }) => id === task_id),
    ...change.flatMap(each => (each.task === task_id || each.task === task?.number ? each.fields : [])),
  ]
  const fields = said.map(each => cleanFields(each)).map(each => (each instanceof Refusal ? {} : each))
  const { title = '', details = '', criteria = '' } = Object.assign({}, task, ...fields)
  return { task: task_id, title, details, criteria, status, outcome }
}

export const areChecked = (state: Proofs, claims: readonly OpenClaim[]): boolean =>
  claims.every(claim => checkedBy(state, claim).result !== 'waiting')

/** The claims of the oldest call of the turn whose checks are all over. */
export function settleable(state: Proofs, turnId: string): readonly OpenClaim[] {
  const claims = claimsOf(state, turnId)
  for (const { tool_call_id } of claims) {
    const together = claims.filter(claim => claim.tool_call_id === tool_call_id)
    if (areChecked(state, together)) return together
  }
  return []
}

/** Calls of external agents that a person's edits have closed. The next call or worker settles them. */
export function closedCalls(state: Proofs): readonly OpenClaim[] {
  const calls = Map.groupBy(valuesIn(state.claims), ({ turn_id, tool_call_id }) => `${turn_id} ${tool_call_id}`)
  return [...calls.values()].flatMap(([first, ...others]) => {
    const isElsewhere = first && valueIn(state.turns, first.turn_id)?.status === 'open'
    const isClosed = isElsewhere && [first, ...others].every(claim => checkedBy(state, claim).result === 'closed')
    return isClosed ? first : []
  })
}

const GRANTABLE: ReadonlySet<Checked['result']> = new Set(['passed', 'waiting'])

/** The plans that end if all claims of a call are granted; none that a known refusal keeps open. */
export function plansEndedBy(state: Proofs, { turn_id, tool_call_id }: OpenClaim): readonly Plan[] {
  const together = claimsOf(state, turn_id, tool_call_id)
  if (together.some(each => !GRANTABLE.has(checkedBy(state, each).result))) return []
  const claimed = new Set(together.map(({ task_id }) => task_id))
  return claimedPlans(state, together).filter(plan => plan.open.every(id => claimed.has(id)))
}

export const claimedPlans = (state: Proofs, claims: readonly OpenClaim[]): readonly Plan[] =>
  [...new Set(claims.flatMap(({ task_id }) => valueIn(state.tasks, task_id)?.plan_id ?? []))].map(id =>
    planById(state, id),
  )
