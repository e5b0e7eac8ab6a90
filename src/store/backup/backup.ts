import { closeSync, existsSync, fsyncSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createPrivateFile } from '../private-file.ts'
import { toStoreError } from '../sqlite/to-store-error.ts'
import { StoreError } from '../store-error.ts'
import { checkedContents, type Contents, DatabaseSnapshot, isSame } from './copy.ts'
import { addTaskFiles, collectTaskFiles, hasTaskFiles, withTaskFilesLocked } from './task-files.ts'

export interface Backup extends Contents {
  /** Task files that are not in it: no regular files, or too large. */
  readonly skipped: readonly string[]
}

/**
 * Copies the plans of a data folder into one new file, a SQLite database that needs no other file beside it: as of one
 * moment, while others write. Resolves once the copy was checked and flushed; if anything fails, it is removed.
 */
export async function backUp(data: string, path: string): Promise<Backup> {
  const collected = `${path}-files`
  try {
    for (const file of [path, collected]) createPrivateFile(file)
    const { snapshot, skipped } = await snapshotOf(data, collected)
    const copied = await snapshot.copyTo(path).finally(() => snapshot.close())
    const contents = finished(path, collected)
    if (!isSame({ ...contents, taskFiles: 0 }, copied)) {
      throw new StoreError('corrupt', 'The copy does not hold what was copied.')
    }
    flush(path)
    return { ...contents, skipped }
  } catch (error) {
    remove(path)
    throw toStoreError(error)
  } finally {
    remove(collected)
  }
}

/** The database and its task files as of the same moment. The files are few: the lock is held for them only. */
async function snapshotOf(
  data: string,
  collected: string,
): Promise<{ snapshot: DatabaseSnapshot; skipped: readonly string[] }> {
  const path = join(data, 'runsheet.db')
  if (!hasTaskFiles(data)) {
    remove(collected)
    return { snapshot: new DatabaseSnapshot(path), skipped: [] }
  }
  return withTaskFilesLocked(data, () => {
    const skipped = collectTaskFiles(data, collected)
    return { snapshot: new DatabaseSnapshot(path), skipped }
  })
}

function finished(path: string, collected: string): Contents {
  const db = new DatabaseSync(path)
  try {
    // One file, which also opens where nothing can be written.
    db.exec('PRAGMA journal_mode = DELETE')
    if (existsSync(collected)) addTaskFiles(db, collected)
    return checkedContents(db)
  } finally {
    db.close()
  }
}

function flush(path: string): void {
  const file = openSync(path, 'r+')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function remove(path: string): void {
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(path + suffix, { force: true })
}
