import type { ErrorBody, ErrorDetails } from '../domain/wire.ts'

/** A request that failed, with the server's code and message. */
export class RunsheetError extends Error {
  override readonly name = 'RunsheetError'
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number
  readonly code: string
  /** Everything else that the error carries, such as `row`, `field` or `task`. */
  readonly details: ErrorDetails
  /** In how many milliseconds to retry, if the server says so. */
  readonly retryAfterMs: number | undefined

  constructor(status: number, { code, message, ...details }: ErrorBody, retryAfterMs?: number) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
    this.retryAfterMs = retryAfterMs
  }

  toJSON(): { readonly status: number } & ErrorBody {
    return { ...this.details, status: this.status, code: this.code, message: this.message }
  }
}

export const unreachable = (cause: unknown): RunsheetError => {
  const error = new RunsheetError(0, { code: 'unreachable', message: 'The server cannot be reached.' })
  error.cause = cause
  return error
}
