import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { FileRecord } from '../hosts/change.ts'
import { flushFolder } from '../store/folder.ts'
import { createPrivateFile, makePrivateFolder, readRegularFile, replacePrivateFile } from '../store/private-file.ts'
import { causeOf, CliError } from './cli-error.ts'
import { inodeOf } from './server/server-lock.ts'

// Settings files of hosts: replaced atomically, through links, with their mode preserved.

/** Claude Code keeps its history in its settings. */
const MAX_BYTES = 1 << 28
const MAX_LINKS = 40

/** Includes the byte order mark; undefined if there is no file. */
export function readSettingsText(path: string): string | undefined {
  if (!existsSync(path)) return undefined
  try {
    const bytes = readRegularFile(path, { maxBytes: MAX_BYTES, follow: true })
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    const why = error instanceof TypeError ? 'it is not UTF-8 text' : causeOf(error)
    throw new CliError(`cannot read ${path}: ${why}`)
  }
}

/** Throws if the file cannot be replaced, or created with its folders. */
export function checkWritable(path: string): void {
  const folder = nearest(dirname(path))
  if (!statSync(folder).isDirectory()) throw new CliError(`cannot write ${path}: ${folder} is not a folder`)
  try {
    const file = behindLinks(path)
    if (existsSync(file)) accessSync(file, constants.W_OK)
    accessSync(nearest(dirname(file)), constants.W_OK)
  } catch (error) {
    throw new CliError(`cannot write ${path}: ${causeOf(error)}`)
  }
}

/** Replaces or creates a file atomically; returns the folders it created, outermost first. */
export function writeSettingsText(path: string, text: string, mode: number): readonly string[] {
  const file = behindLinks(path)
  const folders = missingFolders(dirname(file))
  try {
    // A folder's mode follows the file's: readers also get the execute bit.
    for (const folder of folders) mkdirSync(folder, { mode: mode | ((mode & 0o444) >> 2) })
    replace(file, text, mode)
  } catch (error) {
    removeEmpty(folders)
    throw error
  }
  return folders
}

/** Removes a file, and those of the folders that this empties. */
export function removeSettingsFile(path: string, folders: readonly string[]): void {
  rmSync(behindLinks(path), { force: true })
  removeEmpty(folders)
}

function removeEmpty(folders: readonly string[]): void {
  for (const folder of folders.toReversed()) {
    try {
      rmdirSync(folder)
    } catch {
      // Not empty, or already gone.
    }
  }
}

/** Outermost first. */
export function foldersBetween(root: string, path: string): readonly string[] {
  const folder = dirname(path)
  return folder === root || folder === dirname(folder) ? [] : [...foldersBetween(root, folder), folder]
}

/** Outermost first. */
const missingFolders = (folder: string): readonly string[] =>
  existsSync(folder) ? [] : [...missingFolders(dirname(folder)), folder]

