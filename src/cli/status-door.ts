import { type Door, openDoor } from '../door/door.ts'
import { LOCAL_TENANT } from '../store/store.ts'
import { openExistingStore } from './open-store.ts'
import type { PlanSource, StatusPlace } from './status-source.ts'

/** Opens the store read-only and creates nothing; undefined if there is none. */
export async function openedForStatus(place: StatusPlace): Promise<Door | undefined> {
  const store = await openExistingStore(place)
  return store && openDoor({ store, readOnly: true })
}

export const plansOf = (door: Door): PlanSource => ({
  now: () => door.now(),
  read: ref => door.read(ref),
  conversations: async limit => (await door.conversations.list(LOCAL_TENANT, { limit }, 'all')).items,
  waiting: async limit => (await door.reviews.waiting(LOCAL_TENANT, undefined, { limit })).items,
  close: () => door.close(),
})
