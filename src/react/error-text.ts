import { RunsheetError } from '../client/runsheet-error.ts'
import type { Strings } from './strings.ts'

/** The rule that a field breaks, as `invalid_field` names it. */
export type FieldRule =
  | 'empty'
  | 'too_long'
  | 'too_many'
  | 'not_text'
  | 'malformed_unicode'
  | 'not_a_number'
  | 'not_an_integer'
  | 'not_allowed'
  | 'not_an_array'
  | 'not_an_object'
  | 'unknown_key'
  | 'duplicate'
  | 'out_of_range'
  | 'invalid'

/** The data of an error besides its code and message. Which parts are there depends on the code. */
export interface ErrorData {
  readonly row?: number
  readonly field?: string
  readonly rule?: string
  readonly limit?: number
  readonly got?: unknown
  readonly allowed?: readonly unknown[]
  readonly from?: string
  readonly to?: string
}

/** Codes with a sentence of their own in every language. Other errors are shown in the server's words. */
export type ErrorCode =
  | 'unreachable'
  | 'unauthorized'
  | 'persons_only'
  | 'rate_limited'
  | 'too_many_streams'
  | 'body_too_large'
  | 'not_implemented'
  | 'internal'
  | 'busy'
  | 'io'
  | 'full'
  | 'readonly'
  | 'closed'
  | 'session_not_found'
  | 'template_not_found'
  | 'batch_empty'
  | 'batch_too_large'
  | 'too_many_open'
  | 'two_in_progress'
  | 'task_not_found'
  | 'task_settled'
  | 'status_not_allowed'
  | 'outcome_required'
  | 'version_mismatch'
  | 'no_turn'
  | 'turn_not_found'
  | 'turn_running'
  | 'turn_conflict'
  | 'turn_finished'
  | 'review_not_found'
  | 'review_already_decided'
  | 'review_expired'

export interface ErrorStrings {
  readonly byCode: Readonly<Record<ErrorCode, (data: ErrorData) => string>>
  /** How `invalid_field` names a field; others are named as the server does. */
  readonly field: Readonly<Record<string, string>>
  readonly byRule: Readonly<Record<FieldRule, (field: string, data: ErrorData) => string>>
  readonly status: (from: string, to: string, allowed: readonly string[]) => string
}

/** The sentence that tells a person about an error, in the language of `strings`. */
export function errorText(strings: Strings, error: unknown): string {
  if (!(error instanceof RunsheetError)) return error instanceof Error ? error.message : String(error)
  const data: ErrorData = error.details
  if (error.code === 'invalid_field') return fieldText(strings, data)
  if (error.code === 'status_not_allowed' && data.from !== undefined && data.to !== undefined) {
    return statusText(strings, data.from, data.to, data.allowed ?? [])
  }
  const { byCode } = strings.errors
  return isKey(byCode, error.code) ? byCode[error.code](data) : error.message
}

function fieldText({ errors }: Strings, data: ErrorData): string {
  const { field = '', rule = '' } = data
  const name = isKey(errors.field, field) ? errors.field[field] : field
  return errors.byRule[isKey(errors.byRule, rule) ? rule : 'invalid'](name ?? field, data)
}

function statusText({ errors, status }: Strings, from: string, to: string, allowed: readonly unknown[]): string {
  const named = (raw: unknown): string => (isKey(status, raw) ? status[raw] : String(raw))
  return errors.status(named(from), named(to), allowed.map(named))
}

const isKey = <T extends object>(table: T, key: unknown): key is keyof T =>
  typeof key === 'string' && Object.hasOwn(table, key)
