import type { RunnableCheck } from '../core/proof/check.ts'
import type { FileChange } from '../core/proof/file-change.ts'
import type { Scopes } from '../core/proof/scope.ts'
import { changeSince } from './approval.ts'
import { checkFile, checkUnchanged } from './check-file.ts'
import type { Limits } from './files.ts'
import { lookRequest, type LookOptions } from './look.ts'
import { inconclusive, type Outcome } from './obstacle.ts'
import { runCommand, type RunLimits, type Watched } from './run-command.ts'
import { coversOf } from './scope.ts'
import type { Look } from './survey.ts'
import { compared, looked } from './surveyor.ts'

export interface CheckOptions extends LookOptions, Watched {
  /** The approved checks of the plan. */
  readonly checks?: readonly RunnableCheck[] | undefined
  /** For each record, what the step may change. Without any, changes are not compared. */
  readonly scopes?: readonly Scopes[] | undefined
  /** Whether it runs before the work. The plan's record then has the files as this run leaves them. */
  readonly isFirst?: boolean | undefined
  /** Awaited right before the start; if it rejects, so does the run. */
  readonly beforeStart?: (() => Promise<void>) | undefined
  readonly limits?: Partial<Limits & RunLimits> | undefined
}

export interface CheckRun extends Outcome {
  readonly duration_ms: number
  /** The workspace right before the run. Without it the result counts as stale. */
  readonly fingerprint?: string
  /** For each of the scopes, the changes that a person has to accept. */
  readonly changes?: readonly (readonly FileChange[])[]
  readonly isPartial?: boolean
  /** The plan's record, if this run began it or added to it; null: the files are too many. */
  readonly record?: string | null
}

export async function runCheck(check: RunnableCheck, options: CheckOptions): Promise<CheckRun> {
  const change = changeSince(check, options)
  const { scopes, checks = [], isFirst = false, workspace } = options
  const request = lookRequest(options, coversOf([...checks, check], workspace.path))
  const before = await looked(request, check.kind === 'unchanged' ? check.paths : undefined)
  const { fingerprint } = before
  if (change === undefined) await options.beforeStart?.()
  const start = performance.now()
  const outcome = change === undefined ? await outcomeOf(check, options, before) : notRun(change)
  const duration_ms = Math.round(performance.now() - start)
  const hasRun = check.kind === 'command' && !outcome.changed
  const found =
    scopes && (await compared({ before: before.id, after: hasRun ? request : undefined, check, scopes, isFirst }))
  return {
    ...outcome,
    duration_ms,
    ...(fingerprint === undefined || change !== undefined ? {} : { fingerprint }),
    ...found,
  }
}

/** Records the files of a plan whose checks do not run at its start; null if they are too many. */
export async function recordFiles(checks: readonly RunnableCheck[], options: LookOptions): Promise<string | null> {
  const { id } = await looked(lookRequest({ ...options, records: [] }, coversOf(checks, options.workspace.path)))
  const { record = null } = await compared({ before: id, after: undefined, scopes: [], isFirst: true })
  return record
}

const notRun = (change: string): Outcome => ({ ...inconclusive(change), changed: true })

function outcomeOf(check: RunnableCheck, options: CheckOptions, before: Look): Promise<Outcome> | Outcome {
  switch (check.kind) {
    case 'command':
      return runCommand(check, options, options)
    case 'file':
      return checkFile(check, options.workspace)
    case 'unchanged':
      return options.isFirst ? { result: 'passed' } : checkUnchanged(before.unlike)
  }
}
