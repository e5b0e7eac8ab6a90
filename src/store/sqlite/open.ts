import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { StoreError } from '../store-error.ts'
import { isSameFile, lstatOf, statOf } from '../identity.ts'
import { makePrivateFolder } from '../private-file.ts'
import { verifyConversations } from './verifiable.ts'
import { createDatabase } from './create.ts'
import { type Head, noteChecked, readHead } from './head-file.ts'
import { damageIn, isSealed, writtenIn } from './integrity.ts'
import { lockOut } from './lock-out.ts'
import { refuseUnfinished } from './moves.ts'
import { damaged, openError } from './open-errors.ts'
import { checkFormat } from './schema.ts'
import { isBusy, resultCode, toStoreError } from './to-store-error.ts'

const HEADER_BYTES = 100

/** Size to which SQLite truncates a WAL that grew larger. */
export const WAL_BYTES = 4 * 1024 * 1024

/** Record checked events only from this many on. */
const MANY_EVENTS = 100

/** Opens or creates the database. Refuses a damaged one and leaves it untouched. */
export async function openDatabase(path: string): Promise<DatabaseSync> {
  try {
    makePrivateFolder(resolve(dirname(path)))
    refuseUnfinished(path)
    refuseDanglingLink(path)
    if (!existsSync(path)) createDatabase(path)
    const db = await retryWhileBusy(() => checked(path))
    try {
      // Moves may have started meanwhile, and we may have opened a file created in between.
      refuseUnfinished(path)
      // A restored backup is not in WAL mode.
      if (pragma(db, 'journal_mode') !== 'wal') await whenFree(() => db.exec('PRAGMA journal_mode = WAL'))
      return db
    } catch (error) {
      db.close()
      throw error
    }
  } catch (error) {
    throw openError(error, path)
  }
}

/** A connection with our settings. It never blocks on a lock, because that would freeze the event loop. */
export function connect(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: 0 })
  try {
    // Keeps the WAL small: checkpoints every 4 MB, and truncates it to that after a large transaction.
    db.exec(`PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 1000; PRAGMA journal_size_limit = ${WAL_BYTES}`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * A second connection, for data that a power cut may lose. NORMAL, not OFF: its commits are not flushed, but its
 * checkpoints are, because they also move pages of flushed commits.
 */
export function connectUnflushed(path: string): DatabaseSync {
  const db = connect(path)
  db.exec('PRAGMA synchronous = NORMAL')
  return db
}

/** Runs a whole transaction that a power cut may lose, on a connection that otherwise flushes. */
export function unflushed<T>(db: DatabaseSync, transaction: () => T): T {
  db.exec('PRAGMA synchronous = NORMAL')
  try {
    return transaction()
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK')
    db.exec('PRAGMA synchronous = FULL')
  }
}

/** Like `retryWhileBusy`, but throws store errors. */
export async function whenFree(work: () => unknown): Promise<void> {
  try {
    await retryWhileBusy(work)
  } catch (error) {
    throw toStoreError(error)
  }
}

/** Returns whether the lock was free to run `work`. */
export function ranAtOnce(work: () => unknown): boolean {
  try {
    work()
    return true
  } catch (error) {
    if (isBusy(error)) return false
    throw toStoreError(error)
  }
}

/** Timeout for another process's lock. Leaves one second of a request's five. */
export const MAX_WAIT_MS = 4_000

/** Retries while another process holds the lock, until four seconds after `since`, without blocking the event loop. */
export async function retryWhileBusy<T>(work: () => T, since: number = performance.now()): Promise<T> {
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || performance.now() - since >= MAX_WAIT_MS) throw error
    }
    // Jitter, so that waiting processes do not keep colliding.
    await delay(1 + Math.random() * 9)
  }
}

/** SQLite would create the link's target, wherever that is. */
function refuseDanglingLink(path: string): void {
  if (existsSync(path) || !lstatOf(path)?.isSymbolicLink()) return
  throw new StoreError('corrupt', `${path} is a link to a file that does not exist. Remove it, or restore that file.`)
}

