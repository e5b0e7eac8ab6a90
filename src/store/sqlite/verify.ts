import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite'
import type { Need } from '../../core/model/needs.ts'
import type { SessionMark } from '../../core/views/session-list.ts'
import type { TurnStatus } from '../../core/model/turn.ts'
import { SEARCH_VERSION } from '../../core/text/search-tokens.ts'
import { SEARCH_KINDS } from '../../core/text/search.ts'
import { isWritable } from '../folder.ts'
import type { ReviewRecord } from '../rows.ts'
import { documentName, type DocumentTokens } from '../search-check.ts'
import type { Ref } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { damageOf, Replay, type StoredRows, type Verifiable, verify } from '../verify.ts'
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
 * Yields all problems of a database: in its structure and indexes, its chains, and rows and search entries that differ
 * from their log. Changes nothing, and may run beside writers. `others` adds further problems.
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
      const replay = new Replay(ref, rows.snapshot)
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

  #rows(ref: Ref): StoredRows {
    const { tenant, conversation } = ref
    const [summary] = this.#all(
      'SELECT * FROM conversations WHERE tenant = ? AND conversation = ?',
      tenant,
      conversation,
    )
    const id = Number(summary?.['id'] ?? 0)
    const [snapshot] = this.#all('SELECT seq, v, state FROM snapshots WHERE conversation_id = ?', id)
    return {
      conversation: summary && listed(summary),
      tasks: this.#all('SELECT * FROM tasks WHERE tenant = ? AND conversation_id = ?', tenant, id).map(row => ({
        id: String(row['id']),
        seq: Number(row['seq']),
        removed: row['removed'] === 1,
      })),
      turns: this.#all('SELECT * FROM turns WHERE tenant = ? AND conversation = ?', tenant, conversation).map(row => ({
        turn: String(row['turn']),
        status: String(row['status']) as TurnStatus,
        needs: textIn(row, 'needs') as Need | null,
      })),
      reviews: this.#all('SELECT * FROM reviews WHERE tenant = ? AND conversation = ?', tenant, conversation).map(
        row => ({
          id: String(row['id']),
          pending: row['pending'] === 1,
          due_at: textIn(row, 'due_at'),
          body: parsed(row['body']) as ReviewRecord,
        }),
      ),
      snapshot: snapshot && {
        seq: Number(snapshot['seq']),
        v: Number(snapshot['v']),
        state: String(snapshot['state']),
      },
      documents: this.#isIndexed(id) ? this.#documents(id) : undefined,
    }
  }

  /** The search index lags behind: checks whether it has this conversation's whole log. */
  #isIndexed(id: number): boolean {
    const sql = `SELECT indexed FROM search_state WHERE version = ?
      AND indexed >= (SELECT id FROM events WHERE conversation_id = ? ORDER BY seq DESC LIMIT 1)`
    return this.#all(sql, SEARCH_VERSION, id).length > 0
  }

  #documents(id: number): DocumentTokens[] {
    return this.#all('SELECT kind, ref, tokens FROM search_documents WHERE conversation_id = ?', id).map(row => ({
      name: documentName(SEARCH_KINDS[Number(row['kind'])] ?? 'conversation', String(row['ref'])),
      tokens: String(row['tokens']),
    }))
  }

  #all(sql: string, ...values: SQLInputValue[]): Row[] {
    try {
      return this.#db.prepare(sql).all(...values)
    } catch (error) {
      throw toStoreError(error)
    }
  }
}

const listed = (row: Row): StoredRows['conversation'] => ({
  title: textIn(row, 'title'),
  created_at: String(row['created_at']),
  active_at: String(row['active_at']),
  pinned: row['pinned'] === 1,
  archived: row['archived'] === 1,
  mark: textIn(row, 'mark') as SessionMark | null,
})

const textIn = (row: Row, name: string): string | null => (row[name] === null ? null : String(row[name]))

/** A damaged text must differ from any row. */
function parsed(text: SQLOutputValue | undefined): unknown {
  try {
    return JSON.parse(String(text))
  } catch {
    return undefined
  }
}
