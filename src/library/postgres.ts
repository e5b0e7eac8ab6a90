import { openPostgresStore as open } from '../store/postgres/store.ts'
import type { Store } from './runsheet.ts'

/** Connection settings of a PostgreSQL store. */
export interface PostgresOptions {
  /** Maximum connections for calls. Default 10. Each process opens up to five more for itself. */
  readonly poolSize?: number
  /** Timeout of a call in milliseconds. Default 4,000. Other limits derive from it. */
  readonly timeoutMs?: number
}

/** Connects to PostgreSQL and creates the tables in an empty database. Many nodes may share it. */
export const openPostgresStore = (url: string, options: PostgresOptions = {}): Promise<Store> =>
  open({ ...options, url })
