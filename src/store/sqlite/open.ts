import { existsSync, realpathSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { StoreError } from '../store-error.ts'
import {
  createPrivateFile,
  flushFolder,
  isSameFile,
  linkOrRename,
  lstatOf,
  makePrivateFolder,
  statOf,
} from '../private-file.ts'
import { headPath, headProblem, readHead } from './head-file.ts'
import { refuseUnfinished } from './moves.ts'
import { checkFormat, createTables } from './schema.ts'
import { damaged, isBusy, openError, toStoreError } from './to-store-error.ts'

const HEADER_BYTES = 100

/** Size to which SQLite truncates a WAL that grew larger. */
const WAL_BYTES = 4 * 1024 * 1024

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
 * Runs a whole transaction, or a statement outside of one, that a power cut may lose. NORMAL, not OFF: its commits are not
 * flushed, but its checkpoints are, because they also move pages of flushed commits.
 */
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

/**
 * Checks on a read-only connection: closing it runs no checkpoint, so a WAL that SQLite cannot read is not lost.
 */
function checked(path: string): DatabaseSync {
  checkSize(path)
  const before = statOf(path)
  const real = realpathSync(path)
  const wasOpen = existsSync(`${real}-wal`)
  const head = readHead(real)
  const reader = connectReader(path)
  let db: DatabaseSync
  try {
    checkFormat(reader, path)
    const problem = structureProblem(reader) ?? headProblem(reader, real, head)
    if (problem !== undefined) throw damaged(path, problem)
    db = connected(path)
    reader.close()
  } catch (error) {
    reader.close()
    if (!wasOpen) removeEmptyWal(path)
    throw error
  }
  // Replaced while we opened it, so we cannot know which one we have.
  if (isSameFile(before, statOf(path))) return db
  db.close()
  throw new StoreError('busy', 'The database is being replaced.')
}

/**
 * `integrity_check`, because `quick_check` takes nearly as long and does not compare indexes with tables: a log would end
 * early where an index does not find its events.
 */
function structureProblem(db: DatabaseSync): string | undefined {
  const verdict = String(pragma(db, 'integrity_check(1)')).replaceAll(/\s+/g, ' ')
  return verdict === 'ok' ? undefined : verdict
}

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
  return afterFirstRead(connect(path))
}

/** A connection that leaves the files unchanged. */
export const connectReader = (path: string): DatabaseSync =>
  afterFirstRead(new DatabaseSync(path, { timeout: 0, readOnly: true }))

function afterFirstRead(db: DatabaseSync): DatabaseSync {
  try {
    pragma(db, 'user_version')
    return db
  } catch (error) {
    db.close()
    throw error
  }
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

/**
 * Creates the database under a temporary name and links it atomically: a crash leaves no partial database, and of two
 * concurrent processes one wins.
 */
export function createDatabase(path: string): void {
  if (existsSync(`${path}-wal`)) {
    // Another process may have created it concurrently.
    if (existsSync(path)) return
    throw new StoreError(
      'corrupt',
      `${path} is missing, but ${path}-wal exists: the database was moved without it. Put it back, or move the -wal away.`,
    )
  }
  if (existsSync(headPath(path)) && !existsSync(path)) {
    throw new StoreError(
      'corrupt',
      `${path} is missing, but ${headPath(path)} exists: the database was deleted or moved. Put it back, or delete that file to start over.`,
    )
  }
  const temporary = `${path}.new-${process.pid}-${Math.random().toString(36).slice(2)}`
  try {
    // SQLite gives -wal and -shm the mode of the database.
    createPrivateFile(temporary)
    const db = new DatabaseSync(temporary, { timeout: 0 })
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    createTables(db)
    db.close()
    linkOrRename(temporary, path)
    flushFolder(dirname(path))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(temporary + suffix, { force: true })
  }
}
