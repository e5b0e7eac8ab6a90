import { join } from 'node:path'
import type { Limits } from './files.ts'
import { LIMITS } from './fingerprint.ts'
import { Obstacle } from './obstacle.ts'
import { findProgram, type Place } from './program.ts'
import type { Covers } from './scope.ts'
import type { LookRequest } from './survey.ts'
import { pathFrom, realOf } from './workspace.ts'

export interface LookOptions extends Place {
  readonly dataFolder: string
  /** Globs of files to protect, besides the table. */
  readonly protect: readonly string[]
  /** Files to include in the fingerprint even if git ignores them. */
  readonly also?: readonly string[] | undefined
  /** Ids of the records that changes are compared with; null for one that could not be taken. */
  readonly records?: readonly (string | null)[] | undefined
  readonly limits?: Partial<Limits> | undefined
}

export function lookRequest(options: LookOptions, covers: Covers): LookRequest {
  const { workspace, env, dataFolder, protect, also = [], records = [], limits } = options
  const path = env['PATH'] ?? ''
  const git = findProgram('git', { workspace, cwd: workspace.path, path })
  return {
    root: workspace.path,
    git: git instanceof Obstacle ? undefined : { program: git.path, path },
    protect,
    covers,
    also,
    records,
    recordFolder: join(dataFolder, 'files'),
    exclude: ['.agents', ...ownFolder(workspace.path, dataFolder)],
    limits: { ...LIMITS, ...limits },
  }
}

/** Our data folder inside the workspace, to exclude it. Empty if the workspace lies in it. */
const ownFolder = (root: string, dataFolder: string): readonly string[] => {
  const path = pathFrom(root, realOf(dataFolder))
  return path ? [path] : []
}
