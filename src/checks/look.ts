import type { RunnableSpec, WithPrograms } from '../domain/check.ts'
import { LIMITS, type Limits } from './fingerprint.ts'
import { guardsOf } from './guarded.ts'
import { Obstacle } from './obstacle.ts'
import type { Place } from './place.ts'
import { findProgram } from './program.ts'
import type { Survey } from './survey.ts'
import { surveyed } from './surveyor.ts'
import { pathFrom, realOf } from './workspace.ts'

export interface LookOptions extends Place {
  readonly dataFolder: string
  /** Globs of the files that decide what checks mean. */
  readonly protect: readonly string[]
  /** Files that count in the fingerprint even if git ignores them. */
  readonly also?: readonly string[] | undefined
  readonly limits?: Partial<Limits> | undefined
}

/** The fingerprint of a workspace, and the files that these checks are about: guarded ones, and those not to change. */
export function lookAt(
  checks: readonly WithPrograms<RunnableSpec>[],
  options: LookOptions,
  { isFingerprinted = true }: { readonly isFingerprinted?: boolean } = {},
): Promise<Survey> {
  const { workspace, env, dataFolder, protect, also, limits } = options
  const guards = checks.map(check => guardsOf(check, options, protect))
  const path = env['PATH'] ?? ''
  const git = findProgram('git', { workspace, cwd: workspace.path, path })
  return surveyed({
    root: workspace.path,
    git: !isFingerprinted || git instanceof Obstacle ? undefined : { program: git.path, path },
    globs: [
      ...new Set([...protect, ...guards.flatMap(({ globs }) => globs)]),
      ...checks.flatMap(check => (check.kind === 'unchanged' ? check.paths : [])),
    ],
    paths: guards.flatMap(({ paths }) => paths),
    also,
    exclude: ['.agents', ...ownFolder(workspace.path, dataFolder)],
    limits: { ...LIMITS, ...limits },
  })
}

/** Our data folder in the workspace. None if the workspace lies in it. */
const ownFolder = (root: string, dataFolder: string): readonly string[] => {
  const path = pathFrom(root, realOf(dataFolder))
  return path ? [path] : []
}
