import type { Check } from './check.ts'
import { quoteWords } from './command-line.ts'

/** A check in a few words, for people and models. */
export function labelOf(check: Check): string {
  switch (check.kind) {
    case 'command':
      return quoteWords(check.run)
    case 'file':
      return `${check.path} ${check.absent ? 'is absent' : 'exists'}`
    case 'unchanged':
      return `${check.paths.join(', ')} unchanged`
    case 'person':
      return check.ask
  }
}

/** The same with all that it has to be: what a person approves, and what a judge or a model has to know. */
export function describeCheck(check: Check): string {
  const { cwd, exit, contains } = check as Partial<Extract<Check, { kind: 'command' }>>
  const conditions = [
    ...(cwd === undefined ? [] : [`in ${cwd}`]),
    ...(exit === undefined ? [] : [`exits with ${exit}`]),
    ...(contains === undefined ? [] : [`contains ${JSON.stringify(contains)}`]),
  ]
  return conditions.length === 0 ? labelOf(check) : `${labelOf(check)} (${conditions.join(', ')})`
}

/** Whether a person can see what it is: with invisible or control characters it could look like something else. */
export const isLegible = (check: Check): boolean => !/\p{C}/u.test(describeCheck(check))
