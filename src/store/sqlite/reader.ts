import type { DatabaseSync } from 'node:sqlite'
import { SqliteLog } from './log.ts'
import { refuseUnfinished } from './moves.ts'
import { connectToPeek } from './peek.ts'
import { checkFormat } from './schema.ts'

export interface LogReader extends Pick<SqliteLog, 'current' | 'eventsAfter'> {
  close(): void
}

export interface OpenedLogs {
  readonly db: DatabaseSync
  readonly log: SqliteLog
}

/**
 * Opens a database to read some of its logs, in time independent of its size: instead of a full check, each event is
 * checked as it is read. Undefined if the database needs a normal open first.
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

/** Like `openLogReader`, for readers that need more than logs. The caller closes the database. */
export function openLogs(path: string): OpenedLogs | undefined {
  refuseUnfinished(path)
  const db = connectToPeek(path)
  if (!db) return undefined
  try {
    checkFormat(db, path)
    return { db, log: new SqliteLog(db) }
  } catch (error) {
    db.close()
    throw error
  }
}
