import type { RunnableCheck } from '../domain/check.ts'
import { checkFile } from './check-file.ts'
import { checkUnchanged } from './check-unchanged.ts'
import type { FileHashes } from './files.ts'
import { LIMITS, type Limits } from './fingerprint.ts'
import { guardChanges, guardsOf, guardsTouched } from './guarded.ts'
import { isAsApproved, type Place } from './hash.ts'
import { Obstacle } from './obstacle.ts'
import { inconclusive, type Outcome } from './outcome.ts'
import { findProgram } from './program.ts'
import { runCommand, type Watched } from './run-command.ts'
import type { Survey, SurveyRequest } from './survey.ts'
import { surveyed } from './surveyor.ts'
import { pathFrom, realOf } from './workspace.ts'

export interface CheckOptions extends Place, Omit<Watched, 'limits'> {
  readonly dataFolder: string
  /** Globs of the files that decide what checks mean. */
  readonly protect: readonly string[]
  /** Hashes by path, as `files` of earlier runs had them at confirmation. Undefined if there was none. */
  readonly baseline?: Readonly<Record<string, string>> | undefined
  /** Files that count in the fingerprint even if git ignores them. */
  readonly also?: readonly string[] | undefined
  /** Awaited right before it starts; if it rejects, so does the run. */
  readonly beforeStart?: (() => Promise<void>) | undefined
  readonly limits?: Partial<Limits & NonNullable<Watched['limits']>> | undefined
}

export interface CheckRun extends Outcome {
  readonly duration_ms: number
  /** Of the workspace right before the run. Undefined counts as out of date. */
  readonly fingerprint?: string
  /** What decides the meaning of this check, right before the run: hashes by path. Undefined if that is too much to read. */
  readonly files?: Readonly<Record<string, string>>
  /** The guarded files that differ from the baseline, or were written to during the run. Undefined if that cannot be told: then it proves nothing. */
  readonly guarded?: readonly string[]
}

/** Runs a check as it was approved, once. */
export async function runCheck(check: RunnableCheck, options: CheckOptions): Promise<CheckRun> {
  if (!isAsApproved(check, options)) {
    return { ...inconclusive('What it runs has changed since it was approved.'), duration_ms: 0 }
  }
  const before = await lookedAt(check, options)
  const { fingerprint, files } = before
  const baseline = options.baseline && new Map(Object.entries(options.baseline))
  await options.beforeStart?.()
  const start = performance.now()
  const outcome = await outcomeOf(check, options, baseline, files)
  const duration_ms = Math.round(performance.now() - start)
  const guarded = baseline && (await guardedBy(check, options, baseline, before))
  return {
    ...outcome,
    duration_ms,
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(files && { files: Object.fromEntries(files) }),
    ...(guarded && { guarded }),
  }
}

/** The guarded files that changed before the run, and during it: a test may be replaced just for that long. */
async function guardedBy(
  check: RunnableCheck,
  options: CheckOptions,
  baseline: FileHashes,
  before: Survey,
): Promise<readonly string[] | undefined> {
  if (!before.files || !before.stamps) return undefined
  const guards = guardsOf(check, options, options.protect)
  const changed = guardChanges(baseline, before.files, guards)
  if (check.kind !== 'command') return changed
  const after = await surveyed({ ...requestFor(check, options), git: undefined })
  if (!after.files || !after.stamps) return undefined
  const touched = guardsTouched(
    { files: before.files, stamps: before.stamps },
    { files: after.files, stamps: after.stamps },
    guards,
  )
  return [...new Set([...changed, ...touched])].sort()
}

/** The workspace before the run: what changes meanwhile makes the result out of date. */
export const lookedAt = (check: RunnableCheck, options: CheckOptions): Promise<Survey> =>
  surveyed(requestFor(check, options))

function requestFor(check: RunnableCheck, options: CheckOptions): SurveyRequest {
  const { workspace, env, dataFolder, protect, also, limits } = options
  const { globs, paths } = guardsOf(check, options, protect)
  const path = env['PATH'] ?? ''
  const git = findProgram('git', { workspace, cwd: workspace.path, path })
  return {
    root: workspace.path,
    git: git instanceof Obstacle ? undefined : { program: git.path, path },
    globs: check.kind === 'unchanged' ? [...globs, ...check.paths] : globs,
    paths,
    exclude: ['.agents', ...dataFolderIn(workspace.path, dataFolder)],
    also,
    limits: { ...LIMITS, ...limits },
  }
}

/** Ours, so no change of the workspace. Not if the workspace lies in it. */
const dataFolderIn = (root: string, dataFolder: string): readonly string[] => {
  const path = pathFrom(root, realOf(dataFolder))
  return path ? [path] : []
}

function outcomeOf(
  check: RunnableCheck,
  options: CheckOptions,
  baseline: FileHashes | undefined,
  files: FileHashes | undefined,
): Promise<Outcome> | Outcome {
  switch (check.kind) {
    case 'command':
      return runCommand(check, options, options)
    case 'file':
      return checkFile(check, options.workspace)
    case 'unchanged':
      return checkUnchanged(check, baseline, files)
  }
}
