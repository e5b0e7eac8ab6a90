import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createPrivateFile } from './private-file.ts'
import { toStoreError } from './sqlite/to-store-error.ts'
import { checkedContents, type Contents } from './copy.ts'
import { addTaskFiles, hasTaskFiles, withTaskFilesLocked } from './task-files.ts'

export interface Backup extends Contents {
  /** Task files that were left out because they are too large or not regular files. */
  readonly skipped: readonly string[]
}

/**
 * Copies a data folder's plans into one new SQLite database that needs no other files. The copy is from one moment,
 * while others write. Resolves once it is checked and flushed; removes it on failure.
 */
export async function backUp(data: string, path: string): Promise<Backup> {
  try {
    createPrivateFile(path)
    const hasFiles = hasTaskFiles(data)
    const copied = (): readonly string[] => {
      vacuumInto(join(data, 'runsheet.db'), path)
      return hasFiles ? addTaskFiles(data, path) : []
    }
    const skipped = hasFiles ? await withTaskFilesLocked(data, copied) : copied()
    const contents = checked(path)
    flush(path)
    return { ...contents, skipped }
  } catch (error) {
    remove(path)
    throw toStoreError(error)
  }
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

function checked(path: string): Contents {
  const db = new DatabaseSync(path)
  try {
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
