import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createPrivateFile, flushFolder, makePrivateFolder } from './private-file.ts'
import { isCorrupt, toStoreError } from './sqlite/to-store-error.ts'
import { problemsIn } from './sqlite/verify.ts'
import { StoreError } from './store-error.ts'
import { finishMoves, isPlan, moveTogether, unfinishedMoves } from './sqlite/moves.ts'
import { checkFormat, ownerOf } from './sqlite/schema.ts'
import { FolderLock } from './files/lock.ts'
import { TaskFiles } from './files/files.ts'

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

export interface Contents {
  readonly conversations: number
  readonly events: number
  readonly templates: number
  readonly taskFiles: number
}

/** The table with a backup's task files. A data folder's database never has it. */
export const TASK_FILES = 'backup_task_files'

/** Checks a copy: its structure, its chains, and every log against its rows. Returns its contents. */
export function checkedContents(db: DatabaseSync): Contents {
  for (const problem of problemsIn(db)) throw new StoreError('corrupt', 'The copy is damaged.', { cause: problem })
  return contentsOf(db)
}

function contentsOf(db: DatabaseSync): Contents {
  const hasFiles = db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(TASK_FILES) !== undefined
  const count = (table: string): number => Number(db.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.['rows'])
  return {
    conversations: count('conversations'),
    events: count('events'),
    templates: count('templates'),
    taskFiles: hasFiles ? count(TASK_FILES) : 0,
  }
}

const DATABASE = 'runsheet.db'
const TASKS = join('.agents', 'tasks')
const STAGED = 'restoring'

export interface Restored extends Contents {
  readonly aside?: string
}

interface Report {
  readonly backup: string
  readonly restored: Restored
}

export const plansIn = (data: string): readonly string[] => [
  ...(existsSync(data) ? readdirSync(data).filter(name => name.startsWith(DATABASE) && !isPlan(name)) : []),
  ...(existsSync(join(data, TASKS)) ? [TASKS] : []),
]

/**
 * Restores a backup into a data folder that no process serves. Checks the backup first, in a copy. Sets the folder's
 * previous files aside and never deletes them. If killed, no start opens the folder until `finishRestore`.
 */
export async function restore(backup: string, data: string): Promise<Restored> {
  const staged = join(data, STAGED)
  rmSync(staged, { recursive: true, force: true })
  makePrivateFolder(staged)
  try {
    const contents = unpack(backup, staged)
    flushFolder(staged)
    const former = plansIn(data)
    const aside = `before-restore-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
    if (former.length > 0) makePrivateFolder(join(data, aside))
    const report: Report = {
      backup,
      restored: { ...contents, ...(former.length > 0 ? { aside: join(data, aside) } : {}) },
    }
    moveTogether(join(data, DATABASE), {
      // The database comes last: with a database, missing task files would count as emptied.
      moves: [
        ...former.map(name => [name, join(aside, name)] as const),
        ...plansIn(staged)
          .toReversed()
          .map(name => [join(STAGED, name), name] as const),
      ],
      report,
    })
    return report.restored
  } finally {
    if (!unfinishedMoves(join(data, DATABASE))) rmSync(staged, { recursive: true, force: true })
  }
}

export function finishRestore(data: string): Report | undefined {
  const path = join(data, DATABASE)
  const unfinished = unfinishedMoves(path)
  if (!unfinished) return undefined
  finishMoves(path, unfinished)
  rmSync(join(data, STAGED), { recursive: true, force: true })
  return unfinished.report as Report
}

/** Unpacks the backup into a data folder and checks it. */
function unpack(backup: string, folder: string): Contents {
  if (existsSync(`${backup}-wal`)) {
    const message = 'It is a database with a -wal beside it, not a backup: what is only in the -wal would be lost.'
    throw new StoreError('corrupt', message)
  }
  const path = join(folder, DATABASE)
  copyFileSync(backup, path, constants.COPYFILE_EXCL)
  chmodSync(path, 0o600)
  try {
    return prepared(path, folder)
  } catch (error) {
    throw ofBackup(error, path, backup)
  }
}

/** Names the file that the operator named, instead of the copy. */
function ofBackup(error: unknown, path: string, backup: string): unknown {
  if (!(error instanceof StoreError)) return error
  const options = error.cause === undefined ? {} : { cause: error.cause }
  return new StoreError(error.code, error.message.replaceAll(path, backup), options)
}

function prepared(path: string, folder: string): Contents {
  const db = new DatabaseSync(path)
  try {
    const owner = ownerOf(db)
    if (owner === 'foreign') throw new StoreError('corrupt', 'It is no backup of Runsheet.')
    if (owner === 'earlier') throw new StoreError('older', 'Made by an earlier checkout: it cannot be restored.')
    checkFormat(db, path)
    const contents = checkedContents(db)
    unpackTaskFiles(db, folder)
    db.exec('PRAGMA journal_mode = WAL')
    return contents
  } catch (error) {
    throw isCorrupt(error)
      ? new StoreError('corrupt', 'It is damaged, or no backup.', { cause: error })
      : toStoreError(error)
  } finally {
    db.close()
  }
}

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
