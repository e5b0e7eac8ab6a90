import { accessSync, closeSync, constants, fsyncSync, openSync } from 'node:fs'

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
