import { openPostgresStore as open } from '../store/postgres/store.ts'
import type { Store } from './runsheet.ts'

/** Connects to PostgreSQL and creates the schema `runsheet` if it is missing. Many nodes may share it. */
export const openPostgresStore = (url: string): Promise<Store> => open({ url })
