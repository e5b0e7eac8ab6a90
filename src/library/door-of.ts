import type { Door } from '../engine/door/door.ts'
import type { PolicyPatch } from '../core/model/policy.ts'
import type { Workspaces } from '../engine/worker/workspaces.ts'
import type { Runsheet } from './runsheet.ts'

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
