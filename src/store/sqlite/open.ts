import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { StoreError } from '../store-error.ts'
import { flushFolder, isWritable } from '../folder.ts'
import { isSameFile, lstatOf, statOf } from '../identity.ts'
import { createPrivateFile, makePrivateFolder } from '../private-file.ts'
import { isBusy, isCorrupt, toStoreError } from './to-store-error.ts'
import { first } from './migrations/001-first.ts'
import { fewerPages } from './migrations/002-fewer-pages.ts'
import { pendingReviews } from './migrations/003-pending-reviews.ts'
import { reviewsByDeadline } from './migrations/004-reviews-by-deadline.ts'
import { search } from './migrations/005-search.ts'
import { needs } from './migrations/007-needs.ts'

/** Append-only: a migration's number is its place here, and a released one never changes. */
const MIGRATIONS: readonly string[] = [first, fewerPages, pendingReviews, reviewsByDeadline, search, needs]

/** Marks a database as ours ("RUNS"), so that we never write into an empty file or another program's database. */
export const APPLICATION_ID = 0x52_55_4e_53

/** Opens or creates the database. Refuses one that cannot be trusted and leaves it untouched. */
export async function openDatabase(path: string): Promise<DatabaseSync> {
  try {
    makePrivateFolder(resolve(dirname(path)))
    refuseDanglingLink(path)
    if (!existsSync(path)) create(path)
    const db = await retryWhileBusy(() => checked(path))
    try {
      await migrate(db)
      return db
    } catch (error) {
      db.close()
      throw error
    }
  } catch (error) {
    throw openError(error, path)
  }
}

