import { existsSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { flushFolder, linkOrRename } from '../folder.ts'
import { createPrivateFile } from '../private-file.ts'
import { StoreError } from '../store-error.ts'
import { headPath } from './head-file.ts'
import { createTables } from './schema.ts'

/**
 * Creates the database under a temporary name and links it atomically: a crash leaves no partial database, and of two
 * concurrent processes one wins.
 */
export function createDatabase(path: string): void {
  if (existsSync(`${path}-wal`)) {
    // Another process may have created it concurrently.
    if (existsSync(path)) return
    throw new StoreError(
      'corrupt',
      `${path} is missing, but ${path}-wal exists: the database was moved without it. Put it back, or move the -wal away.`,
    )
  }
  if (existsSync(headPath(path)) && !existsSync(path)) {
    throw new StoreError(
      'corrupt',
      `${path} is missing, but ${headPath(path)} exists: the database was deleted or moved. Put it back, or delete that file to start over.`,
    )
  }
  const temporary = `${path}.new-${process.pid}-${Math.random().toString(36).slice(2)}`
  try {
    // SQLite gives -wal and -shm the mode of the database.
    createPrivateFile(temporary)
    const db = new DatabaseSync(temporary, { timeout: 0 })
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    createTables(db)
    db.close()
    linkOrRename(temporary, path)
    flushFolder(dirname(path))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(temporary + suffix, { force: true })
  }
}
