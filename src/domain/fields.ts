import { Refusal } from './errors.ts'
import { PRIORITIES, type Priority, STATUSES, type TaskStatus } from './task.ts'
import { LIMITS, line, Problem, prose, tagList } from './text.ts'

/** What may be said about a task, by whoever says it. Each field is checked here and nowhere else. */
export interface TaskFields {
  readonly title: string
  readonly details: string
  readonly criteria: string
  readonly priority: Priority
  readonly tags: readonly string[]
  readonly status: TaskStatus
  readonly outcome: string
  /** A place in the list of the conversation: where the task at that position stands now. */
  readonly position: number
  /** A 1-based place in the plan, for new tasks. */
  readonly order: number
  readonly agent_type: string
  readonly parent_id: string
  readonly file_id: string
}
export type SomeFields = { readonly [K in keyof TaskFields]?: TaskFields[K] | undefined }

type Check<T> = (raw: unknown) => T | Problem

const CHECKS: { readonly [K in keyof TaskFields]: Check<TaskFields[K]> } = {
  title: raw => line(raw),
  details: prose,
  criteria: prose,
  priority: oneOf(PRIORITIES),
  tags: tagList,
  status: oneOf(STATUSES),
  outcome: prose,
  // JSON writes -0 as 0: it would be another number once it was stored.
  position: raw =>
    typeof raw === 'number' && Math.abs(raw) <= 1e9 ? raw + 0 : new Problem('must be a number, a place in the list'),
  order: raw =>
    typeof raw === 'number' && Number.isInteger(raw) ? raw + 0 : new Problem('must be a whole number, counted from 1'),
  agent_type: raw => line(raw, LIMITS.tag),
  parent_id: raw => line(raw, LIMITS.reference),
  file_id: raw => line(raw, LIMITS.reference),
}

/** The named fields, cleaned, or which one is wrong and why. Unknown keys are ignored; `undefined` is not named. */
export function cleanFields(raw: SomeFields, row?: number): Partial<TaskFields> | Refusal {
  if (typeof raw !== 'object' || raw === null) return invalidField('row', 'must be an object', row)
  const clean: Record<string, unknown> = {}
  for (const field of Object.keys(raw) as (keyof TaskFields)[]) {
    if (raw[field] === undefined || !Object.hasOwn(CHECKS, field)) continue
    const value = CHECKS[field](raw[field])
    if (value instanceof Problem) return invalidField(field, value.message, row)
    clean[field] = value
  }
  return clean
}

export function invalidField(field: string, problem: string, row?: number): Refusal {
  const where = row === undefined ? field : `Element ${row}: ${field}`
  return new Refusal('invalid_field', `${where} ${problem}.`, row === undefined ? { field } : { row, field })
}

function oneOf<T extends string>(allowed: readonly T[]): Check<T> {
  return raw => allowed.find(value => value === raw) ?? new Problem(`must be one of ${allowed.join(', ')}`)
}
