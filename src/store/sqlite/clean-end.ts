import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type HeadFile, readHead } from './head-file.ts'
import { sealOf, writtenIn } from './integrity.ts'
import { pragma, ranAtOnce } from './open.ts'

/**
 * Larger files are not sealed: reading them would delay the shutdown. The next start checks them, as after a crash.
 */
const MAX_SEALED_BYTES = 1 << 30

/**
 * Closes the connection. The last process seals the database, so that the next start need not check it; the others free
 * their slots in the head file. A crash on the way is like any other crash.
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
    // Without a seal, the next start checks the database.
  } finally {
    db.close()
    // Last, because closing it frees the locks that keep other processes out.
    if (file !== undefined) closeSync(file)
  }
}

/**
 * Closes the connection without a checkpoint, so that `recover` finds the rest of the WAL. SQLite checkpoints when the
 * last connection closes, but not if that one is read-only.
 */
export function closeUnmoved(db: DatabaseSync, path: string): void {
  const reader = new DatabaseSync(path, { timeout: 0, readOnly: true })
  try {
    pragma(reader, 'user_version')
  } catch {
    // It counts as open whether or not it can read.
  } finally {
    db.close()
    reader.close()
  }
}

/**
 * Call only while no other process has the database open. Checkpoints the WAL and writes the seal. Returns the open
 * file.
 */
function sealed(db: DatabaseSync, path: string, head: HeadFile): number | undefined {
  const checkpoint = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()
  const written = writtenIn(db)
  if (checkpoint?.['busy'] !== 0) return undefined
  const file = openSync(path, 'r')
  const seal = sealOf(file)
  if (seal.size <= MAX_SEALED_BYTES) head.seal(seal, written.events, written)
  return file
}
