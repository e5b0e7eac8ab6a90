import type { DatabaseSync } from 'node:sqlite'
import { keyOf, matchesIn, type Term } from '../../core/text/search.ts'
import { type IndexedDocument, type Loaded, searchIn, type SearchIndex } from '../search.ts'
import { CatchUp } from '../search-catch-up.ts'
import { refKey, type Search } from '../store.ts'
import { type ChainedRow, EVENT_ROW, type SqliteLog } from './log.ts'
import { type Read, SUMMARIES, type SummaryRow, summaryOf } from './queries.ts'
import { SqliteIndexer } from './search-indexer.ts'
import { storedDamage } from './to-store-error.ts'

/** A key with at most this many documents is rare. */
const RARE = 100

export function sqliteSearch(
  db: DatabaseSync,
  read: Read,
  log: SqliteLog,
  checkFiles: () => void,
): { search: Search; indexing: CatchUp } {
  const indexer = new SqliteIndexer(db, log, checkFiles)
  const indexing = new CatchUp(async () => indexer.slice())
  return { search: searchIn(indexIn(db, read, log, indexer, () => indexing.finish())), indexing }
}

function indexIn(
  db: DatabaseSync,
  read: Read,
  log: SqliteLog,
  indexer: SqliteIndexer,
  catchUp: () => Promise<boolean>,
): SearchIndex {
  const sql = {
    newest: db.prepare(
      `SELECT d.id, c.conversation, d.ref, d.seq, d.tokens
       FROM (SELECT rowid AS id FROM search_keys WHERE search_keys MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?) k
         CROSS JOIN search_documents d ON d.id = k.id JOIN conversations c ON c.id = d.conversation_id
       ORDER BY d.id DESC`,
    ),
    isCommon: db.prepare(
      'SELECT 1 FROM search_keys WHERE search_keys MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT 1 OFFSET ?',
    ),
    session: db.prepare(`${SUMMARIES} WHERE tenant = ? AND conversation = ?`),
    task: db.prepare('SELECT seq, removed FROM tasks WHERE tenant = ? AND id = ?'),
    event: db.prepare(
      `SELECT ${EVENT_ROW} FROM events AS e
       WHERE conversation_id = (SELECT id FROM conversations WHERE tenant = ? AND conversation = ?) AND seq = ?`,
    ),
  }
  /**
   * To intersect a rare key with a common one, FTS5 reads most of the common one. Filtering the few documents is
   * faster.
   */
  const rows = (scope: string, terms: readonly Term[], before: number, limit: number): DocumentRow[] => {
    const keys = terms.map(term => `"${scope}${keyOf(term)}"`)
    const rare = keys.length > 1 ? keys.find(key => !sql.isCommon.get(key, before, RARE)) : undefined
    if (rare === undefined) return sql.newest.all(keys.join(' '), before, limit) as DocumentRow[]
    const documents = sql.newest.all(rare, before, RARE) as DocumentRow[]
    return documents.filter(({ tokens }) => matchesIn(tokens, terms) > 0).slice(0, limit)
  }
  const load = (tenant: string, { kind, conversation, ref, seq }: IndexedDocument): Loaded | undefined => {
    const found = sql.session.get(tenant, conversation) as SummaryRow | undefined
    if (!found) return undefined
    const session = summaryOf(found)
    if (kind === 'conversation') return { session }
    if (kind === 'task') return taskOf(tenant, conversation, ref, seq, session)
    const row = sql.event.get(tenant, conversation, seq)
    return row && { session, event: log.event({ tenant, conversation }, row as ChainedRow) }
  }
  /** Loads the task from its newest event, which validates the row that points there. */
  const taskOf = (
    tenant: string,
    conversation: string,
    ref: string,
    indexed: number,
    session: Loaded['session'],
  ): Loaded | undefined => {
    const place = sql.task.get(tenant, ref)
    const row = place && sql.event.get(tenant, conversation, Number(place['seq']))
    const event = row && log.event({ tenant, conversation }, row as ChainedRow)
    const task = event && 'task' in event.data && event.seq >= indexed ? event.data.task : undefined
    const isRemoved = task?.removed_at !== undefined
    if (task?.id !== ref || (place?.['removed'] === 1) !== isRemoved) {
      throw storedDamage(`the row of the task ${ref} of ${refKey({ tenant, conversation })} differs from its log`)
    }
    return isRemoved ? undefined : { session, task }
  }
  return {
    places: ['number'],
    newest: async (tenant, kinds, terms, { limit, after }) => {
      const isComplete = await catchUp()
      const before = Number(after?.[0] ?? Number.MAX_SAFE_INTEGER)
      const documents: IndexedDocument[] = []
      for (const kind of kinds) {
        read(() => {
          const scope = indexer.scope(tenant, kind)
          const found = scope === undefined ? [] : rows(scope, terms, before, limit)
          documents.push(...found.map(({ id, ...row }) => ({ ...row, kind, place: [id] })))
        })
      }
      return { documents, isComplete }
    },
    load: async (tenant, documents) => read(() => documents.map(document => load(tenant, document))),
  }
}

/** A type, not an interface, so that a database row can be cast to it. */
type DocumentRow = {
  readonly id: number
  readonly conversation: string
  readonly ref: string
  readonly seq: number
  readonly tokens: string
}
