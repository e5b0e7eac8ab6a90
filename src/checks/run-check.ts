import type { RunnableCheck } from '../domain/check.ts'
import { changeSince } from './as-approved.ts'
import { checkFile } from './check-file.ts'
import { checkUnchanged } from './check-unchanged.ts'
import type { FileHashes } from './files.ts'
import type { Limits } from './fingerprint.ts'
import { guardChanges, guardsOf, guardsTouched, type Watching } from './guarded.ts'
import { type LookOptions, lookAt } from './look.ts'
import { inconclusive, type Outcome } from './outcome.ts'
import type { Survey } from './survey.ts'
import { runCommand, type RunLimits, type Watched } from './run-command.ts'

export interface CheckOptions extends LookOptions, Watched {
  /** The files at confirmation, as `lookAt` or earlier runs saw them: hashes by path. Undefined if nobody looked. */
  readonly baseline?: Readonly<Record<string, string>> | undefined
  /** The same at other confirmations. */
  readonly baselines?: readonly Readonly<Record<string, string>>[] | undefined
  /** Awaited right before it starts; if it rejects, so does the run. */
  readonly beforeStart?: (() => Promise<void>) | undefined
  readonly limits?: Partial<Limits & RunLimits> | undefined
}

export interface CheckRun extends Outcome {
  readonly duration_ms: number
  /** Of the workspace right before the run. Without one the result counts as out of date. */
  readonly fingerprint?: string
  /** What this check is about, right before the run: hashes by path. Not there if that is too much to read. */
  readonly files?: Readonly<Record<string, string>>
  /** The guarded files that differ from the baseline, or were written to during the run. Not there if that cannot be told. */
  readonly guarded?: readonly string[]
  /** The same for each of the other confirmations. */
  readonly others?: readonly (readonly string[])[]
}

/** Runs a check as it was approved, once. */
export async function runCheck(check: RunnableCheck, options: CheckOptions): Promise<CheckRun> {
  const change = changeSince(check, options)
  if (change !== undefined) return { ...inconclusive(change), changed: true, duration_ms: 0 }
  const before = await lookAt([check], options)
  const { fingerprint, files } = before
  const baseline = options.baseline && new Map(Object.entries(options.baseline))
  await options.beforeStart?.()
  const start = performance.now()
  const outcome = await outcomeOf(check, options, baseline, files)
  const duration_ms = Math.round(performance.now() - start)
  const guarded = baseline && (await guardedBy(check, options, before))
  return {
    ...outcome,
    duration_ms,
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(files && { files: Object.fromEntries(files) }),
    ...(baseline && guarded && { guarded: guarded(baseline) }),
    ...(guarded && { others: options.baselines?.map(each => guarded(new Map(Object.entries(each)))) ?? [] }),
  }
}

/** Tells which guarded files changed before the run, and during it: a test may be replaced just for that long. */
async function guardedBy(
  check: RunnableCheck,
  options: CheckOptions,
  before: Survey,
): Promise<((baseline: FileHashes) => readonly string[]) | undefined> {
  if (!isWhole(before)) return undefined
  const guards = guardsOf(check, options, options.protect)
  if (check.kind !== 'command') return baseline => guardChanges(baseline, before, guards)
  const after = await lookAt([check], options, 'nothing')
  if (!isWhole(after)) return undefined
  const hasBuilt = before.hasBuilt || after.hasBuilt
  return baseline => {
    const changed = guardChanges(baseline, { ...before, hasBuilt }, guards)
    return [...new Set([...changed, ...guardsTouched(baseline, before, after, guards)])].sort()
  }
}

const isWhole = (survey: Survey): survey is Survey & Watching =>
  survey.files !== undefined && survey.stamps !== undefined

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
