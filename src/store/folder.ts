import { accessSync, closeSync, constants, fsyncSync, linkSync, openSync, renameSync } from 'node:fs'

/** Flushes a folder: a new or renamed file survives a power cut only after that. */
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

/** Gives a complete file its name in one step, never over another file: that fails with EEXIST. */
export function linkOrRename(temporary: string, path: string): void {
  try {
    linkSync(temporary, path)
  } catch (error) {
    // Some file systems have no hard links. There, of two that do this at once, the second replaces the first.
    if (!['EPERM', 'ENOTSUP', 'ENOSYS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    renameSync(temporary, path)
  }
}
