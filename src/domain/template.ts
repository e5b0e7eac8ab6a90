import { invalidField, Refusal } from './refusal.ts'
import { confirmedRows, type Row, type SubmittedRow } from './review.ts'
import { LIMITS, line, Problem } from './text.ts'

/** A saved batch of tasks, to be put into a review again. */
export interface Template {
  readonly name: string
  readonly tasks: readonly Row[]
}

/** A template whose rows are checked like those of a review, with the defaults filled in. */
export function templateOf(rawName: string, rows: readonly SubmittedRow[]): Template | Refusal {
  const name = line(rawName, LIMITS.tag)
  if (name instanceof Problem) return invalidField('name', name.fact)
  // A template is found by its exact name, so a name that would be cleaned is refused.
  if (name !== rawName)
    return invalidField('name', {
      rule: 'invalid',
      expected: 'one line, without spaces around it or control characters',
    })
  const tasks = confirmedRows([], rows)
  return tasks instanceof Refusal ? tasks : { name, tasks }
}
