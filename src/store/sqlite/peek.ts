import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { Ref } from '../store.ts'

// For readers that cannot wait until a database is checked as a whole. They load as little as they can, for the same reason.

/** The header of a database. A smaller file is none, and SQLite would delete its WAL. */
const MIN_BYTES = 100

/** A connection that leaves the files as they are; undefined if it has to be opened as usual. */
export function connectToPeek(path: string): DatabaseSync | undefined {
  const [hasWal, hasShm] = [existsSync(`${path}-wal`), existsSync(`${path}-shm`)]
  if (hasWal !== hasShm || statSync(path).size < MIN_BYTES) return undefined
  // Where others have it open, or ended in a crash, nothing may be moved from the WAL into the file. Where nobody has, a
  // connection that can write takes its own, empty WAL along.
  return new DatabaseSync(path, { timeout: 0, readOnly: hasWal })
}

/** Whether a database has this conversation. */
export function hasConversation(path: string, { tenant, conversation }: Ref): boolean {
  const db = connectToPeek(path)
  try {
    const sql = 'SELECT 1 FROM conversations WHERE tenant = ? AND conversation = ?'
    return db?.prepare(sql).get(tenant, conversation) !== undefined
  } finally {
    db?.close()
  }
}
