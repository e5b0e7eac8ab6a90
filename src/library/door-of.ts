import type { Door } from '../door/door.ts'
import type { PolicyPatch } from '../domain/policy.ts'
import type { Workspaces } from '../runner/workspaces.ts'
import type { Runsheet } from './runsheet.ts'

/** What is behind a public handle. */
export interface Inside {
  readonly door: Door
  readonly tenant: string
  /** The policy of new conversations. */
  readonly policy: PolicyPatch
  /** Where its checks run, if they run in this process. */
  readonly workspaces: Workspaces | undefined
}

const insides = new WeakMap<Runsheet, Inside>()

/** What is behind a public handle, for our own edges. Programs have no other way to it. */
export function insideOf(runsheet: Runsheet): Inside {
  const inside = insides.get(runsheet)
  if (!inside) throw new TypeError('This is not a runsheet that createRunsheet returned.')
  return inside
}

/** The door behind a public handle. */
export const doorOf = (runsheet: Runsheet): Door => insideOf(runsheet).door

export const keepInside = (runsheet: Runsheet, inside: Inside): void => void insides.set(runsheet, inside)
