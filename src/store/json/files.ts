import {
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join, parse } from 'node:path'
import { StoreError } from '../store-error.ts'
import { flushFolder } from '../folder.ts'
import { invalid } from './document.ts'

/** Reads and atomically replaces the files of one folder. Error messages contain no path. */
export class TaskFiles {
  readonly #folder: string
  #made = 0

  constructor(folder: string) {
    this.#folder = folder
  }

  /** The text of a file, or null if it does not exist. */
  read(name: string): string | null {
    try {
      return UTF8.decode(readFileSync(join(this.#folder, name)))
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null
      // Text in another encoding could not be written back unchanged.
      throw codeOf(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? invalid(error) : fileError('read', error)
    }
  }

  /** Writes and flushes the text to a temporary file. Returns its path. */
  prepare(name: string, text: string): string {
    const { dir, base } = parse(this.#target(name))
    const temporary = join(dir, `.${base}.${process.pid}-${(this.#made += 1)}.tmp`)
    try {
      this.#makeFolder(dir)
      const file = openSync(temporary, 'w')
      try {
        const mode = modeOf(join(dir, base))
        if (mode !== undefined) fchmodSync(file, mode)
        const bytes = Buffer.from(text)
        for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
        fsyncSync(file)
      } finally {
        closeSync(file)
      }
      return temporary
    } catch (error) {
      rmSync(temporary, { force: true })
      throw fileError('written', error)
    }
  }

  /** Atomically replaces a file with a prepared one. */
  rename(temporary: string, name: string): void {
    try {
      const path = this.#target(name)
      renameSync(temporary, path)
      flushFolder(dirname(path))
    } catch (error) {
      rmSync(temporary, { force: true })
      throw fileError('written', error)
    }
  }

  /** Follows a symbolic link, so that the linked file is replaced and not the link. */
  #target(name: string): string {
    const path = join(this.#folder, name)
    return existsSync(path) ? realpathSync(path) : path
  }

  #makeFolder(folder: string): void {
    const first = mkdirSync(folder, { recursive: true })
    if (first === undefined) return
    for (let made = folder; made.length >= dirname(first).length; made = dirname(made)) flushFolder(made)
  }

  drop(temporary: string): void {
    rmSync(temporary, { force: true })
  }

  /** Removes temporary files of processes that died. Only safe under the folder lock. */
  sweep(): void {
    try {
      for (const path of readdirSync(this.#folder, { recursive: true, encoding: 'utf8' })) {
        if (/^\..+\.\d+-\d+\.tmp$/.test(basename(path))) this.drop(join(this.#folder, path))
      }
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw fileError('read', error)
    }
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** The new file keeps the permissions of the one that it replaces. */
const modeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.mode

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | null)?.code

function fileError(verb: 'read' | 'written', error: unknown): StoreError {
  switch (codeOf(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new StoreError('full', 'The disk is full; nothing was written.', { cause: error })
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new StoreError('readonly', `The task file cannot be ${verb}: permission denied.`, { cause: error })
    default:
      return new StoreError('io', `The task file cannot be ${verb} (${codeOf(error) ?? 'unknown cause'}).`, {
        cause: error,
      })
  }
}
