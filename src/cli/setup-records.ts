import { existsSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { FileRecord } from '../setup/change.ts'
import { inodeOf } from './server-lock.ts'
import { makePrivateFolder, readRegularFile, replacePrivateFile } from '../store/private-file.ts'
import { causeOf } from './cause.ts'
import { CliError } from './cli-error.ts'
import { removeEmpty, missingFolders } from './setup-files.ts'
import { alone } from './setup-lock.ts'

export interface SetupRecord extends FileRecord {
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
const MAX_BYTES = 1 << 28
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
