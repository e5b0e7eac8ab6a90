import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { FileCheck, Workspace } from '../core/proof/check.ts'
import { Obstacle, becauseOf, failed, inconclusive, passed, type Outcome } from './obstacle.ts'
import { fileIn, isTaken } from './workspace.ts'

/** Larger files are not searched. */
const MAX_SEARCHED = 64_000_000

export async function checkFile(
  { path, contains, absent }: FileCheck,
  workspace: Workspace,
  maxBytes: number = MAX_SEARCHED,
): Promise<Outcome> {
  try {
    if (!isTaken(workspace.path)) return inconclusive('The workspace is gone.')
    const exists = isTaken(resolve(workspace.path, path))
    if (absent) return exists ? failed(`${path} exists.`) : passed
    if (!exists) return failed(`${path} does not exist.`)
    const file = fileIn(workspace, path)
    if (file instanceof Obstacle) return failed(file.reason)
    const { size } = await stat(file)
    if (size === 0) return failed(`${path} is empty.`)
    if (contains === undefined) return passed
    if (size > maxBytes) return inconclusive(`${path} is larger than ${maxBytes / 1e6} MB, so it was not searched.`)
    const isFound = (await readFile(file)).includes(contains)
    return isFound ? passed : failed(`${path} does not contain ${JSON.stringify(contains)}.`)
  } catch (error) {
    return inconclusive(`${path} cannot be read: ${becauseOf(error)}.`)
  }
}

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
