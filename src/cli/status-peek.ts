import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Instant } from '../domain/instant.ts'
import { openLogs } from '../store/sqlite/reader.ts'
import { sqliteQueries } from '../store/sqlite/queries.ts'
import { LOCAL_TENANT } from '../store/store.ts'
import type { PlanSource, StatusPlace } from './status-source.ts'

/** Reads plans without checking the whole database. Undefined if it must be opened normally. */
export function peekedPlans({ data }: StatusPlace): PlanSource | undefined {
  const path = join(data, 'runsheet.db')
  const opened = existsSync(path) ? openLogs(path) : undefined
  if (!opened) return undefined
  const { db, log } = opened
  const now = (): Instant => new Date().toISOString()
  const queries = sqliteQueries(db, work => work(), log, now)
  return {
    now: async () => now(),
    read: async ref => log.current(ref),
    conversations: async limit => (await queries.conversations(LOCAL_TENANT, { limit }, 'all')).items,
    waiting: async limit => (await queries.waiting(LOCAL_TENANT, undefined, { limit })).items,
    close: async () => db.close(),
  }
}
