import { openPostgresStore as open } from '../store/postgres/store.ts'
import type { Store } from './runsheet.ts'

/** How a PostgreSQL store uses its connections. */
export interface PostgresOptions {
  /** Connections for calls at most: 10 unless told. Each process opens up to four more for itself. */
  readonly poolSize?: number
  /** How long a call may take until it is answered, in milliseconds: 4,000 unless told. Other limits follow from it. */
  readonly timeoutMs?: number
}

/** Connects to PostgreSQL and creates our tables in an empty database. Many nodes may share it. */
export const openPostgresStore = (url: string, options: PostgresOptions = {}): Promise<Store> =>
  open({ ...options, url })
