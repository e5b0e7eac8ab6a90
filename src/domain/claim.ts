import type { Usage, Verdict } from './event.ts'
import { isBlank } from './text.ts'

/** Rejections after which a task is blocked. */
export const MAX_REJECTIONS = 2
/** Rejections after which a model's claims on a task are refused unasked: one more claim than it takes to block it. */
export const MAX_REJECTED_CLAIMS = MAX_REJECTIONS + 1

/** What a model says it has settled, before the assessor has ruled on it. */
export interface Claim {
  /** The id of a listed task, or the index of a new one in the call that creates it. */
  readonly task: string | number
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

/** A claim with every answer that the assessor gave; the last one counts. */
export interface Judged {
  readonly claim: Claim
  readonly opinions: readonly Opinion[]
}

export const judgedOn = (judged: readonly Judged[], task: string | number): Judged | undefined =>
  judged.find(({ claim }) => claim.task === task)

export interface Objection {
  readonly verdict: Exclude<Verdict, 'ok'>
  readonly reason: string
}

/** Why a claim is not granted; undefined if the assessor's last word was ok. */
export function objectionTo({ opinions }: Judged): Objection | undefined {
  const { verdict, reason } = opinions.at(-1) ?? { verdict: 'unknown', reason: 'The assessor was not asked.' }
  return verdict === 'ok' ? undefined : { verdict, reason: reasonIn({ verdict, reason }) }
}

/** The reason, or that there is none, for what is not ok. */
export const reasonIn = ({ verdict, reason }: Pick<Opinion, 'verdict' | 'reason'>): string =>
  verdict !== 'ok' && isBlank(reason) ? 'The assessor gave no reason.' : reason

export const isSameClaim = (a: Claim, b: Claim): boolean =>
  (Object.keys(a) as (keyof Claim)[]).every(field => a[field] === b[field])
