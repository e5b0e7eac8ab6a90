import type { Usage, Verdict } from '../model/event.ts'
import { isBlank } from '../model/text.ts'

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
