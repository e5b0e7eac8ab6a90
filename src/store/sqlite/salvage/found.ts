import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { StoredEvent } from '../../../domain/event.ts'
import { Checksums } from '../../checksum.ts'
import { type EventRow, eventOf } from '../../rows.ts'
import type { KeyRow } from '../../stage.ts'
import { type Ref, refKey } from '../../store.ts'
import { Pages } from './pages.ts'
import { cellsIn, type RawRecord, recordsIn, type Value } from './records.ts'
import { freePages, treeOf } from './tree.ts'

/** A log that was found. Two can have the same id, if damage hid the first one when the second began. */
export interface FoundLog extends Ref {
  readonly id: number
}

/** A type, not an interface, so that a database row can be cast to it. */
type TemplateRow = { readonly tenant: string; readonly name: string; readonly body: string; readonly certain: number }

/**
 * The readable rows of a damaged database that match their checksums. Kept in a file, because they may be large. The
 * database's files stay open until `close`, because closing one would free the lock that keeps other processes out.
 */
export class Found {
  readonly #file: string
  readonly #db: DatabaseSync
  readonly #pages: Pages
  readonly #names = new Map<number, Ref[]>()
  readonly #sql
  readonly #isWhole: Readonly<Record<'key' | 'template', boolean>>
  #sums: readonly Checksums[] = []
  #templateWrites = 0

