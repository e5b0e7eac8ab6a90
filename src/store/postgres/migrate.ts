import { StoreError } from '../store-error.ts'
import type { Database } from './connections.ts'
import type { Session } from './session.ts'
import { first } from './migrations/001-first.ts'
import { fewerIndexes } from './migrations/002-fewer-indexes.ts'
import { pendingReviews } from './migrations/003-pending-reviews.ts'
import { reviewsByDeadline } from './migrations/004-reviews-by-deadline.ts'
import { search } from './migrations/005-search.ts'
import { needs } from './migrations/006-needs.ts'
import { searchNewestFirst } from './migrations/007-search-newest-first.ts'
import { lists } from './migrations/008-lists.ts'
import { notices } from './migrations/009-notices.ts'

/** Append-only: a migration's number is its place here, and a released one never changes. */
const MIGRATIONS: readonly string[] = [
  first,
  fewerIndexes,
  pendingReviews,
  reviewsByDeadline,
  search,
  needs,
  searchNewestFirst,
  lists,
  notices,
]

/** An advisory lock number of our own ("RUNS"): processes that migrate the same database queue behind it. */
const LOCK = 0x52_55_4e_53

/** A migration may have to rewrite a large table, or to wait for another process that does. */
const MAX_MS = 600_000

/** Migrates the database to this version's format. Refuses a newer one. */
export async function migrate(database: Database): Promise<void> {
  // Checked first, so that a user without CREATE rights can run on a prepared database.
  if ((await database.use(session => format(session), ONCE)) === MIGRATIONS.length) return
  await database.use(
    async session => {
      await session.query({ text: 'BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0' })
      await session.query({ text: `SELECT pg_advisory_xact_lock(${LOCK})` })
      await session.query({
        text: `CREATE SCHEMA IF NOT EXISTS runsheet;
        CREATE TABLE IF NOT EXISTS runsheet.runsheet_migrations
          (number integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`,
      })
      // Read again under the lock: another process may have migrated meanwhile.
      const reached = await format(session)
      for (const [index, text] of MIGRATIONS.entries()) {
        if (index < reached) continue
        await session.query({ text })
        await session.query({ text: `INSERT INTO runsheet.runsheet_migrations (number) VALUES (${index + 1})` })
      }
      await session.query({ text: 'COMMIT' })
    },
    { ...ONCE, ms: MAX_MS },
  )
}

/** For a process that only reads. */
export async function requireFormat(database: Database): Promise<void> {
  if ((await database.use(session => format(session), ONCE)) === MIGRATIONS.length) return
  throw new StoreError('readonly', 'The database is not of the format of this Runsheet: start a server on it first.')
}

/** At startup an operator waits for the error. */
const ONCE = { retries: false }

async function format(session: Session): Promise<number> {
  const [there] = await session.query<{ found: boolean }>({
    text: `SELECT to_regclass('runsheet.runsheet_migrations') IS NOT NULL AS found`,
  })
  if (!there?.found) return 0
  const [row] = await session.query<{ number: number }>({
    text: 'SELECT coalesce(max(number), 0) AS number FROM runsheet.runsheet_migrations',
  })
  const number = row?.number ?? 0
  if (number <= MIGRATIONS.length) return number
  const formats = `format ${number}, this one knows ${MIGRATIONS.length}`
  throw new StoreError('newer', `The database was written by a newer Runsheet (${formats}). Update Runsheet.`)
}
