import type { DatabaseSync } from 'node:sqlite'
import { SqliteLog } from './log.ts'
import { refuseUnfinished } from './moves.ts'
import { connectToPeek } from './peek.ts'
import { checkFormat } from './schema.ts'

/**
 * Opens a database to read some of its logs, in time independent of its size: instead of a full check, each event is
 * checked as it is read. Undefined if the database needs a normal open first. The caller closes the database.
 */
export function openLogs(path: string): { readonly db: DatabaseSync; readonly log: SqliteLog } | undefined {
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
