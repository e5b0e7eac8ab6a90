import { join } from 'node:path'
import { openMemoryStore } from '../store/memory.ts'
import { openSqliteStore } from '../store/sqlite/store.ts'
import type { Store } from '../store/store.ts'
import { Complaint } from './complaint.ts'

const NAMES: Readonly<Record<string, string>> = { sqlite: 'SQLite', file: 'JSON files', memory: 'memory' }

/** Said without what was given: it may hold a password. */
export function checkStore(store: string): void {
  if (Object.hasOwn(NAMES, store) || (/^postgres(ql)?:\/\/./.test(store) && URL.canParse(store))) return
  throw new Complaint(
    '--store must be sqlite, file, memory or postgres://…, with what is special in a password encoded.',
  )
}

/** The store that a command names, in the data folder or elsewhere. Those that few ask for are loaded when asked for. */
export async function openStore({ store, data }: { readonly store: string; readonly data: string }): Promise<Store> {
  try {
    switch (store) {
      case 'sqlite':
        return await openSqliteStore({ path: join(data, 'runsheet.db') })
      case 'file':
        return await (await import('../store/json/store.ts')).openFileStore({ data })
      case 'memory':
        return openMemoryStore()
      default:
        return await (await import('../store/postgres/store.ts')).openPostgresStore({ url: store })
    }
  } catch (error) {
    throw new Complaint(`cannot open ${nameOf(store)}: ${(error as Error).message}`)
  }
}

/** Stores of the same place hold the same: JSON files stand in front of the folder's database. */
export const placeOf = (store: string): string => (store === 'sqlite' || store === 'file' ? 'folder' : nameOf(store))

/** Without what a URL may hold of a password. */
export function nameOf(store: string): string {
  const known = NAMES[store]
  if (known) return known
  const { host, pathname } = new URL(store)
  return `PostgreSQL at ${host}${pathname}`
}
