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

// Settings files of hosts: read as text, replaced in one step, through links and with their mode.

/** Claude Code keeps its history in its settings. */
const MAX_BYTES = 1 << 28
const MAX_LINKS = 40

/** The text of a settings file, byte order mark included; undefined if there is none. */
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

/** Throws if the file cannot be replaced, or made with its folders. */
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

/** Replaces a file in one step, or makes it with its folders; returns the folders that it made, outermost first. */
export function writeSettingsText(path: string, text: string, mode: number): readonly string[] {
  const file = behindLinks(path)
  const folders = missingFolders(dirname(file))
  try {
    // Who may read the file may look into its folders.
    for (const folder of folders) mkdirSync(folder, { mode: mode | ((mode & 0o444) >> 2) })
    replace(file, text, mode)
  } catch (error) {
    removeEmpty(folders)
    throw error
  }
  return folders
}

/** Removes a file, and of these folders those that are empty then. */
export function removeSettingsFile(path: string, folders: readonly string[]): void {
  rmSync(behindLinks(path), { force: true })
  removeEmpty(folders)
}

/** Removes those of the folders, outermost first, that are empty. */
export function removeEmpty(folders: readonly string[]): void {
  for (const folder of folders.toReversed()) {
    try {
      rmdirSync(folder)
    } catch {
      // Something else is in it by now, or it is gone.
    }
  }
}

/** The folders from below `root` down to a file, outermost first. */
export function foldersBetween(root: string, path: string): readonly string[] {
  const folder = dirname(path)
  return folder === root || folder === dirname(folder) ? [] : [...foldersBetween(root, folder), folder]
}

/** The folders of a path that do not exist, outermost first. */
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

/** Where a path leads, even if nothing is there. */
function behindLinks(path: string, left = MAX_LINKS): string {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
  if (!isLink || left === 0) return path
  return behindLinks(resolve(dirname(path), readlinkSync(path)), left - 1)
}

function keepOwner(path: string, { mode, uid, gid }: { mode: number; uid: number; gid: number }): void {
  try {
    chownSync(path, uid, gid)
  } catch {
    // Only root may give files away; then it is ours, as for every editor.
  }
  chmodSync(path, mode & 0o7777)
}

const nearest = (folder: string): string => (existsSync(folder) ? folder : nearest(dirname(folder)))
