import type { Usage, Verdict } from './event.ts'

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
}

/** A claim with every answer that the assessor gave; the last one counts. */
export interface Judged {
  readonly claim: Claim
  readonly opinions: readonly Opinion[]
}

export const verdictOn = (judged: readonly Judged[], task: string | number): Opinion | undefined =>
  judged.find(({ claim }) => claim.task === task)?.opinions.at(-1)
