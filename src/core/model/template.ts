import { invalidField, Refusal } from './refusal.ts'
import { confirmedRows, type SubmittedRow } from './review.ts'
import { type Row, visibleFields } from './row.ts'
import { LIMITS, line, Problem } from './text.ts'

/** A saved list of tasks. */
export interface Template {
  readonly name: string
  readonly tasks: readonly Row[]
}

/** Validates the rows like those of a review and fills in the defaults. Their checks are kept, approvals are not. */
export function templateOf(name: string, rows: readonly SubmittedRow[]): Template | Refusal {
  const wrong = templateNameProblem(name)
  if (wrong) return wrong
  const tasks = confirmedRows([], rows)
  return tasks instanceof Refusal ? tasks : { name, tasks: tasks.map(visibleFields) }
}

/**
 * The problem with a template's name, if any. Templates are found by name, so a name that cleaning would change is
 * refused.
 */
export function templateNameProblem(raw: string): Refusal | undefined {
  const name = line(raw, LIMITS.tag)
  if (name instanceof Problem) return invalidField('name', name.fact)
  if (name === raw) return undefined
  const expected = 'one line without control characters or surrounding spaces'
  return invalidField('name', { rule: 'invalid', expected })
}
