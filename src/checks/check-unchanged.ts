import type { UnchangedCheck } from '../domain/check.ts'
import type { FileHashes } from './files.ts'
import { globsOf } from './globs.ts'
import { differences } from './guarded.ts'
import { failed, inconclusive, type Outcome, passed } from './outcome.ts'

/** Files named in a reason; more are only counted. */
const MAX_NAMED = 5

/** Compares the files that a check names with the baseline. Both maps may contain other files. */
export function checkUnchanged(
  check: UnchangedCheck,
  baseline: FileHashes | undefined,
  now: FileHashes | undefined,
): Outcome {
  if (!now) return inconclusive('The files are too many or too large to compare.')
  if (!baseline) return inconclusive('It is not known how the files were when the plan was confirmed.')
  const changed = differences(baseline, now).filter(globsOf(check.paths).matches)
  return changed.length === 0 ? passed : failed(`Changed: ${named(changed)}.`)
}

function named(paths: readonly string[]): string {
  const more = paths.length - MAX_NAMED
  return paths.slice(0, MAX_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
