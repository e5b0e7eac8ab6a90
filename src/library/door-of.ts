import type { Door } from '../door/door.ts'
import type { Runsheet } from './runsheet.ts'

const doors = new WeakMap<Runsheet, Door>()

/** The door behind a public handle, for our own edges. Programs have no other way to it. */
export function doorOf(runsheet: Runsheet): Door {
  const door = doors.get(runsheet)
  if (!door) throw new TypeError('This is not a runsheet that createRunsheet returned.')
  return door
}

export const keepDoor = (runsheet: Runsheet, door: Door): void => void doors.set(runsheet, door)
