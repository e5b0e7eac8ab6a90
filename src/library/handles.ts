import type { Workspace } from '../core/proof/check.ts'
import type { CheckMaker } from '../engine/door/door.ts'
import type { Workspaces } from '../engine/worker/workspaces.ts'

/** Runs the checks of tasks in this process. Open it with `openChecks` (`runsheet/checks`). */
export interface Checks {
  /** The machine and the real path of the folder that checks run in. */
  readonly workspace: Workspace
}

/** @internal */
export type OpenWorkspaces = (judges: () => boolean) => Workspaces & CheckMaker

const workspaces = new WeakMap<Checks, OpenWorkspaces>()

/** @internal */
export const keepChecks = (checks: Checks, open: OpenWorkspaces): void => void workspaces.set(checks, open)

/** The internals of a handle. Programs cannot reach them. @internal */
export function openChecksOf(checks: Checks): OpenWorkspaces {
  const open = workspaces.get(checks)
  if (!open) throw new TypeError('checks must be what openChecks of runsheet/checks returned.')
  return open
}
