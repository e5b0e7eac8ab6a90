import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { StoredEvent } from '../../../domain/event.ts'
import { Checksums } from '../../checksum.ts'
import { type EventRow, eventOf } from '../../rows.ts'
import type { KeyRow } from '../../stage.ts'
import type { Ref } from '../../store.ts'
import { Pages } from './pages.ts'
import { type RawRecord, recordsIn, type Value } from './records.ts'

/** A type, not an interface, so that a database row can be cast to it. */
type TemplateRow = { readonly tenant: string; readonly name: string; readonly body: string }

/** What can be read of a damaged database and has its checksum. Kept in a file, because it may be large. */
export class Found {
  readonly #file: string
  readonly #db: DatabaseSync
  readonly #names = new Map<number, Ref[]>()
  readonly #sql
  #sums: readonly Checksums[] = []

  /** `database`: its id, if the head file knows it. The file must not exist. */
  constructor(path: string, file: string, database: string | undefined) {
    this.#file = file
    this.#db = new DatabaseSync(file)
    this.#db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; ${TABLES}; BEGIN`)
    this.#sql = {
      event: this.#db.prepare('INSERT OR IGNORE INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)'),
      key: this.#db.prepare('INSERT OR IGNORE INTO keys VALUES (?, ?, ?, ?, ?)'),
      template: this.#db.prepare('INSERT OR REPLACE INTO templates VALUES (?, ?, ?)'),
    }
    const pages = new Pages(path)
    try {
      // Twice: a row may come before the names that are part of its checksum.
      const ids = new Set<string>()
      for (const record of recordsIn(pages)) this.#learn(record, ids)
      this.#sums = (database === undefined ? [...ids] : [database]).map(id => new Checksums(id))
      for (const record of recordsIn(pages)) this.#take(record)
    } finally {
      pages.close()
      this.#db.exec('COMMIT')
    }
  }

  /** The highest id of an event. */
  get newestId(): number {
    return Number(this.#db.prepare('SELECT max(id) AS id FROM events').get()?.['id'] ?? 0)
  }

  /** In the order in which they began. */
  conversations(): Ref[] {
    const sql = 'SELECT tenant, conversation FROM events GROUP BY 1, 2 ORDER BY min(id)'
    return this.#db
      .prepare(sql)
      .all()
      .map(row => ({
        tenant: String(row['tenant']),
        conversation: String(row['conversation']),
      }))
  }

  /** In order, with gaps. */
  *events({ tenant, conversation }: Ref): Generator<StoredEvent> {
    const sql = 'SELECT * FROM events WHERE tenant = ? AND conversation = ? ORDER BY seq'
    for (const row of this.#db.prepare(sql).iterate(tenant, conversation)) yield eventOf(conversation, row as EventRow)
  }

  /** How many events there are after that one. */
  eventsAfter({ tenant, conversation }: Ref, seq: number): number {
    const sql = 'SELECT count(*) AS n FROM events WHERE tenant = ? AND conversation = ? AND seq > ?'
    return Number(this.#db.prepare(sql).get(tenant, conversation, seq)?.['n'])
  }

  keys({ tenant, conversation }: Ref): KeyRow[] {
    const sql = 'SELECT key, body_hash AS bodyHash, value FROM keys WHERE tenant = ? AND conversation = ?'
    return this.#db
      .prepare(sql)
      .all(tenant, conversation)
      .map(row => ({
        key: String(row['key']),
        bodyHash: String(row['bodyHash']),
        value: String(row['value']),
      }))
  }

  templates(): TemplateRow[] {
    return this.#db.prepare('SELECT tenant, name, body FROM templates').all() as TemplateRow[]
  }

  close(): void {
    this.#db.close()
    rmSync(this.#file, { force: true })
  }

  /** The id of the database, and the names of its conversations: from their rows, and from the index of these. */
  #learn({ rowid, values, image }: RawRecord, ids: Set<string>): void {
    const [first, second, third] = values
    // Not from the WAL, which may be another database's.
    if (rowid !== undefined && values.length === 3 && typeof first === 'string' && image.isInFile) ids.add(first)
    if (rowid !== undefined && values.length === 5) this.#name(rowid, second, third)
    if (rowid === undefined && values.length === 3) this.#name(third, first, second)
  }

  #name(id: Value | undefined, tenant: Value | undefined, conversation: Value | undefined): void {
    if (typeof id !== 'number' || typeof tenant !== 'string' || typeof conversation !== 'string') return
    const known = this.#names.get(id) ?? []
    if (known.some(ref => ref.tenant === tenant && ref.conversation === conversation)) return
    this.#names.set(id, [...known, { tenant, conversation }])
  }

  /** Events never change, so any image will do. Keys and templates do: only the newest image counts. */
  #take({ rowid, values, image }: RawRecord): void {
    if (rowid !== undefined && values.length === 9) this.#takeEvent(rowid, values)
    if (rowid !== undefined || !image.isNewest) return
    if (values.length === 6 && this.#holds('key', values)) this.#sql.key.run(...values.slice(0, -1))
    if (values.length === 4 && this.#holds('template', values)) this.#sql.template.run(...values.slice(0, -1))
  }

  #takeEvent(id: number, [, conversationId, seq, v, type, turn_id, timestamp, data, sum]: readonly Value[]): void {
    const refs = typeof conversationId === 'number' ? this.#names.get(conversationId) : undefined
    if (!refs || typeof seq !== 'number' || typeof v !== 'number' || typeof data !== 'string') return
    const row = {
      seq,
      v,
      type: String(type),
      turn_id: turn_id === null ? null : String(turn_id),
      timestamp: String(timestamp),
      data,
    }
    const ref = refs.find(each => this.#sums.some(sums => sums.event(each, row) === sum))
    if (!ref) return
    this.#sql.event.run(id, ref.tenant, ref.conversation, seq, v, row.type, row.turn_id, row.timestamp, data)
  }

  #holds(kind: 'key' | 'template', values: readonly Value[]): boolean {
    return this.#sums.some(sums => sums.of(kind, ...values.slice(0, -1)) === values.at(-1))
  }
}

const TABLES = `
  CREATE TABLE events (
    id INTEGER, tenant TEXT, conversation TEXT, seq INTEGER, v INTEGER, type TEXT, turn_id TEXT, timestamp TEXT, data TEXT,
    PRIMARY KEY (tenant, conversation, seq)
  );
  CREATE TABLE keys (tenant TEXT, conversation TEXT, key TEXT, body_hash TEXT, value TEXT, PRIMARY KEY (tenant, conversation, key));
  CREATE TABLE templates (tenant TEXT, name TEXT, body TEXT, PRIMARY KEY (tenant, name))`
