import { RequestError } from '@hono/node-server'
import type { RefusalCode } from '../domain/refusal.ts'
import { Refusal } from '../domain/refusal.ts'
import type { ErrorBody, ErrorDetails } from '../domain/wire.ts'
import { StoreError } from '../door/door.ts'

/** What an edge itself turns down, before any rule is asked. */
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

export interface ErrorAnswer {
  readonly status: number
  readonly error: ErrorBody
  readonly headers?: Readonly<Record<string, string>>
}

/** The status of each refusal. The code goes out as it is. */
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
  assessment_required: 409,
  not_accepted: 409,
  rejected_task_stays: 409,
  assessor_required: 400,
  persons_only: 403,
  no_turn: 409,
  turn_not_found: 404,
  turn_running: 409,
  turn_conflict: 409,
  turn_finished: 409,
  review_not_found: 404,
  review_already_decided: 409,
  review_expired: 409,
}

/** Storage that fails says so; what will pass by itself may be tried again. */
const STORAGE: Record<StoreError['code'], { readonly status: number; readonly again?: true }> = {
  key_conflict: { status: 409 },
  fenced: { status: 409 },
  busy: { status: 503, again: true },
  full: { status: 507 },
  readonly: { status: 503 },
  corrupt: { status: 503 },
  newer: { status: 503 },
  io: { status: 503, again: true },
  unknown_outcome: { status: 503 },
  file_invalid: { status: 409 },
  id_taken: { status: 409 },
  closed: { status: 503, again: true },
}

/** The answer to whatever was thrown, or undefined where nobody foresaw it. */
export function errorAnswer(error: unknown): ErrorAnswer | undefined {
  if (error instanceof HttpError) {
    const { status, code, message, details, headers } = error
    return { status, error: { code, message, ...details }, headers }
  }
  if (error instanceof Refusal) {
    const { code, message, data } = error
    return { status: REFUSED[code], error: { code, message, ...data } }
  }
  if (error instanceof StoreError) {
    const { status, again } = STORAGE[error.code]
    return { status, error: { code: error.code, message: error.message }, ...(again ? { headers: AGAIN } : {}) }
  }
  if (error instanceof RequestError) {
    return { status: 400, error: { code: 'invalid_request', message: 'The request names no place that can be read.' } }
  }
  return undefined
}

const AGAIN = { 'retry-after': '1' } as const

export const notFound = (code: string, message: string): HttpError => new HttpError(404, code, message)
