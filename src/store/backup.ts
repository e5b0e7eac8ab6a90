import { closeSync, existsSync, fsyncSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createPrivateFile } from './private-file.ts'
import { toStoreError } from './sqlite/to-store-error.ts'
import { checkedContents, type Contents } from './copy.ts'
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
    createPrivateFile(path)
    const skipped = await copied(data, path, collected)
    const contents = finished(path, collected)
    flush(path)
    return { ...contents, skipped }
  } catch (error) {
    remove(path)
    throw toStoreError(error)
  } finally {
    remove(collected)
  }
}

/** Returns the task files that were left out. */
async function copied(data: string, path: string, collected: string): Promise<readonly string[]> {
  const copy = (): void => vacuumInto(join(data, 'runsheet.db'), path)
  if (!hasTaskFiles(data)) {
    copy()
    return []
  }
  createPrivateFile(collected)
  return withTaskFilesLocked(data, () => {
    const skipped = collectTaskFiles(data, collected)
    copy()
    return skipped
  })
}

/** The target is an empty file. */
function vacuumInto(database: string, path: string): void {
  const db = new DatabaseSync(database, { readOnly: true })
  try {
    db.prepare('VACUUM INTO ?').run(path)
  } finally {
    db.close()
  }
}

function finished(path: string, collected: string): Contents {
  const db = new DatabaseSync(path)
  try {
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
