import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { FolderLock } from './files/lock.ts'
import { TaskFiles } from './files/files.ts'
import { StoreError } from './store-error.ts'
import { TASK_FILES } from './copy.ts'

const FOLDER = join('.agents', 'tasks')

/** Task files belong to their database. */
export const hasTaskFiles = (data: string): boolean => existsSync(join(data, FOLDER))

/** Runs `work` while no Runsheet process changes the task files or their database. */
export async function withTaskFilesLocked<T>(data: string, work: () => T): Promise<T> {
  const lock = new FolderLock(join(data, 'files.lock'))
  lock.open()
  try {
    return await lock.hold(async () => work())
  } finally {
    await lock.close()
  }
}

/** Copies all task files into a backup. Returns the skipped ones: not regular files, or over 8 MB. */
export function addTaskFiles(data: string, path: string): readonly string[] {
  const files = new TaskFiles(data)
  const db = new DatabaseSync(path)
  try {
    // The whole backup is flushed at its end.
    db.exec(
      `PRAGMA synchronous = OFF; BEGIN; CREATE TABLE ${TASK_FILES} (name TEXT PRIMARY KEY, content BLOB NOT NULL) STRICT`,
    )
    const put = db.prepare(`INSERT INTO ${TASK_FILES} (name, content) VALUES (?, ?)`)
    const skipped = files.names().filter(name => {
      const content = contentOf(files, name)
      if (content) put.run(name.replaceAll('\\', '/'), content)
      return content === undefined
    })
    db.exec('COMMIT')
    return skipped
  } finally {
    db.close()
  }
}

export function unpackTaskFiles(db: DatabaseSync, data: string): void {
  if (!db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(TASK_FILES)) return
  mkdirSync(join(data, FOLDER), { recursive: true })
  for (const { name, content } of db.prepare(`SELECT name, content FROM ${TASK_FILES}`).iterate()) {
    // A backup is untrusted: no name may lead out of the folder.
    if (typeof name !== 'string' || !NAME.test(name) || !(content instanceof Uint8Array)) {
      throw new StoreError('corrupt', 'A task file in it has no valid name.', { cause: String(name).slice(0, 200) })
    }
    const path = join(data, FOLDER, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content, { flag: 'wx', flush: true })
  }
  db.exec(`DROP TABLE ${TASK_FILES}`)
}

const NAME = /^(?:[\w-]{1,128}\/)?[\w-]{1,128}\.json$/

function contentOf(files: TaskFiles, name: string): Uint8Array | undefined {
  try {
    return files.bytes(name)
  } catch (error) {
    if (error instanceof StoreError && error.code === 'file_invalid') return undefined
    throw error
  }
}
