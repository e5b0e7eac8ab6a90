import { failed, inconclusive, type Outcome, passed } from './outcome.ts'

/** Files named in a reason; more are only counted. */
const MAX_NAMED = 5

/** `unlike`: the files that differ from those at the approval; undefined if that cannot be told. */
export function checkUnchanged(unlike: readonly string[] | undefined): Outcome {
  if (!unlike) return inconclusive('It is not known how the files were when the plan was approved.')
  return unlike.length === 0 ? passed : failed(`Changed: ${named(unlike)}.`)
}

function named(paths: readonly string[]): string {
  const more = paths.length - MAX_NAMED
  return paths.slice(0, MAX_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
