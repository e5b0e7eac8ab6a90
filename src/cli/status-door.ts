import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Door, openDoor } from '../door/door.ts'
import { openSqliteStore } from '../store/sqlite/store.ts'
import { StoreError } from '../store/store-error.ts'
import { LOCAL_TENANT } from '../store/store.ts'
import type { PlanSource, StatusPlace } from './status-source.ts'

/** Opens the store read-only and creates nothing; undefined if there is none. */
export async function openedForStatus({ store, data }: StatusPlace): Promise<Door | undefined> {
  if (store === 'memory') return undefined
  if (store === 'sqlite' || store === 'file') {
    // Task files only mirror the log.
    const path = join(data, 'runsheet.db')
    return existsSync(path) ? openDoor({ store: await openSqliteStore({ path }), readOnly: true }) : undefined
  }
  const { openPostgresStore } = await import('../store/postgres/store.ts')
  try {
    return openDoor({ store: await openPostgresStore({ url: store, creates: false }), readOnly: true })
  } catch (error) {
    // A database without our tables.
    if (error instanceof StoreError && error.code === 'readonly') return undefined
    throw error
  }
}

export const plansOf = (door: Door): PlanSource => ({
  now: () => door.now(),
  read: ref => door.read(ref),
  conversations: async limit => (await door.conversations.list(LOCAL_TENANT, { limit }, 'all')).items,
  waiting: async limit => (await door.reviews.waiting(LOCAL_TENANT, undefined, { limit })).items,
  close: () => door.close(),
})
