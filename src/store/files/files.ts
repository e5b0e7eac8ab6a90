import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
  type BigIntStats,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { flushFolder, lstatOf } from '../private-file.ts'
import { invalid, parse } from './document.ts'
import { StoreError, fileFailure } from '../store-error.ts'

const PARENT = '.agents'
const FOLDER = join(PARENT, 'tasks')

/** The folder of the task files. It may be missing. Links to folders are not followed. */
export class TaskFolder {
  readonly path: string
  readonly #data: string

  constructor(data: string) {
    this.#data = data
    this.path = join(data, FOLDER)
  }

  check(within = '.'): void {
    for (const name of [PARENT, FOLDER, ...(within === '.' ? [] : [join(FOLDER, within)])]) {
      const found = lstatOf(join(this.#data, name))
      if (!found) return
      if (found.isDirectory()) continue
      const what = found.isSymbolicLink() ? 'a link, which is not followed' : 'no folder'
      throw invalid(`it is ${what}`, name.replaceAll('\\', '/'))
    }
  }

  make(within: string): void {
    this.check(within)
    const folder = join(this.path, within)
    const first = mkdirSync(folder, { recursive: true })
    if (first === undefined) return
    const parent = dirname(resolve(first))
    for (let made = resolve(folder); ; made = dirname(made)) {
      flushFolder(made)
      if (made === parent) break
    }
    this.check(within)
  }
}

/** Files are read and written whole on the event loop: this bounds how long that takes. */
const MAX_BYTES = 8 * 2 ** 20

/** Reads and atomically replaces regular files in one folder. Errors contain only the path within the data folder. */
export class TaskFiles {
  readonly #folder: TaskFolder

  constructor(data: string) {
    this.#folder = new TaskFolder(data)
  }

  check(): void {
    try {
      this.#folder.check()
    } catch (error) {
      throw fileError('read', error)
    }
  }

  /** Names of all task files; other tenants have a folder each. */
  names(folder = '.'): string[] {
    return entriesOf(join(this.#folder.path, folder)).flatMap(entry => {
      if (entry.isDirectory() && folder === '.') return this.names(entry.name)
      return /^[\w-]{1,128}\.json$/.test(entry.name) ? [join(folder, entry.name)] : []
    })
  }

  bytes(name: string): Buffer {
    try {
      this.#folder.check(dirname(name))
      return bytesOf(join(this.#folder.path, name))
    } catch (error) {
      throw fileError('read', error)
    }
  }

  probe(): void {
    if (lstatOf(this.#folder.path)) this.drop(this.prepare('probe', ''))
  }

  read(name: string): string | null {
    try {
      this.#folder.check(dirname(name))
      return UTF8.decode(bytesOf(join(this.#folder.path, name)))
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null
      // Text in another encoding could not be written back unchanged.
      throw codeOf(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? invalid(error) : fileError('read', error)
    }
  }

  prepare(name: string, text: string): string {
    const path = join(this.#folder.path, name)
    const [dir, base] = [dirname(path), basename(path)]
    // Random, so that no other program can place a link there.
    const temporary = join(dir, `.${base}.${process.pid}-${randomBytes(6).toString('hex')}.tmp`)
    const bytes = Buffer.from(text)
    if (bytes.length > MAX_BYTES) throw tooLarge()
    try {
      this.#folder.make(dirname(name))
      const file = openSync(temporary, NEW_FILE)
      try {
        const mode = modeOf(path)
        if (mode !== undefined) fchmodSync(file, mode)
        for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
        fsyncSync(file)
      } finally {
        closeSync(file)
      }
      return temporary
    } catch (error) {
      this.drop(temporary)
      throw fileError('written', error)
    }
  }

  /**
   * Replaces the file with a prepared one, atomically. If a link has taken its place, replaces the link instead of
   * following it.
   */
  rename(temporary: string, name: string): void {
    try {
      this.#folder.check(dirname(name))
      const path = join(this.#folder.path, name)
      renameSync(temporary, path)
      flushFolder(dirname(path))
    } catch (error) {
      this.drop(temporary)
      throw fileError('written', error)
    }
  }

  drop(temporary: string): void {
    rmSync(temporary, { force: true })
  }

  /** Removes temporary files of dead processes. Safe only under the folder lock. */
  sweep(): void {
    this.check()
    this.#sweep(this.#folder.path)
  }

  /** Does not follow links, so that nothing outside the folder is touched. */
  #sweep(folder: string): void {
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) this.#sweep(path)
      else if (/^\..+\.\d+-[0-9a-f]+\.tmp$/.test(entry.name)) this.drop(path)
    }
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants
/** Without blocking: the file may be a pipe with no other end. */
const EXISTING_FILE = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
const NEW_FILE = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW

/**
 * Checks the file type before opening, because opening a device may have effects, and again afterwards, in case the
 * file was replaced in between.
 */
function bytesOf(path: string): Buffer {
  refuseIrregular(lstatOf(path))
  const file = openSync(path, EXISTING_FILE)
  try {
    refuseIrregular(fstatSync(file, { bigint: true }))
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}

function refuseIrregular(found: BigIntStats | undefined): void {
  if (found?.isSymbolicLink()) throw invalid('it is a link, which is not followed')
  if (found && !found.isFile()) throw invalid(`it is ${found.isDirectory() ? 'a folder' : 'a pipe, socket or device'}`)
  if (found && found.size > MAX_BYTES) throw invalid('it has more than 8 MB')
}

const tooLarge = (): StoreError =>
  new StoreError('full', 'The task file would have more than 8 MB; nothing was written. Shorten or remove tasks.')

function modeOf(path: string): number | undefined {
  const found = lstatOf(path)
  return found?.isFile() ? Number(found.mode) : undefined
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw fileError('read', error)
  }
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | null)?.code

function fileError(verb: 'read' | 'written', error: unknown): StoreError {
  if (error instanceof StoreError) return error
  const code = codeOf(error)
  if (code === 'ELOOP' || code === 'ENXIO') return invalid(error)
  const denied = `The task file cannot be ${verb}: permission denied.`
  return fileFailure(error, { denied, failed: `The task file cannot be ${verb} (${code ?? 'unknown cause'}).` })
}

/** Yields task files that cannot be read. An edit that is not imported yet is not a problem. */
export function* fileProblems(data: string, db: DatabaseSync): Generator<string> {
  const files = new TaskFiles(data)
  for (const row of db.prepare('SELECT name FROM task_files ORDER BY name').iterate()) {
    const problem = problemOf(files, String(row['name']))
    if (problem !== undefined) yield problem
  }
}

function problemOf(files: TaskFiles, name: string): string | undefined {
  try {
    const text = files.read(name)
    if (text !== null) parse(text)
    return undefined
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return `.agents/tasks/${name}: ${error.message} (${error.detail ?? error.code})`
  }
}
