import type { ErrorBody, ErrorDetails } from '../core/views/wire.ts'

/** A failed request, with the server's code and message. */
export class RunsheetError extends Error {
  override readonly name = 'RunsheetError'
  /** The HTTP status; 0 if there was no response. */
  readonly status: number
  readonly code: string
  /** The other fields of the error, such as `row`, `field` or `task`. */
  readonly details: ErrorDetails
  /** Milliseconds to wait before a retry, if the server says so. */
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
