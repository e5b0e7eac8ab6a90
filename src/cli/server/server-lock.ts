import { existsSync, lstatSync, statSync, unlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createPrivateFile, isWritable, readRegularFile, replacePrivateFile } from '../../store/private-file.ts'
import { CliError, causeOf } from '../cli-error.ts'

/** Published by a running server in its data folder, so that other processes find it. */
export interface ServerNote {
  /** The public URL; differs from `local` behind a proxy. */
  readonly url: string
  readonly local: string
  readonly pid: number
  /** As `storeLocation` names it. */
  readonly store: string
  /** The server judges claims of external agents. */
  readonly judges?: true
}

/** Adds the inodes of the data folder and the lock file at the time of writing. */
interface StoredNote extends ServerNote {
  readonly folder: string | undefined
  readonly lock: string | undefined
}

/** `starting`: a process holds the lock without a note, so it is starting or stopping. */
export type Serving = ServerNote | 'starting' | undefined

/** Outlasts a process that holds the lock only to read who serves the folder. */
const TAKE_LOCK_MS = 100
const CHECK_MS = 500
const CONNECT_MS = 2_000
const NOTE = { maxBytes: 16_384, follow: false }

/**
 * The exclusive right to serve a data folder. It is an SQLite lock, so the operating system releases it even after
 * `kill -9`, and a note without a lock is stale. Deleting the lock file defeats the lock. Therefore the note records
 * the file's inode: a new server that finds another inode checks whether the old one still answers, and the old one
 * soon locks the new file.
 */
export class ServerLock {
  readonly #folder: string
  readonly #folderInode: string | undefined
  #db: DatabaseSync
  #inode: string | undefined
  #note: ServerNote | undefined
  #check: NodeJS.Timeout | undefined

  private constructor(folder: string, db: DatabaseSync) {
    this.#folder = folder
    this.#folderInode = inodeOf(folder)
    this.#db = db
    this.#inode = inodeOf(lockFile(folder))
  }

  /** Takes the lock, or returns who serves the folder. Keep a reference: garbage collection would release it. */
  static async take(folder: string): Promise<ServerLock | NonNullable<Serving>> {
    const db = locked(folder, 'BEGIN EXCLUSIVE', TAKE_LOCK_MS)
    if (!db) return readNote(folder) ?? 'starting'
    const unlocked = noteWithoutLock(folder)
    if (unlocked && (await answers(unlocked))) {
      db.close()
      return unlocked
    }
    try {
      removeNote(folder)
    } catch (error) {
      db.close()
      throw unusable(folder, error)
    }
    return new ServerLock(folder, db)
  }

  static serving(folder: string): Serving {
    const db = locked(folder, 'SELECT name FROM sqlite_schema', 0)
    db?.close()
    if (!db) return readNote(folder) ?? 'starting'
    // The old server locks the new file within a second. Until then do not trust its address with a token.
    return noteWithoutLock(folder) ? 'starting' : undefined
  }

  /** The last server's note, even if it no longer runs. */
  static note(folder: string): ServerNote | undefined {
    return readNote(folder)
  }

