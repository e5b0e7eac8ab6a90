import type { DatabaseSync } from 'node:sqlite'
import { databaseChecksum } from '../checksum.ts'
import { first } from './migrations/001-first.ts'
import { fewerPages } from './migrations/002-fewer-pages.ts'
import { pendingReviews } from './migrations/003-pending-reviews.ts'
import { reviewsByDeadline } from './migrations/004-reviews-by-deadline.ts'
import { search } from './migrations/005-search.ts'
import { checksums } from './migrations/006-checksums.ts'
import { needs } from './migrations/007-needs.ts'
import { summedConversations } from './migrations/008-summed-conversations.ts'
import { lists } from './migrations/009-lists.ts'
import { notices } from './migrations/010-notices.ts'

/** Append-only: a migration's number is its place here, and a released one never changes. */
const MIGRATIONS: readonly string[] = [
  first,
  fewerPages,
  pendingReviews,
  reviewsByDeadline,
  search,
  checksums,
  needs,
  summedConversations,
  lists,
  notices,
]

/** Marks a database as ours ("RUNS"), so that we never write into an empty file or another program's database. */
export const APPLICATION_ID = 0x52_55_4e_53

/** A format is the number of migrations that a database has seen (`user_version`). */
export const LATEST_FORMAT = MIGRATIONS.length
export const WITH_CHECKSUMS = MIGRATIONS.indexOf(checksums) + 1
export const WITH_SUMMED_CONVERSATIONS = MIGRATIONS.indexOf(summedConversations) + 1
export const WITH_LISTS = MIGRATIONS.indexOf(lists) + 1

/** The number of migrations that a database has seen. */
export const formatOf = (db: DatabaseSync): number => Number(db.prepare('PRAGMA user_version').get()?.['user_version'])

/** Fills a new database. */
export function fill(db: DatabaseSync): void {
  db.exec(`BEGIN; PRAGMA application_id = ${APPLICATION_ID}`)
  upgrade(db, 0)
  db.exec('COMMIT')
}

/** Runs the migrations that a database of that format has not seen, within the open transaction. */
export function upgrade(db: DatabaseSync, format: number): void {
  db.function('database_checksum', { deterministic: true, varargs: true }, (database, kind, ...fields) =>
    databaseChecksum(String(database), String(kind), ...fields.map(field => (field === null ? null : String(field)))),
  )
  db.exec(`${MIGRATIONS.slice(format).join('\n')}; PRAGMA user_version = ${LATEST_FORMAT}`)
}
