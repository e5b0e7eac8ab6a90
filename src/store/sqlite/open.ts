import { accessSync, constants, existsSync, linkSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { StoreError } from '../store-error.ts'
import { flushFolder } from '../folder.ts'
import { isBusy, isCorrupt, toStoreError } from './to-store-error.ts'
import { first } from './migrations/001-first.ts'
import { fewerPages } from './migrations/002-fewer-pages.ts'

/** Append only: the index is the version, and a released migration never changes. */
const MIGRATIONS: readonly string[] = [first, fewerPages]

/** Marks a database as ours ("RUNS"), so that we never write into another program's database. */
const APPLICATION_ID = 0x52_55_4e_53

/** Opens or creates the database. Refuses a file that it cannot trust, and leaves it untouched. */
export async function openDatabase(path: string): Promise<DatabaseSync> {
  try {
    makeFolder(dirname(path))
    if (!existsSync(path)) create(path)
    const db = await withBusyRetry(() => checked(path))
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

/** A connection with our settings. It never waits for a lock: that would freeze the event loop. */
export function connect(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: 0 })
  try {
    // Checkpoint every 16 MB instead of every 4: hot pages are copied back less often.
    db.exec('PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000')
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * A second connection, for writes that a power cut may lose. NORMAL, not OFF: its commits are not flushed, but a
 * checkpoint that it runs is, because that moves the pages of all connections.
 */
export function connectUnflushed(path: string): DatabaseSync {
  const db = connect(path)
  db.exec('PRAGMA synchronous = NORMAL')
  return db
}

/** Begins a transaction, waiting up to five seconds for the lock without blocking the event loop. */
export async function begin(start: () => unknown): Promise<void> {
  try {
    await withBusyRetry(start)
  } catch (error) {
    throw toStoreError(error)
  }
}

/** Runs `start` if the lock is free. Returns false if it is not. */
export function runIfFree(start: () => unknown): boolean {
  try {
    start()
    return true
  } catch (error) {
    if (isBusy(error)) return false
    throw toStoreError(error)
  }
}

/** Retries while another process holds the lock, for up to five seconds, without blocking the event loop. */
export async function withBusyRetry<T>(work: () => T): Promise<T> {
  for (let until = 0; ; ) {
    try {
      return work()
    } catch (error) {
      until ||= Date.now() + 5_000
      if (!isBusy(error) || Date.now() >= until) throw error
    }
    // Jitter keeps waiting processes from retrying in lockstep.
    await delay(1 + Math.random() * 9)
  }
}

/**
 * Creates the database under a temporary name and links it into place: a crash leaves no half-made database, and of two
 * processes that create it at once, one wins.
 */
function create(path: string): void {
  if (existsSync(`${path}-wal`)) {
    // Another process may just have created it.
    if (existsSync(path)) return
    throw new StoreError(
      'corrupt',
      `${path} is missing, but ${path}-wal exists: the database was moved without it. Put it back, or move the -wal file away.`,
    )
  }
  const temporary = `${path}.new-${process.pid}-${Math.random().toString(36).slice(2)}`
  try {
    const db = new DatabaseSync(temporary, { timeout: 0 })
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    db.exec(
      `BEGIN; ${MIGRATIONS.join('\n')}; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length}; COMMIT`,
    )
    db.close()
    linkInto(temporary, path)
    flushFolder(dirname(path))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(temporary + suffix, { force: true })
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    // In a read-only parent, Node reports ENOENT for the folder that it could not create.
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? notWritable(folder, error) : error
  }
}

function linkInto(temporary: string, path: string): void {
  try {
    linkSync(temporary, path)
  } catch (error) {
    // Without hard links, a second process that creates the database at the same moment could replace the first one's.
    if (!['EPERM', 'ENOTSUP', 'ENOSYS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    renameSync(temporary, path)
  }
}

/** Connects and checks that the database can be trusted. */
function checked(path: string): DatabaseSync {
  const db = connect(path)
  try {
    check(db, path)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function check(db: DatabaseSync, path: string): void {
  if (statSync(path).size === 0) {
    throw new StoreError(
      'corrupt',
      `${path} is empty (0 bytes): its data is lost. Restore it from a backup, or move it away to start over.`,
    )
  }
  if (pragma(db, 'application_id') !== APPLICATION_ID) {
    throw new StoreError(
      'corrupt',
      `${path} is a database, but not one of Runsheet's. Choose another path, or move it away.`,
    )
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
  await begin(() => db.exec('BEGIN IMMEDIATE'))
  try {
    // Read again under the lock: another process may have migrated first.
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

/** Only an operator sees errors of opening, so these may name the path. */
function openError(error: unknown, path: string): unknown {
  if (isCorrupt(error)) return damaged(path, error)
  const code = (error as NodeJS.ErrnoException | null)?.code
  // SQLite only says that it cannot open the file; check the folder for the cause.
  if (['EACCES', 'EPERM', 'EROFS'].includes(code ?? '') || !isWritable(dirname(path)))
    return notWritable(dirname(path), error)
  if (code === 'ENOSPC') return new StoreError('full', `The disk of ${dirname(path)} is full.`, { cause: error })
  const known = toStoreError(error)
  if (known === error || !(known instanceof StoreError)) return error
  return new StoreError(known.code, `${path}: ${known.message}`, { cause: error })
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
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
