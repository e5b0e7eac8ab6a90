import { RunsheetError } from '../../../client/http.ts'
import type { FieldProblem, RefusalCode, RefusalData } from '../../../core/model/refusal.ts'
import type { TaskStatus } from '../../../core/model/task.ts'
import type { ErrorDetails } from '../../../core/views/wire.ts'
import type { Strings } from './strings.ts'

/** The rule that a field breaks, as `invalid_field` names it. */
export type FieldRule = FieldProblem['rule']

/** The data of a refusal. All fields are optional: some routes use the same codes without them. */
export type ErrorData<C extends RefusalCode = RefusalCode> = Partial<RefusalData[C]>

/** Refusals that only agents and programs can cause. They are shown in the server's words. */
type AgentCode =
  | 'invalid_id'
  | 'edited_by_person'
  | 'reviewed_tasks_are_fixed'
  | 'not_accepted'
  | 'claims_spent'
  | 'disputes_spent'
  | 'settled_by_person'
  | 'rejected_task_stays'
  | 'check_failed'
  | 'plan_check_failed'
  | 'not_checked'
  | 'claim_open'
  | 'assessor_required'
  | 'too_many_reviews'

type ServerCode =
  | 'unreachable'
  | 'upgrade_required'
  | 'unauthorized'
  | 'rate_limited'
  | 'too_many_requests'
  | 'body_too_large'
  | 'not_implemented'
  | 'unsupported'
  | 'internal'
  | 'busy'
  | 'io'
  | 'full'
  | 'readonly'
  | 'closed'
  | 'session_not_found'
  | 'template_not_found'
  | 'template_exists'
  | 'settings_changed'
  | 'settings_unreadable'
  | 'settings_not_saved'

/** `invalid_field` has one sentence per rule instead. */
type PersonCode = Exclude<RefusalCode, AgentCode | 'invalid_field'>

/** Codes with a translated sentence. Other errors are shown in the server's words. */
export type ErrorCode = PersonCode | ServerCode | 'file_invalid'

type StatusWords = Readonly<Record<TaskStatus, string>>

/** The sentences for errors, by code and by broken rule. */
export interface ErrorStrings {
  readonly byCode: { readonly [C in PersonCode]: (data: ErrorData<C>, status: StatusWords) => string } & {
    readonly [C in ServerCode]: () => string
  } & { readonly file_invalid: (data: Pick<ErrorDetails, 'file'>) => string }
  /** Names of fields; other fields keep the server's name. */
  readonly field: Readonly<Record<string, string>>
  /** An invalid check, with the server's English description of what it expected. */
  readonly check: (expected: string | undefined) => string
  readonly byRule: { readonly [R in FieldRule]: (field: string, problem: Omit<FieldProblem, 'rule'>) => string }
}

/** Describes an error to a person in the language of `strings`. */
export function errorText(strings: Strings, error: unknown): string {
  if (!(error instanceof RunsheetError)) return error instanceof Error ? error.message : String(error)
  const { code, details, message } = error
  // An invalid query parameter has the same data as an invalid field.
  if (code === 'invalid_field' || (code === 'invalid_request' && details.field !== undefined)) {
    return fieldText(strings, details)
  }
  const { byCode } = strings.errors
  return isKey(byCode, code) ? (byCode[code] as Sentence)(details, strings.status) : message
}

type Sentence = (data: ErrorData, status: StatusWords) => string

function fieldText({ errors }: Strings, data: ErrorData<'invalid_field'>): string {
  const { field = '', rule, expected } = data
  const isCheck = /^checks?(\[|$)/.test(field)
  if (isCheck && rule === 'invalid') return errors.check(expected)
  const key = isCheck ? 'check' : field.startsWith('row_comments') ? 'comment' : field
  const name = isKey(errors.field, key) ? errors.field[key] : field
  return errors.byRule[isKey(errors.byRule, rule) ? rule : 'invalid'](name ?? field, data)
}

const isKey = <T extends object>(table: T, key: unknown): key is keyof T =>
  typeof key === 'string' && Object.hasOwn(table, key)
