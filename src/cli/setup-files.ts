import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import type { FileRecord } from '../hosts/settings.ts'
import { makePrivateFolder, readRegularFile, replacePrivateFile } from '../store/private-file.ts'
import { causeOf, CliError } from './cli-error.ts'

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

/** `mode` is for a new file; its new folders can also be searched by those who can read it. */
export function writeSettingsText(path: string, text: string, mode: number): void {
  const file = behindLinks(path)
  const present = statSync(file, { throwIfNoEntry: false })
  if (present) accessSync(file, constants.W_OK)
  mkdirSync(dirname(file), { recursive: true, mode: mode | ((mode & 0o444) >> 2) })
  replacePrivateFile(file, text, { isFlushed: true })
  chmodSync(file, present ? present.mode & 0o7777 : mode & ~process.umask())
}

/** Removes a file, and the folders below `root` that this empties. */
export function removeSettingsFile(path: string, root: string): void {
  rmSync(behindLinks(path), { force: true })
  removeEmptyFolders(dirname(path), root)
}

function removeEmptyFolders(folder: string, root: string): void {
  const way = relative(root, folder)
  if (way === '' || way.startsWith('..')) return
  try {
    rmdirSync(folder)
  } catch {
    return
  }
  removeEmptyFolders(dirname(folder), root)
}

/** Resolves links even if the target does not exist. */
function behindLinks(path: string, left = MAX_LINKS): string {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
  if (!isLink || left === 0) return path
  return behindLinks(resolve(dirname(path), readlinkSync(path)), left - 1)
}

type Records = Readonly<Record<string, FileRecord>>

/** How to undo setup's edits, in the user's configuration folder. Holds patches, never copies of whole files. */
export class SetupRecords {
  readonly #folder: string
  readonly #file: string

  constructor(folder: string) {
    this.#folder = folder
    this.#file = join(folder, 'setup.json')
  }

  get(path: string): FileRecord | undefined {
    return this.#all()[path]
  }

  /** Undefined deletes the record. Those of files that are gone go, too. */
  set(path: string, record: FileRecord | undefined): void {
    const others = Object.entries(this.#all()).filter(([each]) => each !== path && existsSync(each))
    const records = Object.fromEntries(record ? [...others, [path, record]] : others)
    if (Object.keys(records).length === 0) return removeSettingsFile(this.#file, homedir())
    makePrivateFolder(this.#folder)
    replacePrivateFile(this.#file, `${JSON.stringify(records, null, 1)}\n`)
  }

  /** An unreadable file counts as no records: entries are still recognized by their content. */
  #all(): Records {
    try {
      return JSON.parse(readFileSync(this.#file, 'utf8')) as Records
    } catch {
      return {}
    }
  }
}
