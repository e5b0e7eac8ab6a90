import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

// For readers that cannot wait for a full check of the database. They also load as few modules as possible.

/** The size of a database header. A smaller file is not a database, and SQLite would delete its WAL. */
const MIN_BYTES = 100

/** A connection that leaves the files unchanged; undefined if the database needs a normal open. */
export function connectToPeek(path: string): DatabaseSync | undefined {
  const [hasWal, hasShm] = [existsSync(`${path}-wal`), existsSync(`${path}-shm`)]
  if (hasWal !== hasShm || statSync(path).size < MIN_BYTES) return undefined
  // With a WAL, another process has it open or crashed, so no checkpoint may run. Without one, a writable connection
  // cleans up its own empty WAL.
  return new DatabaseSync(path, { timeout: 0, readOnly: hasWal })
}
