import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { newToken, type Role } from '../http/credentials.ts'
import { Complaint } from './complaint.ts'

export interface ServerNote {
  /** Where people reach it, and where it listens: behind a proxy these differ. */
  readonly url: string
  readonly local: string
  readonly pid: number
  /** Which store it serves: a folder may be that of another one. */
  readonly store: string
}

/** The data folder besides the store: who may come in, and who serves it. */
export class DataFolder {
  readonly path: string

  constructor(path: string) {
    this.path = path
    try {
      makeFolder(resolve(path))
    } catch (error) {
      throw new Complaint(`cannot use the data folder ${path}: ${causeOf(error)}. Name another one with --data.`)
    }
  }

  /** The tokens that were made at the first start, readable by their owner only; given ones count instead. */
  tokens(given: Partial<Record<Role, string>>): Record<Role, string> {
    return {
      person: given.person ?? this.#secret('person-token'),
      agent: given.agent ?? this.#secret('agent-token'),
    }
  }

  /** The person's token, where one was made here. */
  personToken(): string | undefined {
    const file = this.#file('person-token')
    return existsSync(file) ? this.#kept(file) : undefined
  }

  /**
   * Makes us the one server of this folder, for as long as the process lives; or says who that is. The lock is the
   * operating system's: whoever dies lets go of it.
   */
  serveAlone(): { readonly note: (note: ServerNote) => void } | { readonly other: ServerNote | undefined } {
    // Patient enough for one who only looks.
    const lock = this.#lock('BEGIN EXCLUSIVE', 100)
    if (!lock) return { other: this.#noted() }
    held.push(lock)
    // Whoever has that port by now is somebody else.
    rmSync(this.#file('server.json'), { force: true })
    return { note: note => this.#note(note) }
  }

  /** Who serves the folder now. Where nobody holds the lock, what was noted is old, and another's port by now. */
  server(): ServerNote | undefined {
    const free = this.#lock('SELECT name FROM sqlite_schema', 0)
    free?.close()
    return free ? undefined : this.#noted()
  }

  #lock(sql: string, timeout: number): DatabaseSync | undefined {
    let db: DatabaseSync | undefined
    try {
      db = new DatabaseSync(this.#file('server.lock'), { timeout })
      db.exec(sql)
      return db
    } catch (error) {
      db?.close()
      if (/locked|busy/i.test(String(error))) return undefined
      throw new Complaint(`cannot use the data folder ${this.path}: ${causeOf(error)}.`)
    }
  }

  #note(note: ServerNote): void {
    try {
      writeFileSync(this.#file('server.json'), JSON.stringify(note), { mode: 0o600 })
    } catch (error) {
      throw new Complaint(`cannot use the data folder ${this.path}: ${causeOf(error)}.`)
    }
  }

  #noted(): ServerNote | undefined {
    try {
      return JSON.parse(readFileSync(this.#file('server.json'), 'utf8')) as ServerNote
    } catch {
      // It is just starting, and has noted nothing yet.
      return undefined
    }
  }

  #secret(name: string): string {
    const file = this.#file(name)
    const token = this.#kept(file)
    if (token.length < 16) throw new Complaint(`${file} holds no token. Delete it, and a new one is made.`)
    return token
  }

  #kept(file: string): string {
    try {
      if (!existsSync(file)) writeFileSync(file, `${newToken()}\n`, { mode: 0o600, flag: 'wx' })
    } catch (error) {
      // Another process was faster: its token counts.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw this.#unkept(file, error)
    }
    try {
      chmodSync(file, 0o600)
      return readFileSync(file, 'utf8').trim()
    } catch (error) {
      throw this.#unkept(file, error)
    }
  }

  #unkept(file: string, error: unknown): Complaint {
    return new Complaint(`cannot keep a token in ${file}: ${causeOf(error)}.`)
  }

  #file(name: string): string {
    return join(this.path, name)
  }
}

/** With what leads to it. Node's own way of that does not come back where a parent cannot hold folders, as in /proc. */
function makeFolder(path: string): void {
  if (existsSync(path) && statSync(path).isDirectory()) return
  if (dirname(path) !== path) makeFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process was faster.
    if (!existsSync(path) || !statSync(path).isDirectory()) throw error
  }
}

/** Kept, so that the lock lasts. */
const held: DatabaseSync[] = []

function causeOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  const known: Readonly<Record<string, string>> = {
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EROFS: 'it is read-only',
    ENOTDIR: 'it is not a folder',
    EEXIST: 'it is not a folder',
    ENOENT: 'it cannot be made there',
    ENOSPC: 'the disk is full',
    EISDIR: 'it is a folder',
    ERR_SQLITE_ERROR: 'it cannot be read or written',
  }
  return known[code ?? ''] ?? message
}
