import { linkSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { isBusy } from './to-store-error.ts'

/**
 * Keeps all other processes out of a database file; undefined if one has it open. Locks a hard link to the file, so
 * that SQLite does not touch its WAL. Closing any of this process's handles to the file frees the lock.
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
