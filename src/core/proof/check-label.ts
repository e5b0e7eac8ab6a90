import type { Check } from './check.ts'
import { quoteWords } from './command-line.ts'
import { HELD_OUT, isHidden } from './held-out.ts'

/** A short label for a check, for people and models. That of a held-out check does not tell what it is. */
export const labelOf = (check: Check): string => (isHidden(check) ? HELD_OUT : contentOf(check))

/** The same for people alone: of a held-out check, too. */
export function contentOf(check: Check): string {
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

/** The label plus every condition of the check: the text that a person approves and the judge reads. */
export function describeCheck(check: Check): string {
  if (isHidden(check)) return HELD_OUT
  const { cwd, exit, contains } = check as Partial<Extract<Check, { kind: 'command' }>>
  const conditions = [
    ...(cwd === undefined ? [] : [`in ${cwd}`]),
    ...(exit === undefined ? [] : [`exits with ${exit}`]),
    ...(contains === undefined ? [] : [`contains ${JSON.stringify(contains)}`]),
  ]
  return conditions.length === 0 ? labelOf(check) : `${labelOf(check)} (${conditions.join(', ')})`
}

/** Invisible or control characters could make a check look like another one. */
export const isLegible = (check: Check): boolean => !/\p{C}/u.test(describeCheck(check))
