import { closeSync, fsyncSync, openSync } from 'node:fs'

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
