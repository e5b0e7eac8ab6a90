import type { Policy, ToolsetName } from 'runsheet/client'

/** What each toolset is, in words. */
export interface ToolsetStrings {
  readonly heading: string
  /** The name on the button, and what it is, whatever its policy. */
  readonly of: Readonly<Record<ToolsetName, readonly [name: string, about: string]>>
  /** The name of `runsheet` without review. */
  readonly unreviewed: string
  /** What a policy means. */
  readonly approve: string
  readonly deadline: (span: string) => string
  readonly startsAtOnce: string
  readonly judged: string
  readonly goesOn: string
  /** Stands between two sentences. */
  readonly space: string
  readonly review: string
  readonly assessor: string
  readonly gate: string
  readonly noReview: string
  /** Follows it, where there is room. */
  readonly noReviewWhy: string
}

export const toolsetName = ({ toolset, review }: Pick<Policy, 'toolset' | 'review'>, words: ToolsetStrings): string =>
  toolset === 'runsheet' && !review ? words.unreviewed : words.of[toolset][0]
