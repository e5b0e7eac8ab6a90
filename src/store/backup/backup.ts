import { closeSync, existsSync, fsyncSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createPrivateFile } from '../private-file.ts'
import { toStoreError } from '../sqlite/to-store-error.ts'
import { StoreError } from '../store-error.ts'
import { checkedContents, type Contents, DatabaseSnapshot, isSame } from './copy.ts'
import { addTaskFiles, collectTaskFiles, hasTaskFiles, withTaskFilesLocked } from './task-files.ts'

export interface Backup extends Contents {
  /** Task files that were left out because they are too large or not regular files. */
  readonly skipped: readonly string[]
}

/**
 * Copies a data folder's plans into one new SQLite database that needs no other files. The copy is from one moment,
 * while others write. Resolves once it is checked and flushed; removes it on failure.
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
    // A single file, which also opens on read-only media.
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