  announce(note: ServerNote): void {
    if (!this.#hold()) throw new CliError(`another server for ${this.#folder} is starting: server.lock was deleted.`)
    this.#note = note
    this.#writeNote()
  }

  /** Resolves when another server has taken the folder because the lock file was deleted. */
  lost(): Promise<void> {
    return new Promise(resolve => {
      this.#check = setInterval(() => {
        if (this.#isKept()) return
        clearInterval(this.#check)
        resolve()
      }, CHECK_MS).unref()
    })
  }

  /** Removes the note first if it is still ours, then releases the lock. */
  release(): void {
    if (!this.#db.isOpen) return
    clearInterval(this.#check)
    try {
      if (readNote(this.#folder)?.lock === this.#inode) removeNote(this.#folder)
    } catch {
      // On a read-only disk the note stays; without the lock it is stale.
    }
    this.#db.close()
  }

  /**
   * False once another server owns the folder. A process that only checks for us holds the lock briefly and writes no
   * note.
   */
  #isKept(): boolean {
    try {
      return this.#hold() || readNote(this.#folder)?.lock !== inodeOf(lockFile(this.#folder))
    } catch {
      // A disk error does not mean another server.
      return true
    }
  }

  /** Locks the new file if the old one was deleted. A moved or replaced folder has nothing to lock. */
  #hold(): boolean {
    const file = lockFile(this.#folder)
    if (inodeOf(this.#folder) !== this.#folderInode) return true
    if (inodeOf(file) === this.#inode) {
      if (!existsSync(noteFile(this.#folder))) this.#writeNote()
      return true
    }
    const db = locked(this.#folder, 'BEGIN EXCLUSIVE', 0)
    if (!db) return false
    this.#db.close()
    this.#db = db
    this.#inode = inodeOf(file)
    this.#writeNote()
    return true
  }

  #writeNote(): void {
    if (!this.#note) return
    const note: StoredNote = { ...this.#note, folder: this.#folderInode, lock: this.#inode }
    try {
      replacePrivateFile(noteFile(this.#folder), JSON.stringify(note))
    } catch (error) {
      throw unusable(this.#folder, error)
    }
  }
}

function locked(folder: string, sql: string, timeout: number): DatabaseSync | undefined {
  let db: DatabaseSync | undefined
  try {
    // SQLite would follow a link and block on a pipe.
    if (!createPrivateFile(lockFile(folder)) && !lstatSync(lockFile(folder)).isFile())
      throw new Error('server.lock is not a regular file; remove it')
    db = new DatabaseSync(lockFile(folder), { timeout })
    db.exec(sql)
    return db
  } catch (error) {
    db?.close()
    if (/locked|busy/i.test(String(error))) return undefined
    throw unusable(folder, error)
  }
}

/** The note of a process that may still serve the folder without the lock, because its lock file was deleted. */
function noteWithoutLock(folder: string): StoredNote | undefined {
  const note = readNote(folder)
  if (!note || note.folder !== inodeOf(folder) || note.lock === inodeOf(lockFile(folder))) return undefined
  return isRunning(note.pid) && note.pid !== process.pid ? note : undefined
}

/** True if a process listens at the server's address, even a frozen one. */
function answers({ local }: ServerNote): Promise<boolean> {
  const { hostname, port } = new URL(local)
  const socket = connect({ host: hostname.replaceAll(/[[\]]/g, ''), port: Number(port) || 80, timeout: CONNECT_MS })
  return new Promise<boolean>(resolve => {
    socket.once('connect', () => resolve(true))
    socket.once('timeout', () => resolve(true))
    socket.once('error', () => resolve(false))
  }).finally(() => socket.destroy())
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function readNote(folder: string): StoredNote | undefined {
  try {
    return JSON.parse(readRegularFile(noteFile(folder), NOTE).toString('utf8')) as StoredNote
  } catch {
    // Not written yet, already removed, or not ours.
    return undefined
  }
}

function removeNote(folder: string): void {
  try {
    unlinkSync(noteFile(folder))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

const inodeOf = (path: string): string | undefined =>
  statSync(path, { bigint: true, throwIfNoEntry: false })?.ino.toString()

const lockFile = (folder: string): string => join(folder, 'server.lock')

const noteFile = (folder: string): string => join(folder, 'server.json')

/** SQLite reports only that it cannot open the lock; the folder's permissions tell why. */
function unusable(folder: string, error: unknown): CliError {
  const isSqlite = (error as NodeJS.ErrnoException).code === 'ERR_SQLITE_ERROR'
  const why = isSqlite && !isWritable(folder) ? 'it is not writable' : causeOf(error)
  return new CliError(`cannot use the data folder ${folder}: ${why}.`)
}
