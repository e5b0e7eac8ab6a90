import type { CheckResult } from '../domain/check.ts'

/** What a run found. */
export interface Outcome {
  readonly result: CheckResult
  readonly exit?: number
  /** The end of the output: plain text without secrets. */
  readonly tail?: string
  /** Of all output that was read. */
  readonly output_sha256?: string
  /** Why it did not pass. */
  readonly reason?: string
  /** It was not run: it is not what was approved any more. */
  readonly changed?: true
}

export const passed: Outcome = { result: 'passed' }
export const failed = (reason: string): Outcome => ({ result: 'failed', reason })
export const inconclusive = (reason: string): Outcome => ({ result: 'inconclusive', reason })
