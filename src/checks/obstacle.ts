import { getSystemErrorMap } from 'node:util'
import type { CheckResult } from '../core/proof/check.ts'

/** Why something could not be run or inspected, as a sentence. A value, because it is a normal result. */
export class Obstacle {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

/** The system's words for an error: "no such file or directory". */
export const becauseOf = (error: unknown): string => {
  const { errno, message } = error as NodeJS.ErrnoException
  return errno === undefined ? message : (getSystemErrorMap().get(errno)?.[1] ?? message)
}

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
