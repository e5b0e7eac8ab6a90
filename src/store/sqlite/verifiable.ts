import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite'
import type { StoredEvent } from '../../domain/event.ts'
import type { Need } from '../../domain/needs.ts'
import type { SessionMark } from '../../domain/session-list.ts'
import type { TurnStatus } from '../../domain/turn.ts'
import { SEARCH_VERSION } from '../../domain/search-tokens.ts'
import { SEARCH_KINDS } from '../../domain/search.ts'
import { Checksums } from '../checksum.ts'
import type { ReviewRecord } from '../rows.ts'
import { documentName, type DocumentTokens } from '../search-check.ts'
import { type Ref, refKey } from '../store.ts'
import { type Verifiable, damageOf, Replay, type StoredRows } from '../verify.ts'
import { identityOf } from './database-identity.ts'
import { structureProblems } from './integrity.ts'
import { SqliteLog, type SummedRow } from './log.ts'
import { SUMMED_COLUMNS } from './log-sql.ts'
import { refOf } from './queries.ts'
import { CONVERSATION_ROWS, REVIEW_ROWS, rowProblems } from './row-check.ts'
import { toStoreError } from './to-store-error.ts'

type Row = Readonly<Record<string, SQLOutputValue>>

export function* verifyConversations(db: DatabaseSync): Generator<string> {
  const source = new DatabaseRows(db)
  yield* source.otherProblems()
  for (const ref of source.conversations()) yield* source.differences(ref)
}

/**
 * Like `verifyConversations`, for a database in use. Also checks the file's structure. `others` adds further problems.
 */
export function sqliteVerifiable(db: DatabaseSync, others: () => Iterable<string> = () => []): Verifiable {
  const source = new DatabaseRows(db)
  return {
    conversations: async function* () {
      yield* source.conversations()
    },
    differences: async ref => source.differences(ref),
    problems: async function* () {
      yield* structureProblems(db, MAX_LINES)
      yield* others()
      yield* source.otherProblems()
    },
  }
}

class DatabaseRows {
  readonly #db: DatabaseSync
  readonly #database: string
  readonly #sums: Checksums
  readonly #log: SqliteLog

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#database = identityOf(db)
    this.#sums = new Checksums(this.#database)
    this.#log = new SqliteLog(db, this.#sums)
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
        const events = this.#eventsAfter(ref, replay.seq)
        if (events.length === 0) {
          const differences = replay.differences(rows)
          return differences.length > 0 ? differences : this.#checksumProblems(ref)
        }
        replay.add(events)
      }
    } catch (error) {
      return [damageOf(toStoreError(error))]
    } finally {
      if (!isAlready) this.#db.exec('ROLLBACK')
    }
  }

  #eventsAfter(ref: Ref, seq: number): StoredEvent[] {
    const sql = `SELECT ${SUMMED_COLUMNS} FROM events WHERE conversation_id = ? AND seq > ? ORDER BY seq LIMIT ?`
    return this.#all(sql, this.#idOf(ref), seq, PAGE).map(row => this.#log.event(ref, row as SummedRow))
  }

  #rows(ref: Ref): StoredRows {
    const { tenant, conversation } = ref
    const id = this.#idOf(ref)
    const [summary] = this.#all('SELECT * FROM conversations WHERE id = ?', id)
    const [snapshot] = this.#all('SELECT seq, v, state FROM snapshots WHERE conversation_id = ?', id)
    return {
      conversation: summary && listed(summary),
      tasks: this.#all('SELECT * FROM tasks WHERE tenant = ? AND conversation_id = ?', tenant, id).map(row => ({
        id: String(row['id']),
        seq: Number(row['seq']),
        created_at: String(row['created_at']),
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

  *otherProblems(): Generator<string> {
    const orphans = 'SELECT count(*) AS count FROM events WHERE conversation_id NOT IN (SELECT id FROM conversations)'
    try {
      yield* rowProblems(this.#db, this.#database, ['key', 'template'])
      const [row] = this.#all(orphans)
      if (Number(row?.['count']) > 0) yield `${Number(row?.['count'])} events are of conversations that are missing`
    } catch (error) {
      yield damageOf(toStoreError(error))
    }
  }

  /** Rows that agree with the log but fail their checksum. */
  #checksumProblems({ tenant, conversation }: Ref): string[] {
    const ofThis = (rows: string): Row[] =>
      this.#all(`${rows} WHERE tenant = ? AND conversation = ?`, tenant, conversation)
    const [rows, reviews] = [ofThis(CONVERSATION_ROWS), ofThis(REVIEW_ROWS)]
    const damaged = [
      ...rows.filter(row => !this.#sums.holds('conversation', row)).map(() => 'its row'),
      ...reviews.filter(row => !this.#sums.holds('review', row)).map(row => `the review ${String(row['id'])}`),
    ]
    return damaged.map(what => `${refKey({ tenant, conversation })}: ${what} does not have its checksum`)
  }

  #idOf({ tenant, conversation }: Ref): number {
    const [row] = this.#all('SELECT id FROM conversations WHERE tenant = ? AND conversation = ?', tenant, conversation)
    return Number(row?.['id'] ?? 0)
  }

  #all(sql: string, ...values: SQLInputValue[]): Row[] {
    try {
      return this.#db.prepare(sql).all(...values)
    } catch (error) {
      throw toStoreError(error)
    }
  }
}

const MAX_LINES = 20

const PAGE = 5_000

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
