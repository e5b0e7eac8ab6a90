import type { Json } from '../../core/model/event.ts'
import { textForAgent } from '../../core/proof/held-out.ts'
import type { Redactor } from '../../core/text/redact.ts'
import { Refusal, type RefusalCode } from '../../core/model/refusal.ts'
import type { ErrorBody, ErrorDetails } from '../../core/views/wire.ts'
import { StoreError, type StorageObserver } from '../../engine/door/door.ts'
import type { Role } from './access.ts'

/** Unexpected errors are logged, not returned. */
export function errorReply(
  error: unknown,
  log: Logger,
  request: Readonly<Record<string, string>>,
  role: Role = 'agent',
): Response {
  const answer = answerTo(error)
  if (!answer) log.error({ err: error, ...request }, 'a request failed')
  const { status, error: body, headers } = answer ?? UNEXPECTED
  const json = JSON.stringify({ error: body })
  return new Response(role === 'person' ? json : textForAgent(json), {
    status,
    headers: { ...SAFE, ...JSON_TYPE, ...headers },
  })
}

/** Logs storage problems without a stack: the message names the file and the fault. */
export const logStorage =
  (log: Logger): StorageObserver =>
  report => {
    const { code, message, detail } = report.error
    if (report.kind === 'failed') {
      log.error({ err: { code, reason: message, detail, file: report.file } }, 'storage failed')
    } else {
      const { failures, ms } = report
      log.warn({ err: { code }, failures, duration_ms: ms }, 'storage works again')
    }
  }

interface ErrorAnswer {
  readonly status: number
  readonly error: ErrorBody
  readonly headers?: Readonly<Record<string, string>>
}

const UNEXPECTED: ErrorAnswer = {
  status: 500,
  error: { code: 'internal', message: "Unexpected error; the server's log has the details." },
}

const REFUSED: Record<RefusalCode, number> = {
  invalid_id: 400,
  invalid_field: 422,
  batch_empty: 422,
  batch_too_large: 422,
  too_many_open: 409,
  two_in_progress: 422,
  task_not_found: 404,
  task_settled: 409,
  status_not_allowed: 409,
  outcome_required: 422,
  version_mismatch: 412,
  edited_by_person: 409,
  reviewed_tasks_are_fixed: 409,
  not_accepted: 409,
  claims_spent: 409,
  disputes_spent: 409,
  not_disputed: 409,
  settled_by_person: 409,
  rejected_task_stays: 409,
  check_failed: 409,
  plan_check_failed: 409,
  not_checked: 409,
  claim_open: 409,
  check_not_found: 404,
  check_not_runnable: 409,
  assessor_required: 400,
  persons_only: 403,
  no_turn: 409,
  turn_not_found: 404,
  turn_running: 409,
  turn_conflict: 409,
  turn_finished: 409,
  no_own_turn: 409,
  too_many_queued: 409,
  message_not_found: 404,
  message_delivered: 409,
  message_withdrawn: 409,
  message_changed: 412,
  approval_not_found: 404,
  approval_already_decided: 409,
  review_not_found: 404,
  review_already_decided: 409,
  review_expired: 409,
  review_not_reopenable: 409,
  review_without_deadline: 409,
  not_undoable: 409,
  too_many_reviews: 409,
  setting_locked: 409,
}

interface StorageAnswer {
  readonly status: number
  readonly retry?: true
}

const STORAGE: Record<StoreError['code'], StorageAnswer> = {
  key_conflict: { status: 409 },
  fenced: { status: 409 },
  busy: { status: 503, retry: true },
  full: { status: 507 },
  readonly: { status: 503 },
  corrupt: { status: 503 },
  newer: { status: 503 },
  older: { status: 503 },
  io: { status: 503, retry: true },
  replaced: { status: 503 },
  unknown_outcome: { status: 503 },
  file_invalid: { status: 409 },
  id_taken: { status: 409 },
  unsupported: { status: 501 },
  closed: { status: 503, retry: true },
}

const RETRY = { 'retry-after': '1' } as const

function answerTo(error: unknown): ErrorAnswer | undefined {
  if (error instanceof HttpError) {
    const { status, code, message, details, headers } = error
    return { status, error: { code, message, ...details }, headers }
  }
  if (error instanceof Refusal) {
    const { code, message, data } = error
    return { status: REFUSED[code], error: { code, message, ...data } }
  }
  if (error instanceof StoreError) {
    const { code, message, file } = error
    const { status, retry } = STORAGE[code]
    return {
      status,
      error: { code, message, ...(file === undefined ? {} : { file }) },
      ...(retry ? { headers: RETRY } : {}),
    }
  }
  // Of @hono/node-server, which `runsheet mcp` would otherwise load with this file.
  if (error instanceof Error && error.name === 'RequestError') {
    return { status: 400, error: { code: 'invalid_request', message: 'The Host header or the URL is malformed.' } }
  }
  return undefined
}

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

export const SAFE = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

export const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' } as const

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
