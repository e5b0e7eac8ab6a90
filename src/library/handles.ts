import type { Workspace } from '../core/proof/check.ts'
import type { CheckMaker, Door } from '../engine/door/door.ts'
import type { Workspaces } from '../engine/worker/workspaces.ts'
import type { PolicyPatch } from '../core/model/policy.ts'
import type { Runsheet } from './runsheet.ts'

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

export interface Inside {
  readonly door: Door
  readonly tenant: string
  /** The policy of new conversations. */
  readonly policy: PolicyPatch
  /** Set if checks run in this process. */
  readonly workspaces: Workspaces | undefined
}

const insides = new WeakMap<Runsheet, Inside>()

/** Gives our own edges the internals of a public handle. Programs cannot reach them. */
export function insideOf(runsheet: Runsheet): Inside {
  const inside = insides.get(runsheet)
  if (!inside) throw new TypeError('This is not a runsheet that createRunsheet returned.')
  return inside
}

export const doorOf = (runsheet: Runsheet): Door => insideOf(runsheet).door

export const keepInside = (runsheet: Runsheet, inside: Inside): void => void insides.set(runsheet, inside)
