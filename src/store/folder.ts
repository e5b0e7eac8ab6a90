import { closeSync, fsyncSync, openSync } from 'node:fs'

/** Makes the names in a folder survive a power cut; a new file is not safe before its folder is flushed. */
export function flushFolder(path: string): void {
  // Windows cannot open a folder, and needs none of this.
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
