import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
  type BigIntStats,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { StoreError, fileFailure } from './store-error.ts'

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

/** A new or renamed file survives a power cut only after its folder is flushed. */
export function flushFolder(path: string): void {
  // Windows cannot open a folder, and does not need this.
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

export function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Gives a complete file its name atomically. Fails with EEXIST instead of replacing a file. */
export function linkOrRename(temporary: string, path: string): void {
  try {
    linkSync(temporary, path)
  } catch (error) {
    // Some file systems have no hard links. There, of two concurrent calls, the second replaces the file of the first.
    if (!['EPERM', 'ENOTSUP', 'ENOSYS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    renameSync(temporary, path)
  }
}

/** Identifies a file behind any path. BigInt, because some file systems have 64-bit inode numbers. */
export type Identity = Pick<BigIntStats, 'dev' | 'ino'>

export const statOf = (path: string): BigIntStats | undefined =>
  looked(() => statSync(path, { bigint: true, throwIfNoEntry: false }))

/** Does not follow a link. */
export const lstatOf = (path: string): BigIntStats | undefined =>
  looked(() => lstatSync(path, { bigint: true, throwIfNoEntry: false }))

export const isSameFile = (one: Identity | undefined, other: Identity | undefined): boolean =>
  one !== undefined && one.ino === other?.ino && one.dev === other.dev

function looked(look: () => BigIntStats | undefined): BigIntStats | undefined {
  try {
    return look()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOTDIR') return undefined
    throw new StoreError('io', `The data folder cannot be read (${code}).`, { cause: error })
  }
}

/** Enough for a commit of any size and for the copy of a task file. */
const ROOM_BYTES = 1 << 20

export function proveRoom(folder: string): void {
  const path = join(folder, `.room-${process.pid}-${randomBytes(6).toString('hex')}.tmp`)
  try {
    const file = openSync(path, 'wx', 0o600)
    try {
      for (let left = ROOM_BYTES; left > 0; ) left -= writeSync(file, Buffer.alloc(left, 1))
    } finally {
      closeSync(file)
    }
  } catch (cause) {
    const failed = 'The database could not be read or written.'
    throw fileFailure(cause, { denied: failed, failed })
  } finally {
    rmSync(path, { force: true })
  }
}
