import type { Usage, Verdict } from './event.ts'
import { isBlank } from './text.ts'

/** Rejections after which a task is blocked. */
export const MAX_REJECTIONS = 2
/** Rejections after which a model's claims on a task are refused unasked: one more claim than it takes to block it. */
export const MAX_REJECTED_CLAIMS = MAX_REJECTIONS + 1

/** What a model says it has settled, before the assessor has ruled on it. */
export interface Claim {
  /** The id of the task. */
  readonly task: string
  readonly title: string
  readonly details: string
  readonly criteria: string
  readonly status: 'completed' | 'cancelled'
  readonly outcome: string
}

/** One answer of the assessor. */
export interface Opinion {
  readonly verdict: Verdict
  readonly reason: string
  readonly model: string
  readonly usage?: Usage
  /** What an ok rests on: evidence that it cites, evidence that it does not name, or words alone. */
  readonly rests?: VerdictBasis
  /** The evidence that it names, by id. */
  readonly cited?: readonly string[]
}

export type VerdictBasis = 'cited' | 'uncited' | 'words'

/** The reason, or that there is none, for what is not ok. */
export const reasonIn = ({ verdict, reason }: Pick<Opinion, 'verdict' | 'reason'>): string =>
  verdict !== 'ok' && isBlank(reason) ? 'The assessor gave no reason.' : reason
