import type { DatabaseSync } from 'node:sqlite'
import { Checksums } from '../checksum.ts'
import { identityOf } from './database-identity.ts'
import { SqliteLog } from './log.ts'
import { refuseUnfinished } from './moves.ts'
import { connectToPeek } from './peek.ts'
import { checkFormat } from './schema.ts'

/** The logs of a database. */
export interface LogReader extends Pick<SqliteLog, 'current' | 'eventsAfter'> {
  close(): void
}

/** The logs, and what else of a database can be read in the same way. */
export interface OpenedLogs {
  readonly db: DatabaseSync
  readonly log: SqliteLog
  readonly sums: Checksums
}

/**
 * Opens a database to read some of its logs, in a time that does not depend on its size: it is not checked as a whole, but
 * each row that is read has a checksum. Undefined if it has to be opened as usual first.
 */
export function openLogReader(path: string): LogReader | undefined {
  const opened = openLogs(path)
  if (!opened) return undefined
  const { db, log } = opened
  return {
    current: ref => log.current(ref),
    eventsAfter: (...args) => log.eventsAfter(...args),
    close: () => db.close(),
  }
}

/** The same for readers that need more than logs. They close the database. */
export function openLogs(path: string): OpenedLogs | undefined {
  refuseUnfinished(path)
  const db = connectToPeek(path)
  if (!db) return undefined
  try {
    checkFormat(db, path)
    const sums = new Checksums(identityOf(db))
    return { db, log: new SqliteLog(db, sums), sums }
  } catch (error) {
    db.close()
    throw error
  }
}
