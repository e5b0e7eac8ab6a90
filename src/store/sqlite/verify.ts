import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite'
import { isWritable } from '../private-file.ts'
import type { Ref } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { Replay, damageOf, verify, type StoredRows, type StoredSnapshot, type Verifiable } from '../verify.ts'
import { headProblem, readHead } from './head-file.ts'
import { SqliteLog } from './log.ts'
import { checkSize, connectReader, removeEmptyWal, retryWhileBusy } from './open.ts'
import { refOf } from './queries.ts'
import { checkFormat } from './schema.ts'
import { isCorrupt, openError, toStoreError } from './to-store-error.ts'

type Row = Readonly<Record<string, SQLOutputValue>>

const MAX_LINES = 20
const PAGE = 5_000

/**
 * Yields all problems of a database: in its structure and indexes, its chains, and rows that differ from their
 * log. Changes nothing, and may run beside writers. `others` adds further problems.
 */
export async function* verifyDatabase(
  path: string,
  others: (db: DatabaseSync) => Iterable<string> = () => [],
): AsyncGenerator<string> {
  checkSize(path)
  const real = realpathSync(path)
  const head = readHead(real)
  const wasOpen = existsSync(`${real}-wal`)
  const db = await opened(path)
  try {
    checkFormat(db, path)
    const problem = headProblem(db, real, head)
    if (problem !== undefined) yield `${basename(real)}: ${problem}`
    yield* verify(sqliteVerifiable(db))
    yield* others(db)
  } catch (error) {
    throw openError(error, path)
  } finally {
    db.close()
    if (!wasOpen) removeEmptyWal(path)
  }
}

export function sqliteVerifiable(db: DatabaseSync): Verifiable {
  const rows = new DatabaseRows(db)
  return {
    conversations: async function* () {
      yield* rows.conversations()
    },
    differences: async ref => rows.differences(ref),
    problems: async function* () {
      yield* rows.problems()
    },
  }
}

/** All problems of a database that nobody writes to. */
export function* problemsIn(db: DatabaseSync): Generator<string> {
  const rows = new DatabaseRows(db)
  yield* rows.problems()
  for (const ref of rows.conversations()) yield* rows.differences(ref)
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

class DatabaseRows {
  readonly #db: DatabaseSync
  readonly #log: SqliteLog

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#log = new SqliteLog(db)
  }

  conversations(): Ref[] {
    return this.#all('SELECT tenant, conversation FROM conversations ORDER BY id').map(refOf)
  }

  /** As of one moment. */
  differences(ref: Ref): readonly string[] {
    const isAlready = this.#db.isTransaction
    if (!isAlready) this.#db.exec('BEGIN')
    try {
      const rows = this.#rows(ref)
      const replay = new Replay(ref, rows.snapshot, storable)
      for (;;) {
        const events = this.#log.eventsAfter(ref, replay.seq, PAGE)
        replay.add(events)
        if (events.length < PAGE) return replay.differences(rows)
      }
    } catch (error) {
      return [damageOf(toStoreError(error))]
    } finally {
      if (!isAlready) this.#db.exec('ROLLBACK')
    }
  }

  /** `integrity_check` also compares every index with its table, and checks the search index. */
  *problems(): Generator<string> {
    try {
      const verdicts = this.#all(`PRAGMA integrity_check(${MAX_LINES})`).map(row => String(row['integrity_check']))
      if (verdicts[0] !== 'ok') yield* verdicts.map(verdict => verdict.replaceAll(/\s+/g, ' '))
      const orphans = 'SELECT count(*) AS count FROM events WHERE conversation_id NOT IN (SELECT id FROM conversations)'
      const [row] = this.#all(orphans)
      if (Number(row?.['count']) > 0) yield `${Number(row?.['count'])} events are of conversations that are missing`
    } catch (error) {
      yield damageOf(error)
    }
  }

  #rows({ tenant, conversation }: Ref): StoredRows {
    const id = 'SELECT id FROM conversations WHERE tenant = ? AND conversation = ?'
    const ofIt = 'WHERE tenant = ? AND conversation = ?'
    const all = <R extends Row>(sql: string): R[] => this.#all(sql, tenant, conversation) as R[]
    const [summary] = all(`SELECT title, created_at, active_at, pinned, archived, mark FROM conversations ${ofIt}`)
    const [snapshot] = all<Row & StoredSnapshot>(`SELECT seq, v, state FROM snapshots WHERE conversation_id = (${id})`)
    return {
      conversation: summary,
      tasks: all(`SELECT id, seq, removed FROM tasks WHERE conversation_id = (${id})`),
      turns: all(`SELECT turn, status, needs FROM turns ${ofIt}`),
      reviews: all(`SELECT id, pending, due_at, body FROM reviews ${ofIt}`),
      snapshot,
    }
  }

  #all(sql: string, ...values: SQLInputValue[]): Row[] {
    try {
      return this.#db.prepare(sql).all(...values)
    } catch (error) {
      throw toStoreError(error)
    }
  }
}

/** SQLite has no booleans. */
const storable = (value: unknown): unknown => (typeof value === 'boolean' ? Number(value) : value)
