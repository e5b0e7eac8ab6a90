import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { openFileStore } from '../../src/store/files/store.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Capabilities, FullStore, Store } from '../../src/store/store.ts'
import { freshDatabase } from './postgres.ts'
import { scratchFolder } from './scratch.ts'

/** Those that have every capability. */
export type FullKind = 'sqlite' | 'json' | 'postgres'
export type StoreKind = FullKind | 'memory'

/** A place where several handles can be opened, as several processes would. */
export interface Place<S extends Store = Store & Pick<Capabilities, 'live'>> {
  /** The database: its path or its URL; empty for memory. */
  readonly address: string
  readonly open: () => Promise<S>
  readonly remove: () => Promise<void>
}

export function placeFor(kind: FullKind, postgresUrl: string): Promise<Place<FullStore>>
export function placeFor(kind: StoreKind, postgresUrl: string): Promise<Place>
export async function placeFor(kind: StoreKind, postgresUrl: string): Promise<Place> {
  if (kind === 'memory') return { address: '', open: async () => openMemoryStore(), remove: async () => {} }
  if (kind === 'postgres') {
    const database = await freshDatabase(postgresUrl)
    return { address: database.url, open: () => openPostgresStore({ url: database.url }), remove: database.drop }
  }
  const folder = scratchFolder()
  return {
    address: join(folder, 'runsheet.db'),
    open: () =>
      kind === 'sqlite' ? openSqliteStore({ path: join(folder, 'runsheet.db') }) : openFileStore({ data: folder }),
    remove: async () => rmSync(folder, { recursive: true }),
  }
}
