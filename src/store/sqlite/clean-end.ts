import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type HeadFile, readHead } from './head-file.ts'
import { sealOf, writtenIn } from './integrity.ts'
import { pragma, ranAtOnce } from './open.ts'

/** Larger files are checked by their structure at the next start, as after a crash: reading them would delay the end. */
const MAX_SEALED_BYTES = 1 << 30

/**
 * Closes the connection. The last process to do so records that the database has ended cleanly, so that the next start
 * need not check it; the others free their place in the head file. A crash on the way is a crash like any other.
 */
export function endCleanly(db: DatabaseSync, path: string, head: HeadFile): void {
  let file: number | undefined
  try {
    if (readHead(path)?.seal) return
    if (ranAtOnce(() => db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; ROLLBACK'))) {
      file = sealed(db, path, head)
    } else if (ranAtOnce(() => db.exec('PRAGMA locking_mode = NORMAL; BEGIN IMMEDIATE'))) {
      head.release()
      db.exec('ROLLBACK')
    }
  } catch {
    // Without a record of its end, the database is checked at the next start.
  } finally {
    db.close()
    // Last, because closing it frees the locks that keep others out.
    if (file !== undefined) closeSync(file)
  }
}

/** Closes the connection, and leaves what is left of the WAL to `recover`: a last connection that only reads moves nothing. */
export function closeUnmoved(db: DatabaseSync, path: string): void {
  const reader = new DatabaseSync(path, { timeout: 0, readOnly: true })
  try {
    pragma(reader, 'user_version')
  } catch {
    // It counts as open, whatever it can read.
  } finally {
    db.close()
    reader.close()
  }
}

/** Nobody else has the database open: moves the WAL into the file and records what is in it. Returns the open file. */
function sealed(db: DatabaseSync, path: string, head: HeadFile): number | undefined {
  const checkpoint = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()
  const written = writtenIn(db)
  if (checkpoint?.['busy'] !== 0) return undefined
  const file = openSync(path, 'r')
  const seal = sealOf(file)
  if (seal.size <= MAX_SEALED_BYTES) head.seal(seal, written.events, written)
  return file
}
