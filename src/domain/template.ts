import { invalidField, Refusal } from './refusal.ts'
import { confirmedRows, type Row, type SubmittedRow, visibleFields } from './review.ts'
import { LIMITS, line, Problem } from './text.ts'

/** A saved batch of rows to insert into a review. */
export interface Template {
  readonly name: string
  readonly tasks: readonly Row[]
}

/** Validates the rows like those of a review and fills in the defaults. Their checks are kept, approvals are not. */
export function templateOf(rawName: string, rows: readonly SubmittedRow[]): Template | Refusal {
  const name = line(rawName, LIMITS.tag)
  if (name instanceof Problem) return invalidField('name', name.fact)
  // Templates are looked up by exact name, so a name that cleaning would change is refused.
  if (name !== rawName)
    return invalidField('name', {
      rule: 'invalid',
      expected: 'one line without control characters or surrounding spaces',
    })
  const tasks = confirmedRows([], rows)
  return tasks instanceof Refusal ? tasks : { name, tasks: tasks.map(visibleFields) }
}