function replace(file: string, text: string, mode: number): void {
  const present = statSync(file, { throwIfNoEntry: false })
  const temporary = `${file}.runsheet-${process.pid}`
  rmSync(temporary, { force: true })
  try {
    const open = openSync(temporary, 'wx', mode)
    try {
      const bytes = Buffer.from(text)
      for (let at = 0; at < bytes.length; ) at += writeSync(open, bytes, at)
      fsyncSync(open)
    } finally {
      closeSync(open)
    }
    if (present) keepOwner(temporary, present)
    renameSync(temporary, file)
    flushFolder(dirname(file))
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** Resolves links even if the target does not exist. */
function behindLinks(path: string, left = MAX_LINKS): string {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
  if (!isLink || left === 0) return path
  return behindLinks(resolve(dirname(path), readlinkSync(path)), left - 1)
}

function keepOwner(path: string, { mode, uid, gid }: { mode: number; uid: number; gid: number }): void {
  try {
    chownSync(path, uid, gid)
  } catch {
    // Only root may change a file's owner; otherwise the file becomes ours, as with any editor.
  }
  chmodSync(path, mode & 0o7777)
}

const nearest = (folder: string): string => (existsSync(folder) ? folder : nearest(dirname(folder)))

const WAIT_MS = 10_000
const MAX_TRIES = 20

/**
 * Runs `work` under an exclusive file lock; `work` may remove the lock file. It is an SQLite lock, so the operating
 * system releases it with the process. `prepare` creates the file's folder.
 */
function alone<T>(file: string, prepare: () => void, work: () => T): T {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    prepare()
    const db = lockOf(file)
    try {
      // Undefined if the previous holder removed the file: a lock on a deleted file excludes no one, so retry.
      if (db) return work()
    } finally {
      db?.close()
    }
  }
  throw busy()
}

/** Undefined if the file was removed meanwhile. */
function lockOf(file: string): DatabaseSync | undefined {
  let db: DatabaseSync | undefined
  try {
    createPrivateFile(file)
    const inode = inodeOf(file)
    db = new DatabaseSync(file, { timeout: WAIT_MS })
    db.exec('BEGIN EXCLUSIVE')
    if (inode !== undefined && inodeOf(file) === inode) return db
    db.close()
  } catch (error) {
    db?.close()
    if (/locked|busy/i.test(String(error))) throw busy()
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  return undefined
}

const busy = (): CliError => new CliError('another `runsheet setup` is running. Try again when it is done')

interface SetupRecord extends FileRecord {
  readonly folders: readonly string[]
}

/** A moved project keeps its inode. */
interface Root {
  readonly path: string
  readonly inode: string
}

interface StoredRecord extends SetupRecord {
  readonly root?: Root
}

interface Stored {
  readonly version: typeof VERSION
  /** Folders that setup created for this file, or for files that are gone. */
  readonly made: readonly string[]
  readonly files: Readonly<Record<string, StoredRecord>>
}

const VERSION = 2
const NONE: Stored = { version: VERSION, made: [], files: {} }

/** How to undo setup's edits, stored in the user's configuration folder. Holds patches, never copies of whole files. */
export class SetupRecords {
  readonly file: string
  readonly #folder: string
  readonly #root: Root | undefined
  #made: readonly string[] = []

  /** `project` is the folder of project scope. */
  constructor(folder: string, project?: string) {
    this.file = join(folder, 'setup.json')
    this.#folder = folder
    const inode = project === undefined ? undefined : inodeOf(project)
    this.#root = project === undefined || inode === undefined ? undefined : { path: project, inode }
  }

  get(path: string): SetupRecord | undefined {
    const { files } = this.#stored()
    const key = this.#keyOf(path, files)
    const found = key === undefined ? undefined : files[key]
    const root = this.#root
    if (!found?.root || !root) return found
    const { path: old } = found.root
    return { ...found, folders: found.folders.map(folder => join(root.path, relative(old, folder))) }
  }

  /** Undefined deletes the record. */
  set(path: string, record: SetupRecord | undefined): void {
    const { files, made } = this.#stored()
    const { [this.#keyOf(path, files) ?? path]: _, ...others } = files
    // A missing user file, for example after a rename, needs no record; a missing project file may only have moved.
    const [kept, gone] = partition(others, (path, { root }) => root !== undefined || existsSync(path))
    const root = this.#root ? { root: this.#root } : {}
    const stored: Stored = {
      version: VERSION,
      made: [...new Set([...made, ...this.#made, ...Object.values(gone).flatMap(({ folders }) => folders)])],
      files: record ? { ...kept, [path]: { ...record, ...root } } : kept,
    }
    this.#orCliError(() => replacePrivateFile(this.file, `${JSON.stringify(stored, null, 1)}\n`))
  }

  /** Serializes setups. Leaves no file or folder behind if there are no records. */
  exclusively<T>(work: () => T): T {
    const lock = join(this.#folder, 'setup.lock')
    const prepare = (): void => {
      this.#made = [...this.#made, ...missingFolders(this.#folder)]
      makePrivateFolder(this.#folder)
    }
    let empty: readonly string[] = []
    const tidied = (): T => {
      try {
        return work()
      } finally {
        empty = this.#tidy(lock)
      }
    }
    try {
      return this.#orCliError(() => alone(lock, prepare, tidied))
    } finally {
      // Only now has SQLite removed its journal.
      removeEmpty(empty)
    }
  }

  /** Removes files that are useless without records; returns the folders that may be empty. */
  #tidy(lock: string): readonly string[] {
    const { files, made } = this.#stored()
    if (Object.keys(files).length > 0) return []
    rmSync(this.file, { force: true })
    // Windows cannot delete an open file, and the lock is held.
    if (process.platform !== 'win32') rmSync(lock, { force: true })
    return [...new Set([...made, ...this.#made])].sort()
  }

  /** The record's key: the file's path, or its former path in a project that was moved. */
  #keyOf(path: string, files: Stored['files']): string | undefined {
    const root = this.#root
    const here = files[path]
    if (here && (!root || !here.root || here.root.inode === root.inode)) return path
    if (!root) return undefined
    const name = relative(root.path, path)
    return Object.keys(files).find(key => {
      const before = files[key]?.root
      return before?.inode === root.inode && relative(before.path, key) === name && inodeOf(before.path) !== root.inode
    })
  }

  /** An unreadable file counts as no records: entries are still recognized by their content. */
  #stored(): Stored {
    if (!existsSync(this.file)) return NONE
    try {
      const text = readRegularFile(this.file, { maxBytes: MAX_BYTES, follow: false }).toString('utf8')
      const stored = JSON.parse(text) as Partial<Stored> | null
      return stored?.version === VERSION ? { ...NONE, ...stored } : NONE
    } catch {
      return NONE
    }
  }

  #orCliError<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw error instanceof CliError ? error : new CliError(`cannot write ${this.file}: ${causeOf(error)}`)
    }
  }
}

function partition(
  files: Stored['files'],
  isFirst: (path: string, record: StoredRecord) => boolean,
): [Stored['files'], Stored['files']] {
  const those = (wanted: boolean): Stored['files'] =>
    Object.fromEntries(Object.entries(files).filter(([path, record]) => isFirst(path, record) === wanted))
  return [those(true), those(false)]
}
