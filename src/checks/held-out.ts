import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Workspace } from '../core/proof/check.ts'
import { becauseOf, Obstacle } from './obstacle.ts'
import { isFolder, pathFrom, realOf } from './workspace.ts'

/** Names the folder of held-out files to held-out checks. */
export const HELD_OUT_FOLDER = 'RUNSHEET_HELD_OUT'

/** They are read whenever a held-out check is written or runs. */
const MAX_FILES = 2_000
const MAX_BYTES = 32_000_000
/** What programs write when they only read. */
const SKIPPED: ReadonlySet<string> = new Set(['.git', '__pycache__', '.pytest_cache'])

/** Why a folder cannot hold the files of held-out checks, as a sentence. */
export function heldOutProblem(folder: string, workspaces: readonly Workspace[] = []): string | undefined {
  if (!isFolder(folder)) return `checks.held_out: ${folder} is not a folder. Create it, or change the setting.`
  const real = realOf(folder)
  const workspace = workspaces.find(({ path }) => pathFrom(path, real) !== undefined)
  return (
    workspace && `checks.held_out: ${folder} is inside the workspace ${workspace.path}, where agents read it. Move it.`
  )
}

/** A hash of the held-out files, which a person approves with the check. */
export function heldOutHash(folder: string, workspace: Workspace): string | Obstacle {
  const problem = heldOutProblem(folder, [workspace])
  if (problem !== undefined) return new Obstacle(problem)
  try {
    const hash = createHash('sha256')
    let [files, bytes] = [0, 0]
    for (const path of filesIn(folder)) {
      const file = join(folder, path)
      files += 1
      bytes += statSync(file, { throwIfNoEntry: false })?.size ?? 0
      if (files > MAX_FILES || bytes > MAX_BYTES) {
        return new Obstacle(`checks.held_out: ${folder} has more than ${MAX_FILES} files or ${MAX_BYTES / 1e6} MB.`)
      }
      hash.update(JSON.stringify([path, digestOf(file)]))
    }
    return hash.digest('hex')
  } catch (error) {
    return new Obstacle(`checks.held_out: ${folder} cannot be read: ${becauseOf(error)}.`)
  }
}

function* filesIn(root: string, folder = ''): Generator<string> {
  const entries = readdirSync(join(root, folder), { withFileTypes: true })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (SKIPPED.has(entry.name)) continue
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesIn(root, path)
    else if (entry.isFile() || entry.isSymbolicLink()) yield path
  }
}

function digestOf(path: string): string {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex')
  } catch (error) {
    // A link to a folder, or to nothing.
    if (!['EISDIR', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    return readlinkSync(path)
  }
}
