import { openSqliteStore as open } from '../store/sqlite/store.ts'
import type { Store } from './runsheet.ts'

/** Opens or creates one SQLite file. Several processes may share it; every acknowledged write is flushed to disk. */
export const openSqliteStore = (path: string): Promise<Store> => open({ path })
