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

/** Reading and replacing whole files in one folder. Failures say what happened, and no path. */
export class TaskFiles {
  readonly #folder: string
  #made = 0

  constructor(folder: string) {
    this.#folder = folder
  }

  /** The text of a file, or null where there is none. */
  read(name: string): string | null {
    try {
      return UTF8.decode(readFileSync(join(this.#folder, name)))
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null
      // Another encoding cannot be written back as it was.
      throw codeOf(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? invalid(error) : fileError('read', error)
    }
  }

  /** Writes and flushes the text aside. It stands in nobody's way until it gets its name. */
  prepare(name: string, text: string): string {
    const { dir, base } = parse(this.#target(name))
    const aside = join(dir, `.${base}.${process.pid}-${(this.#made += 1)}.tmp`)
    try {
      this.#makeFolder(dir)
      const file = openSync(aside, 'w')
      try {
        const mode = modeOf(join(dir, base))
        if (mode !== undefined) fchmodSync(file, mode)
        const bytes = Buffer.from(text)
        for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
        fsyncSync(file)
      } finally {
        closeSync(file)
      }
      return aside
    } catch (error) {
      rmSync(aside, { force: true })
      throw fileError('written', error)
    }
  }

  /** Gives a prepared text its name: from one moment to the next everybody sees the new one. */
  rename(aside: string, name: string): void {
    try {
      const path = this.#target(name)
      renameSync(aside, path)
      flushFolder(dirname(path))
    } catch (error) {
      rmSync(aside, { force: true })
      throw fileError('written', error)
    }
  }

  /** The file itself, where somebody has put a link in its place. */
  #target(name: string): string {
    const path = join(this.#folder, name)
    return existsSync(path) ? realpathSync(path) : path
  }

  #makeFolder(folder: string): void {
    const first = mkdirSync(folder, { recursive: true })
    if (first === undefined) return
    for (let made = folder; made.length >= dirname(first).length; made = dirname(made)) flushFolder(made)
  }

  drop(aside: string): void {
    rmSync(aside, { force: true })
  }

  /** Removes what a process left aside when it died. Only safe while nobody else writes. */
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

/** Who may read and write the file that is to be replaced: that stays as somebody set it. */
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
