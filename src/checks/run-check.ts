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
  /** File hashes by path at confirmation, from `lookAt` or earlier runs. Undefined without a survey. */
  readonly baseline?: Readonly<Record<string, string>> | undefined
  /** The same for other confirmations. */
  readonly baselines?: readonly Readonly<Record<string, string>>[] | undefined
  /** Guarded files that the check itself wrote at confirmation. */
  readonly written?: readonly string[] | undefined
  /** Whether it runs before the work; then it returns what it wrote itself. */
  readonly isFirst?: boolean | undefined
  /** Awaited right before the start; if it rejects, so does the run. */
  readonly beforeStart?: (() => Promise<void>) | undefined
  readonly limits?: Partial<Limits & RunLimits> | undefined
}

export interface CheckRun extends Outcome {
  readonly duration_ms: number
  /** The workspace right before the run. Without it the result counts as stale. */
  readonly fingerprint?: string
  /** Hashes by path of the check's files right before the run. Absent above the limits. */
  readonly files?: Readonly<Record<string, string>>
  /** Guarded files that differ from the baseline or were written during the run. Absent if unknown. */
  readonly guarded?: readonly string[]
  /** The same for each of the other confirmations. */
  readonly others?: readonly (readonly string[])[]
  /** Guarded files that a first run wrote, as it left them: hashes by path. */
  readonly wrote?: Readonly<Record<string, string>>
}

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

/** Stands for started files that cannot be known before the run. */
export const UNKNOWN_FILES = 'files that its scripts find when they run'

const notRun = (change: string): Outcome => ({ ...inconclusive(change), changed: true })

/** Guarded files before and after a run, because a test may be replaced only during it. Undefined above the limits. */
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
