import type { Check, Workspace } from '../../core/proof/check.ts'
import { namedFiles } from '../../core/proof/check-runs.ts'
import type { RunOutcome, SeenWorkspace } from '../../core/model/command.ts'
import type { Conversation } from '../../core/model/conversation.ts'
import { workspaceKey } from '../../core/model/needs.ts'
import type { Plan } from '../../core/model/plan.ts'
import type { Scopes } from '../../core/proof/scope.ts'

/** What a run compares the files with, for one task, or for the plan without `task_id`. */
export interface Compared {
  readonly task_id?: string
  /** The plan's record of its files; undefined if it has none yet, null if it could not be taken. */
  readonly record: string | null | undefined
  readonly scopes: Scopes
}

export interface RunOptions {
  readonly workspace: Workspace
  readonly compared: Compared
  /** The other tasks of the plan with the same check. */
  readonly others?: readonly Compared[] | undefined
  /** The approved checks of the plan. */
  readonly checks: readonly Check[]
  /** Whether it is one of the first runs of its plan. */
  readonly isFirst: boolean
  /** Files to include in the fingerprint even if git ignores them. */
  readonly also: readonly string[]
  readonly signal: AbortSignal
  /** Kills it without a grace period. */
  readonly kill?: AbortSignal | undefined
  /** Upper limit, whatever the check's own timeout. */
  readonly maxMs?: number | undefined
  /** Awaited right before the start; if it rejects, nothing starts and the run rejects. */
  readonly beforeStart?: (() => Promise<void>) | undefined
  /** Called with each piece of output; the function returns its end so far. */
  readonly onOutput?: ((tail: () => string) => void) | undefined
}

/** Folders in which this process may run checks. */
export interface Workspaces {
  readonly keys: readonly string[]
  /**
   * A hash of the workspace's files, including these and those of the record even if ignored; undefined if unavailable,
   * which counts as stale.
   */
  fingerprint(
    workspace: Workspace,
    also: readonly string[],
    record: string | null | undefined,
  ): Promise<string | undefined>
  /** Records the files of a plan whose checks do not run at its start; null if they are too many. */
  record(workspace: Workspace, checks: readonly Check[]): Promise<string | null>
  run(check: Check, options: RunOptions): Promise<RunOutcome>
}

export const NO_WORKSPACES: Workspaces = {
  keys: [],
  fingerprint: async () => undefined,
  record: async () => null,
  run: () => Promise.reject(new TypeError('This process has no workspace.')),
}

/** The current state of a plan's workspace; undefined if this process does not have it. */
export async function seenIn(
  workspaces: Workspaces | undefined,
  { workspace, baseline }: Pick<Plan, 'workspace' | 'baseline'>,
  state: Conversation,
): Promise<SeenWorkspace | undefined> {
  if (!workspace || !workspaces?.keys.includes(workspaceKey(workspace))) return undefined
  return { fingerprint: await workspaces.fingerprint(workspace, namedFiles(state), baseline?.record) }
}
