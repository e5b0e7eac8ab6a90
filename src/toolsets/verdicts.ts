import type { Claim, Judged } from '../domain/claim.ts'
import { SEALED } from '../domain/task.ts'
import { hashOf, type Transaction } from '../door/door.ts'

export interface VerdictsOptions {
  readonly turnId: string
  /** The seq that the claim is based on. */
  readonly basis: number
  /** Whether `ok` grants the claim. Otherwise the edit that claimed it does. */
  readonly grants?: boolean
}

/** Records every answer that the assessor gave on a claim, with what it judged. */
export function recordVerdicts(
  transaction: Transaction,
  task: string,
  { claim, opinions }: Judged,
  { turnId, basis, grants = false }: VerdictsOptions,
): void {
  const { status, outcome } = claim
  const granted = grants ? { claim: { status, ...(outcome === '' ? {} : { outcome }) } } : {}
  const seal = sealOf(claim)
  for (const opinion of opinions) {
    transaction.run({ type: 'assess_task', turn_id: turnId, task, ...opinion, ...granted, seal, basis })
  }
}

/** A SHA-256 of the text that a verdict is about. The seal of the task is the same as long as nobody rewords it. */
export const sealOf = (text: Pick<Claim, (typeof SEALED)[number]>): string =>
  Buffer.from(hashOf(SEALED.map(field => text[field])), 'base64url').toString('hex')
