import type { CheckResult } from '../domain/check.ts'

export interface Outcome {
  readonly result: CheckResult
  readonly exit?: number
  /** The end of the output as plain text, without secrets. */
  readonly tail?: string
  /** Covers all output that was read. */
  readonly output_sha256?: string
  readonly reason?: string
  /** Not run, because it differs from what was approved. */
  readonly changed?: true
}

export const passed: Outcome = { result: 'passed' }
export const failed = (reason: string): Outcome => ({ result: 'failed', reason })
export const inconclusive = (reason: string): Outcome => ({ result: 'inconclusive', reason })
