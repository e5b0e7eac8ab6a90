import type { CheckResult } from '../core/proof/check.ts'
/** Why something could not be run or inspected, as a sentence. A value, because it is a normal result. */
export class Obstacle {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

export const becauseOf = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException
  return (code && MEANINGS[code]) ?? code ?? message
}

const MEANINGS: Readonly<Record<string, string>> = {
  E2BIG: 'its arguments and environment are too long',
  EACCES: 'access is denied',
  EAGAIN: 'the system has no more processes to give',
  EIO: 'the disk failed',
  ELOOP: 'its links lead in a circle',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'its name is too long',
  ENOENT: 'it does not exist',
  ENOMEM: 'there is no memory left',
  ENOTDIR: 'it does not exist',
  EPERM: 'it is not permitted',
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
