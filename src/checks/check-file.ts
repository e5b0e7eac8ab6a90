import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { FileCheck, Workspace } from '../core/proof/check.ts'
import { Obstacle, becauseOf, failed, inconclusive, passed, type Outcome } from './obstacle.ts'
import { Search } from './output.ts'
import { fileIn, isTaken } from './workspace.ts'

/** Bytes of a file that are searched. */
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
    if (contains === undefined || (await isInFile(file, contains, maxBytes))) return passed
    const sought = JSON.stringify(contains)
    if (size <= maxBytes) return failed(`${path} does not contain ${sought}.`)
    return inconclusive(`The first ${maxBytes / 1e6} MB of ${path} do not contain ${sought}; the rest was not read.`)
  } catch (error) {
    return inconclusive(`${path} cannot be read: ${becauseOf(error)}.`)
  }
}

async function isInFile(path: string, text: string, maxBytes: number): Promise<boolean> {
  const search = new Search(text)
  // Does not follow a link or block on a pipe, in case the file was replaced meanwhile.
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  for await (const chunk of file.createReadStream({ end: maxBytes - 1 })) {
    search.take(chunk as Buffer)
    if (search.isFound) return true
  }
  return false
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