function checked(path: string): DatabaseSync {
  checkSize(path)
  const before = statOf(path)
  const real = realpathSync(path)
  const head = readHead(real)
  const db = isSealed(real, head) ? connectSealed(path) : connectChecked(path, real, head)
  // Replaced while we opened it, so we cannot know which one we have.
  if (isSameFile(before, statOf(path))) return db
  db.close()
  throw new StoreError('busy', 'The database is being replaced.')
}

/** Sealed: nothing has changed since the last clean shutdown, so nothing needs a check. */
function connectSealed(path: string): DatabaseSync {
  const db = connect(path)
  try {
    checkFormat(db, path)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Checks on a read-only connection: closing it runs no checkpoint, so a WAL that SQLite cannot read is not lost. */
function connectChecked(path: string, real: string, head: Head | undefined): DatabaseSync {
  const [hasWal, hasShm] = [existsSync(`${real}-wal`), existsSync(`${real}-shm`)]
  if (hasWal !== hasShm) refuseIfInUse(path, real)
  const reader = connectReader(path)
  try {
    checkFormat(reader, path)
    reader.exec('BEGIN')
    const problem = problemIn(reader, real, head, hasWal || hasShm)
    if (problem !== undefined) throw damaged(path, problem)
    return connected(path)
  } finally {
    reader.close()
    if (!hasWal) removeEmptyWal(path)
  }
}

/**
 * If only one of `-wal` and `-shm` exists, no process may have the database open: it would continue with a deleted
 * file, and we with a new one. Retried, because opening and closing pass through that state.
 */
function refuseIfInUse(path: string, real: string): void {
  let lock: ReturnType<typeof lockOut>
  try {
    lock = lockOut(real)
  } catch (error) {
    // Some file systems have no hard links; there, checking would risk the WAL.
    if (resultCode(error) === undefined) return
    throw error
  }
  if (!lock) throw inUse(path)
  lock.release()
}

const inUse = (path: string): StoreError =>
  new StoreError(
    'busy',
    `${path}-wal or -shm was deleted while another process has the database open. Stop all processes that use it first.`,
  )

/** A read-only connection creates a WAL and leaves it behind; the last writable connection to close removes it. */
export function removeEmptyWal(path: string): void {
  try {
    connected(path).close()
  } catch {
    // Not a database, or in use: keep the file.
  }
}

/** A connection counts as open only after its first read. */
function connected(path: string): DatabaseSync {
  const db = connect(path)
  try {
    pragma(db, 'user_version')
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** A connection that leaves the files unchanged. */
export function connectReader(path: string): DatabaseSync {
  const reader = new DatabaseSync(path, { timeout: 0, readOnly: true })
  try {
    pragma(reader, 'user_version')
    return reader
  } catch (error) {
    reader.close()
    throw error
  }
}

function problemIn(db: DatabaseSync, real: string, head: Head | undefined, wasOpen: boolean): string | undefined {
  const problem = damageIn(db, real, head)
  if (problem !== undefined) return problem
  if (head?.seal && !wasOpen) {
    // Changed since its clean shutdown, but not by us: check everything.
    const [first] = verifyConversations(db)
    return first
  }
  const { events } = writtenIn(db)
  if (head && events - head.checked >= MANY_EVENTS) noteChecked(real, events)
  return undefined
}

/** Call before SQLite opens the file, because SQLite deletes the WAL of an empty file. */
export function checkSize(path: string): void {
  const { size } = statSync(path)
  if (size === 0) throw damaged(path, 'it is empty (0 bytes)')
  if (size < HEADER_BYTES) throw damaged(path, 'it ends within its header')
}

export function pragma(db: DatabaseSync, name: string): unknown {
  const row = db.prepare(`PRAGMA ${name}`).get()
  return row && Object.values(row)[0]
}
