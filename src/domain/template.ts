import { invalidField, Refusal } from './refusal.ts'
import { confirmedRows, type Row, type SubmittedRow } from './review.ts'
import { LIMITS, line, Problem } from './text.ts'

/** A batch that a person saved, to be put into a review again. */
export interface Template {
  readonly name: string
  readonly tasks: readonly Row[]
}

/** A template with its rows checked as those of a review are, and filled with the defaults. */
export function templateOf(rawName: string, rows: readonly SubmittedRow[]): Template | Refusal {
  const name = line(rawName, LIMITS.tag)
  if (name instanceof Problem) return invalidField('name', name.fact)
  // It is found again by what it is asked for, so nothing is cleaned away behind anybody's back.
  if (name !== rawName)
    return invalidField('name', {
      rule: 'invalid',
      expected: 'one line, without spaces around it or control characters',
    })
  const tasks = confirmedRows([], rows)
  return tasks instanceof Refusal ? tasks : { name, tasks }
}
