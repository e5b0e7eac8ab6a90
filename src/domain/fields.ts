import { type Check, cleanChecks, cleanGlobs } from './check.ts'
import { invalidField, Refusal } from './refusal.ts'
import { PRIORITIES, type Priority, STATUSES, type TaskStatus } from './task.ts'
import { LIMITS, line, Problem, prose, tagList } from './text.ts'

/** The fields of a task that a caller may set. Each is validated here and nowhere else. */
export interface TaskFields {
  readonly title: string
  readonly details: string
  readonly criteria: string
  readonly priority: Priority
  readonly tags: readonly string[]
  readonly status: TaskStatus
  readonly outcome: string
  /** The position of the task whose place it takes. */
  readonly position: number
  /** For new tasks: a 1-based place in the plan. */
  readonly order: number
  readonly agent_type: string
  readonly parent_id: string
  readonly file_id: string
  /** With the ids and hashes that the edge gave them. */
  readonly checks: readonly Check[]
  /** Globs of guarded files that the task may change. */
  readonly may_change: readonly string[]
}
export type SomeFields = { readonly [K in keyof TaskFields]?: TaskFields[K] | undefined }

type Rule<T> = (raw: unknown) => T | Problem | Refusal

const RULES: { readonly [K in keyof TaskFields]: Rule<TaskFields[K]> } = {
  title: raw => line(raw),
  details: prose,
  criteria: prose,
  priority: oneOf(PRIORITIES),
  tags: tagList,
  status: oneOf(STATUSES),
  outcome: prose,
  // `+ 0` turns -0 into 0, as JSON does.
  position: raw => (typeof raw === 'number' && Math.abs(raw) <= 1e9 ? raw + 0 : new Problem({ rule: 'not_a_number' })),
  order: raw => (typeof raw === 'number' && Number.isInteger(raw) ? raw + 0 : new Problem({ rule: 'not_an_integer' })),
  agent_type: raw => line(raw, LIMITS.tag),
  parent_id: raw => line(raw, LIMITS.reference),
  file_id: raw => line(raw, LIMITS.reference),
  checks: cleanChecks,
  may_change: cleanGlobs,
}

/** The fields that are set, cleaned; or the first that is invalid. Unknown keys and `undefined` are ignored. */
export function cleanFields(raw: SomeFields, row?: number): Partial<TaskFields> | Refusal {
  if (typeof raw !== 'object' || raw === null) return invalidField('row', { rule: 'not_an_object' }, row)
  const clean: Record<string, unknown> = {}
  for (const field of Object.keys(raw) as (keyof TaskFields)[]) {
    if (raw[field] === undefined || !Object.hasOwn(RULES, field)) continue
    const value = RULES[field](raw[field])
    if (value instanceof Refusal) return row === undefined ? value : value.at(row)
    if (value instanceof Problem) return invalidField(field, value.fact, row)
    clean[field] = value
  }
  return clean
}

function oneOf<T extends string>(allowed: readonly T[]): Rule<T> {
  return raw => allowed.find(value => value === raw) ?? new Problem({ rule: 'not_allowed', allowed })
}
