import { constants, copyFileSync, linkSync } from 'node:fs'

/** Gives a file a second name; a copy where the file system has no such names. Never over another file. */
export function keepFile(file: string, name: string): void {
  try {
    linkSync(file, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error
    copyFileSync(file, name, constants.COPYFILE_EXCL)
  }
}
