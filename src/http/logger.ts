import type { Json } from '../domain/event.ts'
import type { Redactor } from '../domain/redact.ts'

/** Receives the server's failures. A pino logger fits. */
export interface Logger {
  /** Reports an unexpected error: `details.err`, and the route that failed. */
  error(details: LogDetails, message: string): void
  /** Reports a failure that clients recover from, such as a broken stream. */
  warn(details: LogDetails, message: string): void
}

/** The error and its context. */
export interface LogDetails {
  readonly err: unknown
  readonly [name: string]: unknown
}

/** Redacts whole JSON log lines, so that it also covers messages, stacks and error properties. */
export const redactedLines =
  (redact: Redactor) =>
  (line: string): string =>
    `${JSON.stringify(redact.entry(JSON.parse(line) as Json))}\n`
