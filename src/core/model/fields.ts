import { cleanChecks, cleanGlobs } from '../proof/check.ts'
import { invalidField, Refusal } from './refusal.ts'
import { FIELD_NAMES, FIELD_WORDS, type FieldKind, FIELDS, isOptional, type Row, type RowField } from './row.ts'
import { STATUSES, type TaskStatus } from './task.ts'
import { isBlank, LIMITS, line, Problem, prose, tagList } from './text.ts'

/** The fields of a task that a caller may set. Each is validated here and nowhere else. */
export interface TaskFields extends Required<Omit<Row, 'status'>> {
  readonly status: TaskStatus
  readonly outcome: string
  /** The position of the task whose place it takes. */
  readonly position: number
  /** For new tasks: a 1-based place in the plan. */
  readonly order: number
  readonly agent_type: string
  readonly parent_id: string
  readonly file_id: string
}
export type SomeFields = { readonly [K in keyof TaskFields]?: TaskFields[K] | undefined }

type Rule = (raw: unknown) => unknown

const KINDS: { readonly [K in FieldKind]: (name: RowField) => Rule } = {
  line: name => raw => (isOptional(name) && isNothing(raw) ? '' : line(raw)),
  text: () => prose,
  choice: name => oneOf(FIELD_WORDS[name].values ?? []),
  list: () => tagList,
  globs: name => raw => cleanGlobs(raw, name),
  checks: () => cleanChecks,
}

const ROW_RULES = Object.fromEntries(FIELD_NAMES.map(name => [name, KINDS[FIELDS[name].kind](name)])) as {
  readonly [K in RowField]: Rule
}

const RULES: { readonly [K in keyof TaskFields]: Rule } = {
  ...ROW_RULES,
  status: oneOf(STATUSES),
  outcome: prose,
  // `+ 0` turns -0 into 0, as JSON does.
  position: raw => (typeof raw === 'number' && Math.abs(raw) <= 1e9 ? raw + 0 : new Problem({ rule: 'not_a_number' })),
  order: raw => (typeof raw === 'number' && Number.isInteger(raw) ? raw + 0 : new Problem({ rule: 'not_an_integer' })),
  agent_type: raw => line(raw, LIMITS.tag),
  parent_id: raw => line(raw, LIMITS.reference),
  file_id: raw => line(raw, LIMITS.reference),
}

/** Returns the cleaned fields, or a refusal for the first invalid one. Unknown keys and `undefined` are ignored. */
export function cleanFields(raw: SomeFields, row?: number): Partial<TaskFields> | Refusal {
  return cleaned(raw, RULES, row)
}

export function cleanRowFields(raw: { readonly [K in RowField]?: unknown }, row: number): Partial<Row> | Refusal {
  return cleaned(raw, ROW_RULES, row)
}

function cleaned(raw: object, rules: Readonly<Record<string, Rule>>, row?: number): object | Refusal {
  if (typeof raw !== 'object' || raw === null) return invalidField('row', { rule: 'not_an_object' }, row)
  const clean: Record<string, unknown> = {}
  for (const [field, given] of Object.entries(raw)) {
    const rule = Object.hasOwn(rules, field) ? rules[field] : undefined
    if (given === undefined || !rule) continue
    const value = rule(given)
    if (value instanceof Refusal) return row === undefined ? value : value.at(row)
    if (value instanceof Problem) return invalidField(field, value.fact, row)
    clean[field] = value
  }
  return clean
}

const isNothing = (raw: unknown): boolean => typeof raw === 'string' && isBlank(raw)

function oneOf(allowed: readonly string[]): Rule {
  return raw => allowed.find(value => value === raw) ?? new Problem({ rule: 'not_allowed', allowed })
}
