import { RunsheetError } from '../client/runsheet-error.ts'
import type { FieldProblem, RefusalCode, RefusalData } from '../domain/refusal.ts'
import type { TaskStatus } from '../domain/task.ts'
import type { ErrorDetails } from '../domain/wire.ts'
import type { Strings } from './strings.ts'

/** The rule that a field breaks, as `invalid_field` names it. */
export type FieldRule = FieldProblem['rule']

/** A refusal's facts. All are optional: routes use some of the codes without them. */
export type ErrorData<C extends RefusalCode = RefusalCode> = Partial<RefusalData[C]>

/** Refusals of what only agents and programs do. They are shown in the server's words. */
type AgentCode =
  | 'invalid_id'
  | 'edited_by_person'
  | 'reviewed_tasks_are_fixed'
  | 'not_accepted'
  | 'claims_spent'
  | 'settled_by_person'
  | 'rejected_task_stays'
  | 'check_failed'
  | 'plan_check_failed'
  | 'not_checked'
  | 'claim_open'
  | 'assessor_required'
  | 'too_many_reviews'

/** Errors of the connection, the server and its storage. */
type ServerCode =
  | 'unreachable'
  | 'upgrade_required'
  | 'unauthorized'
  | 'rate_limited'
  | 'too_many_streams'
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

/** `invalid_field` has a sentence per rule instead. */
type PersonCode = Exclude<RefusalCode, AgentCode | 'invalid_field'>

/** Codes with a sentence of their own in every language. Other errors are shown in the server's words. */
export type ErrorCode = PersonCode | ServerCode | 'file_invalid'

type StatusWords = Readonly<Record<TaskStatus, string>>

/** The sentences for errors, by code and by what is wrong with a field. */
export interface ErrorStrings {
  readonly byCode: { readonly [C in PersonCode]: (data: ErrorData<C>, status: StatusWords) => string } & {
    readonly [C in ServerCode]: () => string
  } & { readonly file_invalid: (data: Pick<ErrorDetails, 'file'>) => string }
  /** How `invalid_field` names a field; others are named as the server does. */
  readonly field: Readonly<Record<string, string>>
  /** A check that is refused for what it says, with what the server expects in English. */
  readonly check: (expected: string | undefined) => string
  readonly byRule: { readonly [R in FieldRule]: (field: string, problem: Omit<FieldProblem, 'rule'>) => string }
}

/** The sentence that tells a person about an error, in the language of `strings`. */
export function errorText(strings: Strings, error: unknown): string {
  if (!(error instanceof RunsheetError)) return error instanceof Error ? error.message : String(error)
  const { code, details, message } = error
  // A bad query has the same facts as a bad field.
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
