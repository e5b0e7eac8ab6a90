import type { ToolsetName } from 'runsheet/client'

/** What each toolset is, in words. */
export interface ToolsetStrings {
  readonly heading: string
  /** The name on the button, and what it means. */
  readonly of: Readonly<Record<ToolsetName, readonly [name: string, about: string]>>
  readonly review: string
  readonly assessor: string
  readonly gate: string
  readonly noReview: string
  /** Follows it, where there is room. */
  readonly noReviewWhy: string
}
