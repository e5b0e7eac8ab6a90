import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { CliError } from './cli-error.ts'
import { causeOf } from './cause.ts'

/** What a running server writes into its data folder, for other processes to find it. */
export interface ServerNote {
  /** The URL for people; differs from `local` behind a proxy. */
  readonly url: string
  /** The address it listens on. */
  readonly local: string
  readonly pid: number
  /** The store it serves, as `storeLocation` names it. */
  readonly store: string
}

/** Who serves a data folder: no one, a server, or a process that holds the lock without a note (it starts or stops). */
export type Serving = ServerNote | 'starting' | undefined

/** Long enough to outlast a process that only reads who serves the folder. */
const TAKE_LOCK_MS = 100

/**
 * The right to serve a data folder, one process at a time. The lock is SQLite's and so the operating system's: it is
 * released even by `kill -9`, and a note left behind without a lock is stale.
 */
export class ServerLock {
  readonly #folder: string
  readonly #db: DatabaseSync

  private constructor(folder: string, db: DatabaseSync) {
    this.#folder = folder
    this.#db = db
  }

  /** Takes the lock, or returns undefined if another process holds it. Keep the result: it holds the lock. */
  static take(folder: string): ServerLock | undefined {
    const db = locked(folder, 'BEGIN EXCLUSIVE', TAKE_LOCK_MS)
    if (!db) return undefined
    rmSync(noteFile(folder), { force: true })
    return new ServerLock(folder, db)
  }

  /** Who serves the folder now. */
  static serving(folder: string): Serving {
    const db = locked(folder, 'SELECT name FROM sqlite_schema', 0)
    db?.close()
    return db ? undefined : (readNote(folder) ?? 'starting')
  }

  announce(note: ServerNote): void {
    try {
      writeFileSync(noteFile(this.#folder), JSON.stringify(note), { mode: 0o600 })
    } catch (error) {
      throw unusable(this.#folder, error)
    }
  }

  /** Removes the note while it is still ours, then lets the next server in. */
  release(): void {
    rmSync(noteFile(this.#folder), { force: true })
    this.#db.close()
  }
}

function locked(folder: string, sql: string, timeout: number): DatabaseSync | undefined {
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(join(folder, 'server.lock'), { timeout })
    db.exec(sql)
    return db
  } catch (error) {
    db?.close()
    if (/locked|busy/i.test(String(error))) return undefined
    throw unusable(folder, error)
  }
}

function readNote(folder: string): ServerNote | undefined {
  try {
    return JSON.parse(readFileSync(noteFile(folder), 'utf8')) as ServerNote
  } catch {
    // Not written yet, or removed already.
    return undefined
  }
}

const noteFile = (folder: string): string => join(folder, 'server.json')

const unusable = (folder: string, error: unknown): CliError =>
  new CliError(`cannot use the data folder ${folder}: ${causeOf(error)}.`)
