import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { Checksums } from '../checksum.ts'
import { identityOf } from './database-identity.ts'
import { APPLICATION_ID, formatOf, LATEST_FORMAT } from './formats.ts'
import { SqliteLog } from './log.ts'
import { refuseUnfinished } from './moves.ts'

/** The header of a database. A smaller file is none, and SQLite would delete its WAL. */
const MIN_BYTES = 100

/** The logs of a database. */
export interface LogReader extends Pick<SqliteLog, 'current' | 'eventsAfter'> {
  close(): void
}

/**
 * Opens a database to read from some logs, in a time that does not depend on its size: it is not checked as a whole, but
 * each row that is read has a checksum. Undefined if it has to be opened as usual first.
 */
export function openLogReader(path: string): LogReader | undefined {
  refuseUnfinished(path)
  const [hasWal, hasShm] = [existsSync(`${path}-wal`), existsSync(`${path}-shm`)]
  if (hasWal !== hasShm || statSync(path).size < MIN_BYTES) return undefined
  // Where others have it open, or ended in a crash, nothing may be moved from the WAL into the file. Where nobody has, a
  // connection that can write takes its own, empty WAL along.
  const db = new DatabaseSync(path, { timeout: 0, readOnly: hasWal })
  try {
    if (isOurs(db)) {
      const log = new SqliteLog(db, new Checksums(identityOf(db).id))
      return {
        current: ref => log.current(ref),
        eventsAfter: (...args) => log.eventsAfter(...args),
        close: () => db.close(),
      }
    }
    db.close()
    return undefined
  } catch (error) {
    db.close()
    throw error
  }
}

const isOurs = (db: DatabaseSync): boolean =>
  db.prepare('PRAGMA application_id').get()?.['application_id'] === APPLICATION_ID && formatOf(db) === LATEST_FORMAT
