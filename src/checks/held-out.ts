import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { Workspace } from '../core/proof/check.ts'
import { FileHasher } from './file-hash.ts'
import { entryAt, filesBelow, hashFiles, type Limits } from './files.ts'
import { Obstacle } from './obstacle.ts'
import { isFolder, pathFrom, realOf } from './workspace.ts'

/** Names the folder of held-out files to held-out checks. */
export const HELD_OUT_FOLDER = 'RUNSHEET_HELD_OUT'

/** They are read whenever a held-out check is written or runs. */
const LIMITS: Limits = { files: 2_000, bytes: 32_000_000 }
/** What programs write when they only read. */
const SKIPPED: ReadonlySet<string> = new Set(['__pycache__', '.pytest_cache'])

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
  const paths = filesBelow(folder, path => !SKIPPED.has(basename(path)), LIMITS.files)?.toSorted()
  if (paths?.some(path => entryAt(folder, path)?.isBlind)) {
    return new Obstacle(`checks.held_out: ${folder} has a link to a folder or out of it. Put the files there instead.`)
  }
  const hashes = paths && hashFiles({ root: folder, limits: LIMITS }, paths, new FileHasher())
  if (!hashes) {
    return new Obstacle(`checks.held_out: ${folder} has more than ${LIMITS.files} files or ${LIMITS.bytes / 1e6} MB.`)
  }
  return createHash('sha256')
    .update(JSON.stringify([...hashes]))
    .digest('hex')
}
