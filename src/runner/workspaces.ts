import type { Check, Workspace } from '../domain/check.ts'
import { namedFiles } from '../domain/check-runs.ts'
import type { RunOutcome, SeenWorkspace } from '../domain/command.ts'
import type { Conversation } from '../domain/conversation.ts'
import { workspaceKey } from '../domain/needs.ts'
import type { EventData } from '../domain/event.ts'

/** The guarded files as they were at confirmation, and the names of all that a fingerprint covered. */
export type Baseline = Pick<EventData['baseline_taken'], 'covers' | 'files' | 'written' | 'incomplete' | 'tracked'>

/** What a task, or without an id a plan, was confirmed with: its guarded files, and which of them it may change. */
export interface Confirmed {
  readonly task_id?: string
  readonly baseline: Baseline
  /** Globs of guarded files. */
  readonly mayChange: readonly string[]
}

export interface RunOptions extends Omit<Confirmed, 'task_id'> {
  readonly workspace: Workspace
  /** The other tasks of the plan with the same check. */
  readonly others?: readonly Confirmed[] | undefined
  /** Files that count in the fingerprint even if git ignores them. */
  readonly also: readonly string[]
  /** Ends the run. */
  readonly signal: AbortSignal
  /** Kills it, without the time to end by itself. */
  readonly kill?: AbortSignal | undefined
  /** No longer than this, whatever the check says. */
  readonly maxMs?: number | undefined
  /** Awaited right before it starts; if it rejects, nothing is started, and so does the run. */
  readonly beforeStart?: (() => Promise<void>) | undefined
  /** For a run before the work: awaited with what of its guarded files the check wrote itself, if it did. */
  readonly onWritten?: ((part: Baseline) => Promise<void>) | undefined
  /** Called with each piece of output; the function returns the end of it so far. */
  readonly onOutput?: ((tail: () => string) => void) | undefined
}

/** The workspaces of this process: folders in which it may run checks. */
export interface Workspaces {
  /** Their keys. */
  readonly keys: readonly string[]
  /** A hash of the files in it, and of these even if git ignores them; undefined if there is none, which counts as out of date. */
  fingerprint(workspace: Workspace, also: readonly string[]): Promise<string | undefined>
  /** The guarded files of these checks that `known` does not cover yet, as they are now; undefined if it covers all. */
  baselineOf(workspace: Workspace, checks: readonly Check[], known: Baseline): Promise<Baseline | undefined>
  run(check: Check, options: RunOptions): Promise<RunOutcome>
}

/** Of a process that runs no checks. */
export const NO_WORKSPACES: Workspaces = {
  keys: [],
  fingerprint: async () => undefined,
  baselineOf: async () => undefined,
  run: () => Promise.reject(new TypeError('This process has no workspace.')),
}

/** A workspace as it is now; undefined if this process does not have it. */
export async function seenIn(
  workspaces: Workspaces | undefined,
  workspace: Workspace | undefined,
  state: Conversation,
): Promise<SeenWorkspace | undefined> {
  if (!workspace || !workspaces?.keys.includes(workspaceKey(workspace))) return undefined
  return { fingerprint: await workspaces.fingerprint(workspace, namedFiles(state)) }
}
