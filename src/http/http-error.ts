import type { ErrorDetails } from '../domain/wire.ts'

/** A request refused by HTTP itself, before any domain rule applies. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly status: number
  readonly code: string
  readonly details: ErrorDetails
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: string,
    message: string,
    { headers = {}, ...details }: ErrorDetails & { headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
    this.headers = headers
  }
}

export const notFound = (code: string, message: string): HttpError => new HttpError(404, code, message)
