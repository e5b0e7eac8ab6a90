import type { RunnableCheck } from '../domain/check.ts'
import { checkFile } from './check-file.ts'
import { checkUnchanged } from './check-unchanged.ts'
import type { FileHashes } from './files.ts'
import { LIMITS, type Limits } from './fingerprint.ts'
import { guardChanges, guardsOf } from './guarded.ts'
import { isAsApproved, type Place } from './hash.ts'
import { Obstacle } from './obstacle.ts'
import { inconclusive, type Outcome } from './outcome.ts'
import { findProgram } from './program.ts'
import { runCommand, type Watched } from './run-command.ts'
import type { Survey } from './survey.ts'
import { surveyed } from './surveyor.ts'
import { pathFrom, realOf } from './workspace.ts'

export interface CheckOptions extends Place, Omit<Watched, 'limits'> {
  readonly dataFolder: string
  /** Globs of the files that decide what checks mean. */
  readonly protect: readonly string[]
  /** Hashes by path, as `files` of earlier runs had them at confirmation. Undefined if there was none. */
  readonly baseline?: Readonly<Record<string, string>> | undefined
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
  /** The guarded files that differ from the baseline. Undefined if that cannot be told: then it proves nothing. */
  readonly guarded?: readonly string[]
}

/** Runs a check as it was approved, once. */
export async function runCheck(check: RunnableCheck, options: CheckOptions): Promise<CheckRun> {
  if (!isAsApproved(check, options)) {
    return { ...inconclusive('What it runs has changed since it was approved.'), duration_ms: 0 }
  }
  const { fingerprint, files } = await lookedAt(check, options)
  const baseline = options.baseline && new Map(Object.entries(options.baseline))
  await options.beforeStart?.()
  const start = performance.now()
  const outcome = await outcomeOf(check, options, baseline, files)
  return {
    ...outcome,
    duration_ms: Math.round(performance.now() - start),
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(files && { files: Object.fromEntries(files) }),
    ...(files && baseline && { guarded: guardChanges(baseline, files, guardsOf(check, options, options.protect)) }),
  }
}

/** The workspace before the run: what changes meanwhile makes the result out of date. */
export function lookedAt(check: RunnableCheck, options: CheckOptions): Promise<Survey> {
  const { workspace, env, dataFolder, protect, limits } = options
  const { globs, paths } = guardsOf(check, options, protect)
  const path = env['PATH'] ?? ''
  const git = findProgram('git', { workspace, cwd: workspace.path, path })
  return surveyed({
    root: workspace.path,
    git: git instanceof Obstacle ? undefined : { program: git.path, path },
    globs: check.kind === 'unchanged' ? [...globs, ...check.paths] : globs,
    paths,
    exclude: ['.agents', ...dataFolderIn(workspace.path, dataFolder)],
    limits: { ...LIMITS, ...limits },
  })
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
