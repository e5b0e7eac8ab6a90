import { existsSync, realpathSync } from 'node:fs'
import { basename } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { verify } from '../verify.ts'
import { sqliteVerifiable } from './verifiable.ts'
import { WITH_CHECKSUMS } from './formats.ts'
import { readHead } from './head-file.ts'
import { damageIn, structureProblem } from './integrity.ts'
import { checkFormat, checkSize, connectReader, formatOf, removeEmptyWal, retryWhileBusy } from './open.ts'

/** A database that nothing is known to be wrong with, but that has no checksums to check it by. */
export class OlderFormatError extends Error {
  override readonly name = 'OlderFormatError'

  constructor(path: string) {
    super(`${path} is of an older format, without checksums. Start Runsheet on it once: that adds them.`)
  }
}

/**
 * Everything that is wrong with a database: its structure, its checksums, rows that differ from their log. Changes nothing,
 * and may run beside processes that write. `others`: what else to look at.
 */
export async function* verifyDatabase(
  path: string,
  others: (db: DatabaseSync) => Iterable<string> = () => [],
): AsyncGenerator<string> {
  checkSize(path)
  const real = realpathSync(path)
  const head = readHead(real)
  const wasClosed = !existsSync(`${real}-wal`) && !existsSync(`${real}-shm`)
  const db = await retryWhileBusy(() => connectReader(path))
  try {
    checkFormat(db, path)
    if (formatOf(db) < WITH_CHECKSUMS) {
      const problem = structureProblem(db)
      if (problem === undefined) throw new OlderFormatError(path)
      yield `${basename(path)}: ${problem}`
      return
    }
    db.exec('BEGIN')
    const damage = damageIn(db, real, head && { ...head, checked: 0 })
    db.exec('ROLLBACK')
    if (damage !== undefined) yield `${basename(path)}: ${damage}`
    yield* verify(sqliteVerifiable(db, () => others(db)))
  } finally {
    db.close()
    if (wasClosed) removeEmptyWal(path)
  }
}