  /** `database`: its id, if the head file has it. `file` must not exist. */
  constructor(path: string, file: string, database: string | undefined) {
    this.#file = file
    this.#db = new DatabaseSync(file)
    this.#db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; ${TABLES}; BEGIN`)
    this.#sql = statements(this.#db)
    this.#pages = new Pages(path)
    // Two passes: a row may precede the names that are part of its checksum.
    const ids = new Set<string>()
    for (const record of recordsIn(this.#pages)) this.#learn(record, ids, database)
    this.#sums = (database === undefined ? [...ids] : [database]).map(id => new Checksums(id))
    for (const { rowid, values } of recordsIn(this.#pages)) this.#takeEvent(rowid, values)
    this.#isWhole = { key: this.#takeRows('key'), template: this.#takeRows('template') }
    this.#db.exec('COMMIT')
  }

  get newestId(): number {
    return Number(this.#db.prepare('SELECT max(id) AS id FROM events').get()?.['id'] ?? 0)
  }

  get templateWrites(): number {
    return this.#templateWrites
  }

  /** True if these rows are complete and current. */
  isWhole(kind: 'key' | 'template'): boolean {
    return this.#isWhole[kind]
  }

  /** In order of their first event. */
  logs(): FoundLog[] {
    const sql = 'SELECT tenant, conversation, conversation_id FROM events GROUP BY 3 ORDER BY min(id)'
    return this.#db
      .prepare(sql)
      .all()
      .map(row => ({
        tenant: String(row['tenant']),
        conversation: String(row['conversation']),
        id: Number(row['conversation_id']),
      }))
  }

  /** In order, with gaps. */
  *events({ id, conversation }: FoundLog): Generator<StoredEvent> {
    const sql = 'SELECT * FROM events WHERE conversation_id = ? ORDER BY seq'
    for (const row of this.#db.prepare(sql).iterate(id)) yield eventOf(conversation, row as EventRow)
  }

  /** The seq of the log's last event, according to rows and indexes. Events up to `newest` were written. */
  endOf({ id }: FoundLog, newest: number): number {
    const sql = `SELECT max(seq) AS seq FROM
      (SELECT seq FROM events WHERE conversation_id = ?1
       UNION ALL SELECT seq FROM listed WHERE conversation_id = ?1 AND id <= ?2 AND id NOT IN (SELECT id FROM events))`
    return Number(this.#db.prepare(sql).get(id, newest)?.['seq'] ?? 0)
  }

  /** Conversations that an index lists but that have no readable event. */
  lostLogs(newest: number): FoundLog[] {
    const sql = `SELECT DISTINCT conversation_id AS id FROM listed
      WHERE id <= ? AND id NOT IN (SELECT id FROM events)
        AND conversation_id NOT IN (SELECT conversation_id FROM events) ORDER BY 1`
    return this.#db
      .prepare(sql)
      .all(newest)
      .flatMap(row => {
        const id = Number(row['id'])
        const [name] = this.#names.get(id) ?? []
        return name ? [{ ...name, id }] : []
      })
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
    return this.#db.prepare('SELECT tenant, name, body, certain FROM templates ORDER BY 1, 2').all() as TemplateRow[]
  }

  close(): void {
    this.#pages.close()
    this.#db.close()
    rmSync(this.#file, { force: true })
  }

  #learn({ rowid, values, image }: RawRecord, ids: Set<string>, database: string | undefined): void {
    const [first, second, third] = values
    if (rowid === undefined && values.length === 3) {
      if (typeof first === 'string') this.#name(third, first, second)
      else if (values.every(value => typeof value === 'number'))
        this.#sql.list.run(third ?? null, first ?? null, second ?? null)
    }
    if (rowid === undefined) return
    if (values.length === 10) this.#name(rowid, second, third)
    if (values.length !== 2 || typeof first !== 'string' || !IDENTITY.test(first)) return
    // The WAL may belong to another database.
    if (image.isInFile) ids.add(first)
    if (database !== undefined && first !== database) return
    this.#templateWrites = Math.max(this.#templateWrites, Number(second))
  }

  #name(id: Value | undefined, tenant: Value | undefined, conversation: Value | undefined): void {
    if (typeof id !== 'number' || typeof tenant !== 'string' || typeof conversation !== 'string') return
    const known = this.#names.get(id) ?? []
    if (known.some(ref => refKey(ref) === refKey({ tenant, conversation }))) return
    this.#names.set(id, [...known, { tenant, conversation }])
  }

  /** Events are immutable, so any image will do. */
  #takeEvent(id: number | undefined, values: readonly Value[]): void {
    if (id === undefined || values.length !== 9) return
    const [, conversationId, seq, v, type, turn_id, timestamp, data, sum] = values
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
    const { tenant, conversation } = ref
    this.#sql.event.run(
      id,
      conversationId ?? 0,
      tenant,
      conversation,
      seq,
      v,
      row.type,
      row.turn_id,
      row.timestamp,
      data,
    )
  }

  /**
   * Takes mutable rows from the pages of their table, in their current version. If those are incomplete, also takes
   * rows found elsewhere, marked as uncertain because they may be outdated. Returns whether the table was complete.
   */
  #takeRows(kind: 'key' | 'template'): boolean {
    const tree = treeOf(this.#pages, `${kind}s`)
    let isWhole = tree.isWhole
    for (const page of tree.pages) {
      for (const readings of cellsIn(this.#pages.newest(page), this.#pages)) {
        if (!readings.some(({ values }) => this.#took(kind, values, 1))) isWhole = false
      }
    }
    if (isWhole) return true
    const free = freePages(this.#pages)
    for (const { rowid, values, image } of recordsIn(this.#pages)) {
      if (rowid === undefined && !free.has(image.page)) this.#took(kind, values, 0)
    }
    return false
  }

  #took(kind: 'key' | 'template', values: readonly Value[], certain: 0 | 1): boolean {
    const fields = values.slice(0, -1)
    if (values.length !== FIELDS[kind] + 1) return false
    if (!this.#sums.some(sums => sums.of(kind, ...fields) === values.at(-1))) return false
    this.#sql[kind].run(...fields, certain)
    return true
  }
}

const FIELDS = { key: 5, template: 3 } as const

const IDENTITY = /^[0-9a-f]{32}$/

function statements(db: DatabaseSync) {
  return {
    event: db.prepare('INSERT OR IGNORE INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'),
    list: db.prepare('INSERT OR IGNORE INTO listed VALUES (?, ?, ?)'),
    key: db.prepare('INSERT OR IGNORE INTO keys VALUES (?, ?, ?, ?, ?, ?)'),
    // Of the uncertain ones, the one written last.
    template: db.prepare(
      `INSERT INTO templates VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET body = excluded.body WHERE certain = 0`,
    ),
  }
}

const TABLES = `
  CREATE TABLE events (
    id INTEGER, conversation_id INTEGER, tenant TEXT, conversation TEXT, seq INTEGER, v INTEGER, type TEXT, turn_id TEXT,
    timestamp TEXT, data TEXT, PRIMARY KEY (conversation_id, seq)
  );
  CREATE INDEX events_id ON events (id);
  CREATE TABLE listed (id INTEGER PRIMARY KEY, conversation_id INTEGER, seq INTEGER);
  CREATE INDEX listed_conversation ON listed (conversation_id);
  CREATE TABLE keys (
    tenant TEXT, conversation TEXT, key TEXT, body_hash TEXT, value TEXT, certain INTEGER,
    PRIMARY KEY (tenant, conversation, key)
  );
  CREATE TABLE templates (tenant TEXT, name TEXT, body TEXT, certain INTEGER, PRIMARY KEY (tenant, name))`
