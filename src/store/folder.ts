import { accessSync, closeSync, constants, fsyncSync, linkSync, openSync, renameSync } from 'node:fs'

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
