/** Where the server reports failures. A pino logger fits. */
export interface Logger {
  /** An unexpected error: `details.err`, and the route it happened on. */
  error(details: LogDetails, message: string): void
  /** A failure that clients recover from by themselves, such as a stream that broke off. */
  warn(details: LogDetails, message: string): void
}

/** The error, and what else is known about it. */
export interface LogDetails {
  readonly err: unknown
  readonly [name: string]: unknown
}
