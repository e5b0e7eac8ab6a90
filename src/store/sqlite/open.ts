import { accessSync, constants, existsSync, linkSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { StoreError } from '../store-error.ts'
import { flushFolder } from '../folder.ts'
import { isBusy, isCorrupt, toStoreError } from './to-store-error.ts'
import { first } from './migrations/001-first.ts'
import { fewerPages } from './migrations/002-fewer-pages.ts'

/** Append only: the place in this list is the number, and what was released is never changed. */
const MIGRATIONS: readonly string[] = [first, fewerPages]

/** Marks a database as ours ("RUNS"), so that we neither begin in an empty file nor write into somebody else's. */
const APPLICATION_ID = 0x52_55_4e_53

/** Opens the database, or makes it where there is none; refuses what cannot be trusted, and leaves that as it is. */
export async function openDatabase(path: string): Promise<DatabaseSync> {
  try {
    makeFolder(dirname(path))
    if (!existsSync(path)) create(path)
    const db = await patiently(() => checked(path))
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
    // Checkpointing every 16 MB instead of every 4: pages that are written over and over are copied back less often.
    db.exec('PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000')
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * A second connection, for what may be lost in a power cut. NORMAL, not OFF: it skips the flush of its own commits, but
 * a checkpoint that it happens to run is flushed, because that moves everybody's pages.
 */
export function connectUnflushed(path: string): DatabaseSync {
  const db = connect(path)
  db.exec('PRAGMA synchronous = NORMAL')
  return db
}

/** Begins a transaction once the lock is ours, without blocking anybody; gives up after five seconds. */
export async function begin(start: () => unknown): Promise<void> {
  try {
    await patiently(start)
  } catch (error) {
    throw toStoreError(error)
  }
}

/** Whether the lock could be had at once. */
export function tried(start: () => unknown): boolean {
  try {
    start()
    return true
  } catch (error) {
    if (isBusy(error)) return false
    throw toStoreError(error)
  }
}

/** Tries again while another process holds a lock, for up to five seconds; the event loop goes on meanwhile. */
export async function patiently<T>(work: () => T): Promise<T> {
  for (let until = 0; ; ) {
    try {
      return work()
    } catch (error) {
      until ||= Date.now() + 5_000
      if (!isBusy(error) || Date.now() >= until) throw error
    }
    // Jitter, so that several processes that wait do not come back at the same moment for ever.
    await delay(1 + Math.random() * 9)
  }
}

/**
 * Made aside and then given its name in one step: a crash while it is being made leaves no half-made database,
 * and of two processes that make it at once one wins.
 */
function create(path: string): void {
  if (existsSync(`${path}-wal`)) {
    // Another process may have made it since we looked.
    if (existsSync(path)) return
    throw new StoreError(
      'corrupt',
      `${path} is missing, but ${path}-wal is there: the database was moved without it. Put it back, or move the -wal away.`,
    )
  }
  const aside = `${path}.new-${process.pid}-${Math.random().toString(36).slice(2)}`
  try {
    const db = new DatabaseSync(aside, { timeout: 0 })
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    db.exec(
      `BEGIN; ${MIGRATIONS.join('\n')}; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length}; COMMIT`,
    )
    db.close()
    giveName(aside, path)
    flushFolder(dirname(path))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(aside + suffix, { force: true })
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    // Below a read-only place Node reports the folder that it could not make as missing.
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? notWritable(folder, error) : error
  }
}

function giveName(aside: string, path: string): void {
  try {
    linkSync(aside, path)
  } catch (error) {
    // Some file systems know no hard links. There a second process that creates at the same moment could replace the first.
    if (!['EPERM', 'ENOTSUP', 'ENOSYS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    renameSync(aside, path)
  }
}

/** A connection to a database that can be trusted. */
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
      `${path} is empty (0 bytes), so what it held is gone. Restore it from a backup, or move it away to begin anew.`,
    )
  }
  if (pragma(db, 'application_id') !== APPLICATION_ID) {
    throw new StoreError(
      'corrupt',
      `${path} is a database, but not one of Runsheet's. Choose another place, or move it away.`,
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
    // Read again under the lock: another process may have been here first.
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

/** Opening is an operator's business: here the message says where. */
function openError(error: unknown, path: string): unknown {
  if (isCorrupt(error)) return damaged(path, error)
  const code = (error as NodeJS.ErrnoException | null)?.code
  // SQLite only says that it cannot open the file; the folder says why.
  if (['EACCES', 'EPERM', 'EROFS'].includes(code ?? '') || !isWritable(dirname(path)))
    return notWritable(dirname(path), error)
  if (code === 'ENOSPC')
    return new StoreError('full', `There is no room left on the disk of ${dirname(path)}.`, { cause: error })
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
  return new StoreError(
    'readonly',
    `${folder} cannot be written to. Choose a folder that can, or change its permissions.`,
    { cause },
  )
}

function damaged(path: string, cause: unknown): StoreError {
  return new StoreError(
    'corrupt',
    `${path} is damaged and was left as it is. Restore it from a backup, or move it away to begin anew.`,
    { cause },
  )
}
