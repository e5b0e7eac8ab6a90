import { chmodSync, constants, copyFileSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { flushFolder } from './folder.ts'
import { makePrivateFolder } from './private-file.ts'
import { finishMoves, isPlan, moveTogether, unfinishedMoves } from './sqlite/moves.ts'
import { checkFormat, ownerOf } from './sqlite/schema.ts'
import { isCorrupt, toStoreError } from './sqlite/to-store-error.ts'
import { StoreError } from './store-error.ts'
import { checkedContents, type Contents } from './copy.ts'
import { unpackTaskFiles } from './task-files.ts'

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
