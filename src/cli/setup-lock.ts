import { DatabaseSync } from 'node:sqlite'
import { inodeOf } from './server-lock.ts'
import { createPrivateFile } from '../store/private-file.ts'
import { CliError } from './cli-error.ts'

const WAIT_MS = 10_000
const MAX_TRIES = 20

/**
 * Runs `work` under an exclusive file lock; `work` may remove the lock file. It is an SQLite lock, so the operating
 * system releases it with the process. `prepare` creates the file's folder.
 */
export function alone<T>(file: string, prepare: () => void, work: () => T): T {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    prepare()
    const db = lockOf(file)
    try {
      // Undefined if the previous holder removed the file: a lock on a deleted file excludes no one, so retry.
      if (db) return work()
    } finally {
      db?.close()
    }
  }
  throw busy()
}

/** Undefined if the file was removed meanwhile. */
function lockOf(file: string): DatabaseSync | undefined {
  let db: DatabaseSync | undefined
  try {
    createPrivateFile(file)
    const inode = inodeOf(file)
    db = new DatabaseSync(file, { timeout: WAIT_MS })
    db.exec('BEGIN EXCLUSIVE')
    if (inode !== undefined && inodeOf(file) === inode) return db
    db.close()
  } catch (error) {
    db?.close()
    if (/locked|busy/i.test(String(error))) throw busy()
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  return undefined
}

const busy = (): CliError => new CliError('another `runsheet setup` is running. Try again when it is done')
