import type { Check, Workspace } from '../domain/check.ts'
import { namedFiles } from '../domain/check-runs.ts'
import type { RunOutcome, SeenWorkspace } from '../domain/command.ts'
import type { Conversation } from '../domain/conversation.ts'
import { workspaceKey } from '../domain/needs.ts'
import type { EventData } from '../domain/event.ts'

/** The guarded files at confirmation, and the names of all files that a fingerprint covered. */
export type Baseline = Pick<EventData['baseline_taken'], 'covers' | 'files' | 'written' | 'incomplete' | 'tracked'>

/** The confirmed guarded files of a task, or of the plan without `task_id`, and which of them it may change. */
export interface Confirmed {
  readonly task_id?: string
  readonly baseline: Baseline
  readonly mayChange: readonly string[]
}

export interface RunOptions extends Omit<Confirmed, 'task_id'> {
  readonly workspace: Workspace
  /** The other tasks of the plan with the same check. */
  readonly others?: readonly Confirmed[] | undefined
  /** Files to include in the fingerprint even if git ignores them. */
  readonly also: readonly string[]
  readonly signal: AbortSignal
  /** Kills it without a grace period. */
  readonly kill?: AbortSignal | undefined
  /** Upper limit, whatever the check's own timeout. */
  readonly maxMs?: number | undefined
  /** Awaited right before the start; if it rejects, nothing starts and the run rejects. */
  readonly beforeStart?: (() => Promise<void>) | undefined
  /** For a run before the work: awaited with the guarded files that the check itself wrote, if any. */
  readonly onWritten?: ((part: Baseline) => Promise<void>) | undefined
  /** Called with each piece of output; the function returns its end so far. */
  readonly onOutput?: ((tail: () => string) => void) | undefined
}

/** Folders in which this process may run checks. */
export interface Workspaces {
  readonly keys: readonly string[]
  /**
   * A hash of the workspace's files, including these even if ignored; undefined if unavailable, which counts as stale.
   */
  fingerprint(workspace: Workspace, also: readonly string[]): Promise<string | undefined>
  /** Current state of these checks' guarded files that `known` does not cover; undefined if it covers all. */
  baselineOf(workspace: Workspace, checks: readonly Check[], known: Baseline): Promise<Baseline | undefined>
  run(check: Check, options: RunOptions): Promise<RunOutcome>
}

export const NO_WORKSPACES: Workspaces = {
  keys: [],
  fingerprint: async () => undefined,
  baselineOf: async () => undefined,
  run: () => Promise.reject(new TypeError('This process has no workspace.')),
}

/** The current state of a workspace; undefined if this process does not have it. */
export async function seenIn(
  workspaces: Workspaces | undefined,
  workspace: Workspace | undefined,
  state: Conversation,
): Promise<SeenWorkspace | undefined> {
  if (!workspace || !workspaces?.keys.includes(workspaceKey(workspace))) return undefined
  return { fingerprint: await workspaces.fingerprint(workspace, namedFiles(state)) }
}
