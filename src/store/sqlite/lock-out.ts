import { linkSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { isBusy } from './to-store-error.ts'

/**
 * Keeps every other process out of a database file. Undefined if one has it open. Under another name of the file, so that
 * SQLite does not touch its WAL. Closing any file handle of this process to it frees the lock.
 */
export function lockOut(real: string): { release: () => void } | undefined {
  const probe = `${real}.probe-${process.pid}`
  let db: DatabaseSync | undefined
  const release = (): void => {
    db?.close()
    for (const suffix of ['', '-wal', '-shm']) rmSync(probe + suffix, { force: true })
  }
  try {
    linkSync(real, probe)
    db = new DatabaseSync(probe, { timeout: 0 })
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    return { release }
  } catch (error) {
    release()
    if (isBusy(error)) return undefined
    throw error
  }
}
