import type { Json } from '../domain/event.ts'
import type { Redactor } from '../domain/redact.ts'

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

/** Redacts the lines of a JSON log, after everything was put into them: messages, stacks, what an error carries. */
export const redactedLines =
  (redact: Redactor) =>
  (line: string): string =>
    `${JSON.stringify(redact.entry(JSON.parse(line) as Json))}\n`
