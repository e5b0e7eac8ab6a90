import type { Usage, Verdict } from '../domain/event.ts'

/** What a model says it has settled, before the assessor has looked at it. */
export interface Claim {
  /** A task of the list, or the place of a new one in the call that makes it. */
  readonly task: string | number
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
}

/** A claim with what the assessor said, as often as it was asked; the last word counts. */
export interface Judged {
  readonly claim: Claim
  readonly opinions: readonly Opinion[]
}

export const verdictOn = (judged: readonly Judged[], task: string | number): Opinion | undefined =>
  judged.find(({ claim }) => claim.task === task)?.opinions.at(-1)