/** A connection with our settings. It never blocks on a lock: that would freeze the event loop. */
export function connect(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: 0 })
  try {
    // Checkpoint every 16 MB instead of 4: pages that change often are copied back less often.
    db.exec('PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000')
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * A second connection, for data that a power cut may lose. NORMAL, not OFF: its commits are not flushed, but a checkpoint
 * that it runs is, because that moves the pages of flushed commits, too.
 */
export function connectUnflushed(path: string): DatabaseSync {
  const db = connect(path)
  db.exec('PRAGMA synchronous = NORMAL')
  return db
}

/** Like `retryWhileBusy`, with failures as store errors. */
export async function whenFree(work: () => unknown): Promise<void> {
  try {
    await retryWhileBusy(work)
  } catch (error) {
    throw toStoreError(error)
  }
}

/** Runs `work` and says whether the lock was free for it. */
export function ranAtOnce(work: () => unknown): boolean {
  try {
    work()
    return true
  } catch (error) {
    if (isBusy(error)) return false
    throw toStoreError(error)
  }
}

/** How long to wait for a lock that another process holds. */
export const MAX_WAIT_MS = 5_000

/** Retries while another process holds the lock, for up to five seconds after `since`, without blocking the event loop. */
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

/**
 * Created under a temporary name and then linked in one step: a crash leaves no half-made database, and of two processes
 * that create it at once one wins.
 */
function create(path: string): void {
  if (existsSync(`${path}-wal`)) {
    // Another process may have created it meanwhile.
    if (existsSync(path)) return
    throw new StoreError(
      'corrupt',
      `${path} is missing, but ${path}-wal exists: the database was moved without it. Put it back, or move the -wal away.`,
    )
  }
  const temporary = `${path}.new-${process.pid}-${Math.random().toString(36).slice(2)}`
  try {
    // SQLite gives -wal and -shm the mode of the database.
    createPrivateFile(temporary)
    const db = new DatabaseSync(temporary, { timeout: 0 })
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    db.exec(
      `BEGIN; ${MIGRATIONS.join('\n')}; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length}; COMMIT`,
    )
    db.close()
    link(temporary, path)
    flushFolder(dirname(path))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(temporary + suffix, { force: true })
  }
}

function link(temporary: string, path: string): void {
  try {
    linkSync(temporary, path)
  } catch (error) {
    // Some file systems have no hard links. There, of two processes that create it at once, the second replaces the first.
    if (!['EPERM', 'ENOTSUP', 'ENOSYS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    renameSync(temporary, path)
  }
}

/** SQLite would create the file that the link names, wherever that is. */
function refuseDanglingLink(path: string): void {
  if (existsSync(path) || !lstatOf(path)?.isSymbolicLink()) return
  throw new StoreError('corrupt', `${path} is a link to a file that does not exist. Remove it, or restore that file.`)
}

/** A connection to a database that passed the checks. */
function checked(path: string): DatabaseSync {
  if (existsSync(`${path}-wal`) !== existsSync(`${path}-shm`)) refuseIfInUse(path)
  const before = statOf(path)
  const db = connect(path)
  try {
    check(db, path)
    // Replaced while we opened it: we do not know which one we have.
    if (!isSameFile(before, statOf(path))) throw new StoreError('busy', 'The database is being replaced.')
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * Where only one of `-wal` and `-shm` exists, nobody may have the database open: they would go on with a deleted file, and
 * we with a new one. Retried, because a process that opens or closes it passes through that state.
 */
function refuseIfInUse(path: string): void {
  const db = new DatabaseSync(path, { timeout: 0 })
  try {
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK')
  } catch (error) {
    if (!isBusy(error)) throw error
    throw new StoreError(
      'busy',
      `${path}-wal or -shm was deleted while another process has the database open. Stop all processes that use it first.`,
    )
  } finally {
    db.close()
  }
}

function check(db: DatabaseSync, path: string): void {
  if (statSync(path).size === 0) {
    throw new StoreError(
      'corrupt',
      `${path} is empty (0 bytes). Restore it from a backup, or move it away to start over.`,
    )
  }
  if (pragma(db, 'application_id') !== APPLICATION_ID) {
    throw new StoreError('corrupt', `${path} is not a Runsheet database. Choose another path, or move it away.`)
  }
  const version = Number(pragma(db, 'user_version'))
  if (version > MIGRATIONS.length) {
    throw new StoreError(
      'newer',
      `${path} was written by a newer Runsheet (format ${version}, this one knows ${MIGRATIONS.length}). Update Runsheet.`,
    )
  }
  const verdict = pragma(db, 'quick_check(1)')
  if (verdict !== 'ok') throw damaged(path, verdict)
}

async function migrate(db: DatabaseSync): Promise<void> {
  if (pragma(db, 'user_version') === MIGRATIONS.length) return
  await whenFree(() => db.exec('BEGIN IMMEDIATE'))
  try {
    // Read again under the lock: another process may have migrated meanwhile.
    const version = Number(pragma(db, 'user_version'))
    db.exec(`${MIGRATIONS.slice(version).join('\n')}; PRAGMA user_version = ${MIGRATIONS.length}; COMMIT`)
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

export function pragma(db: DatabaseSync, name: string): unknown {
  const row = db.prepare(`PRAGMA ${name}`).get()
  return row && Object.values(row)[0]
}

/** Only operators see failures to open: these messages name the path. */
function openError(error: unknown, path: string): unknown {
  if (isCorrupt(error)) return damaged(path, error)
  const code = (error as NodeJS.ErrnoException | null)?.code
  // SQLite only says that it cannot open the file; the folder's permissions say why.
  if (['EACCES', 'EPERM', 'EROFS'].includes(code ?? '') || !isWritable(dirname(path)))
    return notWritable(dirname(path), error)
  if (code === 'ENOSPC') return new StoreError('full', `The disk of ${dirname(path)} is full.`, { cause: error })
  const known = toStoreError(error)
  if (known === error || !(known instanceof StoreError)) return error
  return new StoreError(known.code, `${path}: ${known.message}`, { cause: error })
}

function notWritable(folder: string, cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause
  return new StoreError('readonly', `${folder} is not writable. Choose another folder, or change its permissions.`, {
    cause,
  })
}

function damaged(path: string, cause: unknown): StoreError {
  return new StoreError(
    'corrupt',
    `${path} is damaged and was left untouched. Restore it from a backup, or move it away to start over.`,
    { cause },
  )
}
