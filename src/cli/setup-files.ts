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
import { dirname, resolve } from 'node:path'
import { flushFolder } from '../store/folder.ts'
import { readRegularFile } from '../store/private-file.ts'
import { causeOf } from './cause.ts'
import { CliError } from './cli-error.ts'

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

export function removeEmpty(folders: readonly string[]): void {
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
export const missingFolders = (folder: string): readonly string[] =>
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
