import type { DatabaseSync } from 'node:sqlite'
import { INDEXED_TYPES } from '../../core/text/search-documents.ts'
import { SEARCH_KINDS, SEARCH_VERSION, keysOf, tokensOf, type SearchKind } from '../../core/text/search.ts'
import { sliceOf, type DocumentWrite } from '../search.ts'
import type { SliceOutcome } from '../search-catch-up.ts'
import { EVENT_ROW, type ChainedRow, type SqliteLog } from './log.ts'
import { ranAtOnce, unflushed } from './open.ts'

/** Indexed events per slice, and events scanned to find them. */
const MAX_EVENTS = 50
const MAX_LOOKED_AT = 2_000
const MERGED_PAGES = 16

/**
 * Updates the index slice by slice. Uses the store's own connection, because commits of another one would empty its
 * page cache. Not flushed: events lost in a power cut are indexed again, because the position is lost with them.
 */
export class SqliteIndexer {
  readonly #db: DatabaseSync
  readonly #log: SqliteLog
  readonly #checkFiles: () => void
  readonly #sql
  readonly #begin = (): unknown => this.#db.exec('BEGIN IMMEDIATE')

  constructor(db: DatabaseSync, log: SqliteLog, checkFiles: () => void) {
    this.#db = db
    this.#log = log
    this.#checkFiles = checkFiles
    this.#sql = statements(db)
  }

  slice(): SliceOutcome {
    if (this.#left() === 0) return 'done'
    this.#checkFiles()
    if (this.#db.isTransaction) return 'busy'
    if (!unflushed(this.#db, () => this.#isIndexed())) return 'busy'
    return this.#left() === 0 ? 'done' : 'more'
  }

  /** Prefix of the keys of a tenant's documents of one kind; undefined if nothing of the tenant is indexed. */
  scope(tenant: string, kind: SearchKind): string | undefined {
    const row = this.#sql.tenant.get(tenant)
    return row && scopeOf(Number(row['id']), kind)
  }

  /** False if another process has the lock. */
  #isIndexed(): boolean {
    if (!ranAtOnce(this.#begin)) return false
    this.#index()
    this.#checkFiles()
    this.#db.exec('COMMIT')
    return true
  }

  #left(): number {
    const { version, indexed, head } = this.#state()
    return version === SEARCH_VERSION ? Math.max(0, head - indexed) : head + 1
  }

  #state(): { version: number; indexed: number; head: number } {
    return this.#sql.state.get() as { version: number; indexed: number; head: number }
  }

  #index(): void {
    const { version, indexed, head } = this.#state()
    if (version !== SEARCH_VERSION) {
      this.#db.exec(`DELETE FROM search_documents; INSERT INTO search_keys (search_keys) VALUES ('delete-all')`)
      this.#sql.putState.run(SEARCH_VERSION, 0)
      return
    }
    const end = Math.min(head, indexed + MAX_LOOKED_AT)
    const rows = this.#sql.events.all(indexed, end, MAX_EVENTS) as Located[]
    const events = rows
      // Skip damaged events, so that all others can be found; reading a damaged one reports it.
      .filter(row => this.#log.isWhole(row, row))
      .map(row => ({ conversation: row.conversation_id, row, event: this.#log.event(row, row) }))
    const { taken, writes } = sliceOf<number, (typeof events)[number]>(events)
    for (const write of writes) this.#write(write, write.first.row.tenant)
    const last = taken < events.length ? events[taken - 1]?.row : rows[MAX_EVENTS - 1]
    this.#sql.putState.run(SEARCH_VERSION, last?.id ?? end)
    if (writes.length > 0) this.#sql.merge.run(MERGED_PAGES)
  }

  #write({ conversation, kind, ref, text, event: { seq } }: DocumentWrite<number>, tenant: string): void {
    const number = SEARCH_KINDS.indexOf(kind)
    const known = this.#sql.document.get(conversation, number, ref)
    const id = known && Number(known['id'])
    const content = kind === 'conversation' ? this.#title(conversation) : text
    if (content === null) {
      if (id === undefined) return
      this.#sql.removeDocument.run(id)
      this.#sql.removeKeys.run(id)
      return
    }
    const tokens = tokensOf(content)
    const joined = tokens.join(' ')
    if (known?.['tokens'] === joined) return
    const scope = scopeOf(this.#tenant(tenant), kind)
    const keys = Array.from(keysOf(tokens), key => scope + key).join(' ')
    if (id === undefined) {
      const { lastInsertRowid } = this.#sql.addDocument.run(conversation, number, ref, seq, joined)
      this.#sql.addKeys.run(lastInsertRowid, keys)
      return
    }
    this.#sql.putDocument.run(seq, joined, id)
    this.#sql.putKeys.run(keys, id)
  }

  #title(conversation: number): string | null {
    return this.#sql.title.get(conversation)?.['title'] as string | null
  }

  #tenant(tenant: string): number {
    const row = this.#sql.tenant.get(tenant)
    return Number(row ? row['id'] : this.#sql.addTenant.run(tenant).lastInsertRowid)
  }
}

/** A type, not an interface, so that a database row can be cast to it. */
type Located = ChainedRow & {
  readonly id: number
  readonly conversation_id: number
  readonly tenant: string
  readonly conversation: string
}

export const scopeOf = (tenant: number, kind: SearchKind): string => `${tenant}${kind.charAt(0)}`

function statements(db: DatabaseSync) {
  const types = INDEXED_TYPES.map(type => `'${type}'`).join(', ')
  return {
    state: db.prepare('SELECT version, indexed, (SELECT coalesce(max(id), 0) FROM events) AS head FROM search_state'),
    putState: db.prepare('UPDATE search_state SET version = ?, indexed = ?'),
    // CROSS keeps the planner from starting the join at the conversations.
    events: db.prepare(
      `SELECT e.id, e.conversation_id, c.tenant, c.conversation, ${EVENT_ROW}
       FROM events e CROSS JOIN conversations c ON c.id = e.conversation_id
       WHERE e.id > ? AND e.id <= ? AND type IN (${types}) ORDER BY e.id LIMIT ?`,
    ),
    title: db.prepare('SELECT title FROM conversations WHERE id = ?'),
    tenant: db.prepare('SELECT id FROM search_tenants WHERE tenant = ?'),
    addTenant: db.prepare('INSERT INTO search_tenants (tenant) VALUES (?)'),
    document: db.prepare('SELECT id, tokens FROM search_documents WHERE conversation_id = ? AND kind = ? AND ref = ?'),
    addDocument: db.prepare(
      'INSERT INTO search_documents (conversation_id, kind, ref, seq, tokens) VALUES (?, ?, ?, ?, ?)',
    ),
    putDocument: db.prepare('UPDATE search_documents SET seq = ?, tokens = ? WHERE id = ?'),
    removeDocument: db.prepare('DELETE FROM search_documents WHERE id = ?'),
    addKeys: db.prepare('INSERT INTO search_keys (rowid, keys) VALUES (?, ?)'),
    putKeys: db.prepare('UPDATE search_keys SET keys = ? WHERE rowid = ?'),
    removeKeys: db.prepare('DELETE FROM search_keys WHERE rowid = ?'),
    merge: db.prepare(`INSERT INTO search_keys (search_keys, rank) VALUES ('merge', ?)`),
  }
}
