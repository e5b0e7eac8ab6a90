import type { RunnableCheck } from '../domain/check.ts'
import { changeSince } from './as-approved.ts'
import { checkFile } from './check-file.ts'
import { checkUnchanged } from './check-unchanged.ts'
import type { FileHashes } from './files.ts'
import type { Limits } from './fingerprint.ts'
import { type Around, guardChanges, guardsOf, ownWrites, type Watching } from './guarded.ts'
import { type LookOptions, lookAt } from './look.ts'
import { inconclusive, type Outcome } from './outcome.ts'
import type { Survey } from './survey.ts'
import { runCommand, type RunLimits, type Watched } from './run-command.ts'

export interface CheckOptions extends LookOptions, Watched {
  /** The files at confirmation, as `lookAt` or earlier runs saw them: hashes by path. Undefined if nobody looked. */
  readonly baseline?: Readonly<Record<string, string>> | undefined
  /** The same at other confirmations. */
  readonly baselines?: readonly Readonly<Record<string, string>>[] | undefined
  /** What the check itself wrote of its guarded files when the plan was confirmed. */
  readonly written?: readonly string[] | undefined
  /** Whether it runs before the work: what it writes itself is returned then. */
  readonly isFirst?: boolean | undefined
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
  /** What a first run itself wrote of its guarded files, as it left them: hashes by path. */
  readonly wrote?: Readonly<Record<string, string>>
}

/** Runs a check as it was approved, once. */
export async function runCheck(check: RunnableCheck, options: CheckOptions): Promise<CheckRun> {
  const change = changeSince(check, options)
  const before = await lookAt([check], options, change === undefined ? 'fingerprint' : 'nothing')
  const { fingerprint, files } = before
  const baseline = options.baseline && new Map(Object.entries(options.baseline))
  if (change === undefined) await options.beforeStart?.()
  const start = performance.now()
  const outcome = change === undefined ? await outcomeOf(check, options, baseline, files) : notRun(change)
  const duration_ms = Math.round(performance.now() - start)
  const seen = baseline && (await seenAround(check, options, before, outcome))
  const guards = guardsOf(check, options, options.protect)
  const wrote: FileHashes = seen && options.isFirst ? ownWrites(baseline, seen, guards) : new Map()
  const written = new Set(options.written)
  const guarded = (each: FileHashes): readonly string[] =>
    seen
      ? [
          ...guardChanges(each, { ...seen, written }, guards).filter(path => !wrote.has(path)),
          ...(guards.isUnknown ? [UNKNOWN_FILES] : []),
        ]
      : []
  return {
    ...outcome,
    duration_ms,
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(files && { files: Object.fromEntries(files) }),
    ...(seen && {
      guarded: guarded(baseline),
      others: options.baselines?.map(each => guarded(new Map(Object.entries(each)))) ?? [],
    }),
    ...(wrote.size > 0 && { wrote: Object.fromEntries(wrote) }),
  }
}

/** Stands for files that a check starts and that cannot be told before it runs. */
export const UNKNOWN_FILES = 'files that its scripts find when they run'

const notRun = (change: string): Outcome => ({ ...inconclusive(change), changed: true })

/** The guarded files before a run, and after it: a test may be replaced just for that long. Undefined if they are too many. */
async function seenAround(
  check: RunnableCheck,
  options: CheckOptions,
  before: Survey,
  { changed }: Outcome,
): Promise<Around | undefined> {
  if (!isWhole(before)) return undefined
  if (check.kind !== 'command' || changed) return { before, after: before }
  const after = await lookAt([check], options, options.isFirst ? 'ignored' : 'nothing')
  return isWhole(after) ? { before, after } : undefined
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
