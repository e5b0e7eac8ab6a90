import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'

// Our files are for their owner only, whatever the umask: a mode at creation is only an upper bound.

const FILE_MODE = 0o600
const FOLDER_MODE = 0o700

/**
 * Creates the folder and its parents; returns whether it did. Node's recursive mkdir hangs where a parent cannot hold
 * folders, as in /proc.
 */
export function makePrivateFolder(path: string): boolean {
  if (isFolder(path)) return false
  if (dirname(path) !== path) makePrivateFolder(dirname(path))
  try {
    mkdirSync(path, { mode: FOLDER_MODE })
    chmodSync(path, FOLDER_MODE)
    return true
  } catch (error) {
    // Another process may have created it concurrently.
    if (!isFolder(path)) throw error
    return false
  }
}

/** Creates a file; returns whether it did. Leaves an existing file or symbolic link unchanged. */
export function createPrivateFile(path: string, text = '', { isFlushed = false } = {}): boolean {
  let file: number
  try {
    file = openSync(path, 'wx', FILE_MODE)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
  try {
    fchmodSync(file, FILE_MODE)
    writeSync(file, text)
    if (isFlushed) fsyncSync(file)
  } finally {
    closeSync(file)
  }
  return true
}

/** Replaces a file or link atomically. With `isFlushed`, a power cut leaves either the old text or the new one. */
export function replacePrivateFile(path: string, text: string, options: { isFlushed?: boolean } = {}): void {
  const temporary = `${path}.new-${process.pid}`
  rmSync(temporary, { force: true })
  try {
    createPrivateFile(temporary, text, options)
    renameSync(temporary, path)
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** Opens a file for appending, never through a symbolic link. */
export function openPrivateLog(path: string): number {
  createPrivateFile(path)
  return openSync(path, constants.O_WRONLY | constants.O_APPEND | NO_FOLLOW)
}

/** Reads a regular file of at most `maxBytes` without ever blocking. `follow` allows symbolic links. */
export function readRegularFile(path: string, { maxBytes, follow }: { maxBytes: number; follow: boolean }): Buffer {
  const file = openSync(path, constants.O_RDONLY | NON_BLOCKING | (follow ? 0 : NO_FOLLOW))
  try {
    if (!fstatSync(file).isFile()) throw new Error('it is not a regular file')
    const bytes = Buffer.alloc(maxBytes + 1)
    let length = 0
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(file, bytes, length, bytes.length - length, null)
    }
    if (length > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`)
    return bytes.subarray(0, length)
  } finally {
    closeSync(file)
  }
}

// Windows has neither flag.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0
const NON_BLOCKING = constants.O_NONBLOCK ?? 0

const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory()
