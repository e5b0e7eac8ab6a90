import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { isWritable } from '../folder.ts'
import { StoreError } from '../store-error.ts'
import { damageOf, verify } from '../verify.ts'
import { sqliteVerifiable } from './verifiable.ts'
import { identityOf } from './database-identity.ts'
import { type Head, readHead } from './head-file.ts'
import { headProblem } from './integrity.ts'
import { checkSize, connectReader, removeEmptyWal, retryWhileBusy } from './open.ts'
import { openError } from './open-errors.ts'
import { eventProblem } from './row-check.ts'
import { checkFormat } from './schema.ts'
import { searchProblems } from './search-problems.ts'
import { isCorrupt, toStoreError } from './to-store-error.ts'

/**
 * Yields all problems of a database: in its structure and indexes, its checksums, and rows and search entries that
 * differ from their log. Changes nothing, and may run beside writers. `others` adds further problems.
 */
export async function* verifyDatabase(
  path: string,
  others: (db: DatabaseSync) => Iterable<string> = () => [],
): AsyncGenerator<string> {
  checkSize(path)
  const real = realpathSync(path)
  const head = readHead(real)
  const wasClosed = !existsSync(`${real}-wal`) && !existsSync(`${real}-shm`)
  const db = await opened(path)
  try {
    checkFormat(db, path)
    let isWhole = true
    for await (const problem of verify(sqliteVerifiable(db, () => fileProblems(db, real, head, others)))) {
      isWhole = false
      yield problem
    }
    // A damaged event was already reported, with its conversation.
    const problem = isWhole ? asOfNow(db, () => eventProblem(db, identityOf(db))) : undefined
    if (problem !== undefined) yield `${basename(path)}: ${problem}`
  } catch (error) {
    throw openError(error, path)
  } finally {
    db.close()
    if (wasClosed) removeEmptyWal(path)
  }
}

async function opened(path: string): Promise<DatabaseSync> {
  try {
    return await retryWhileBusy(() => connectReader(path))
  } catch (error) {
    const folder = dirname(path)
    if (isCorrupt(error) || isWritable(folder)) throw openError(error, path)
    const message = `${folder} is not writable, and SQLite has to make a file beside the database to read it. Verify a copy of the folder.`
    throw new StoreError('readonly', message, { cause: error })
  }
}

function* fileProblems(
  db: DatabaseSync,
  real: string,
  head: Head | undefined,
  others: (db: DatabaseSync) => Iterable<string>,
): Generator<string> {
  const problem = headProblem(db, real, head)
  if (problem !== undefined) yield `${basename(real)}: ${problem}`
  yield* others(db)
  try {
    yield* asOfNow(db, () => [...searchProblems(db)])
  } catch (error) {
    yield `the search index: ${damageOf(toStoreError(error))}`
  }
}

/** Reads as of one moment, whatever others write. */
function asOfNow<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN')
  try {
    return work()
  } finally {
    db.exec('ROLLBACK')
  }
}
