import { DEFAULT_PROTECT, type RunnableSpec, type TrackedFiles, type WithPrograms } from '../domain/check.ts'
import { LIMITS, type Limits } from './fingerprint.ts'
import { guardsOf } from './guarded.ts'
import { Obstacle } from './obstacle.ts'
import type { Place } from './place.ts'
import { findProgram } from './program.ts'
import type { Survey, SurveyRequest } from './survey.ts'
import { surveyed } from './surveyor.ts'
import { pathFrom, realOf } from './workspace.ts'

export interface LookOptions extends Place {
  readonly dataFolder: string
  readonly protect: readonly string[]
  /** Files to include in the fingerprint even if git ignores them. */
  readonly also?: readonly string[] | undefined
  readonly since?: TrackedFiles | null | undefined
  readonly limits?: Partial<Limits> | undefined
  readonly paths?: readonly string[] | undefined
}

/**
 * Surveys the files that these checks concern, guarded ones and those not to change, and fingerprints their workspace.
 */
export function lookAt(
  checks: readonly WithPrograms<RunnableSpec>[],
  options: LookOptions,
  besides: SurveyRequest['besides'] = 'fingerprint',
): Promise<Survey> {
  const { workspace, env, dataFolder, protect, also, since, limits } = options
  const guards = checks.map(check => guardsOf(check, options, protect))
  const path = env['PATH'] ?? ''
  const git = findProgram('git', { workspace, cwd: workspace.path, path })
  return surveyed({
    root: workspace.path,
    git: git instanceof Obstacle ? undefined : { program: git.path, path },
    globs: [
      ...new Set([...protect, ...guards.flatMap(({ globs }) => globs)]),
      ...checks.flatMap(check => (check.kind === 'unchanged' ? check.paths : [])),
    ],
    paths: [...guards.flatMap(({ paths }) => paths), ...(options.paths ?? [])],
    named: [...protect.filter(glob => !DEFAULT_PROTECT.includes(glob)), ...guards.flatMap(({ named }) => named)],
    also,
    since,
    besides,
    exclude: ['.agents', ...ownFolder(workspace.path, dataFolder)],
    limits: { ...LIMITS, ...limits },
  })
}

/** Our data folder inside the workspace, to exclude it. Empty if the workspace lies in it. */
const ownFolder = (root: string, dataFolder: string): readonly string[] => {
  const path = pathFrom(root, realOf(dataFolder))
  return path ? [path] : []
}
