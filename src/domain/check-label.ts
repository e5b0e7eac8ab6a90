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
