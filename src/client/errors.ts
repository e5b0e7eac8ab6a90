import type { ErrorBody } from '../domain/wire.ts'

/** An answer that is no: the server's own code and words, with the row, the field or the task that it is about. */
export class RunsheetError extends Error {
  override readonly name = 'RunsheetError'
  /** 0 where there was no answer at all. */
  readonly status: number
  readonly code: string
  readonly details: Omit<ErrorBody, 'code' | 'message'>
  /** In how many milliseconds it may be tried again, where the server says so. */
  readonly retryAfterMs: number | undefined

  constructor(status: number, { code, message, ...details }: ErrorBody, retryAfterMs?: number) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
    this.retryAfterMs = retryAfterMs
  }
}

export const unreachable = (cause: unknown): RunsheetError => {
  const error = new RunsheetError(0, { code: 'unreachable', message: 'The server cannot be reached.' })
  error.cause = cause
  return error
}
