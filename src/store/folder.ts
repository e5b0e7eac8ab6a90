import { closeSync, fsyncSync, openSync } from 'node:fs'

/** Flushes a folder: before that, a new file's name may not survive a power cut. */
export function flushFolder(path: string): void {
  // Windows cannot open folders and does not need this.
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
