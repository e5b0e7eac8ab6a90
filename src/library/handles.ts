import type { Workspace } from '../domain/check.ts'
import type { CheckMaker, Door } from '../door/door.ts'
import type { ClaimJudge } from '../runner/claim-judge.ts'
import type { Workspaces } from '../runner/workspaces.ts'

/** Runs the checks of tasks in this process. Open it with `openChecks` (`runsheet/checks`). */
export interface Checks {
  /** The folder that checks run in, by its real path, and this machine. */
  readonly workspace: Workspace
}

/** Judges what an agent claims. Create it with `createJudge` (`runsheet/ai-sdk`). */
export interface Judge {
  /** Its model, as verdicts name it. */
  readonly model: string
}

/** @internal */
export type OpenWorkspaces = (judges: () => boolean) => Workspaces & CheckMaker
/** @internal */
export type OpenJudge = (door: Door) => ClaimJudge

const workspaces = new WeakMap<Checks, OpenWorkspaces>()
const judges = new WeakMap<Judge, OpenJudge>()

/** @internal */
export const keepChecks = (checks: Checks, open: OpenWorkspaces): void => void workspaces.set(checks, open)

/** @internal */
export const keepJudge = (judge: Judge, open: OpenJudge): void => void judges.set(judge, open)

/** What is behind a handle. Programs have no other way to it. @internal */
export function openChecksOf(checks: Checks): OpenWorkspaces {
  const open = workspaces.get(checks)
  if (!open) throw new TypeError('checks must be what openChecks of runsheet/checks returned.')
  return open
}

/** @internal */
export function openJudgeOf(judge: Judge): OpenJudge {
  const open = judges.get(judge)
  if (!open) throw new TypeError('judge must be what createJudge of runsheet/ai-sdk returned.')
  return open
}
