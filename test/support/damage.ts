import { closeSync, cpSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { freeze } from '../../src/core/model/snapshot.ts'
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/store.ts'
import { verifyDatabase } from '../../src/store/sqlite/verify.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { LOCAL_TENANT } from '../../src/store/store.ts'
import { wholeLog } from './ledger.ts'
import { scratchFolder } from './scratch.ts'

/** The same numbers in [0, 1) for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed * 2_654_435_761
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Flips one bit of a file, chosen by the seed, and says where. */
export function flipBit(file: string, seed: number): string {
  const random = randomFrom(seed)
  const at = Math.floor(random() * statSync(file).size)
  flipAt(file, at, Math.floor(random() * 8))
  return `byte ${at}`
}

/** Flips one bit of a table or an index in the file, chosen by the seed, and says where. */
export function flipBitOf(path: string, name: string, seed: number): string {
  const db = new DatabaseSync(path, { readOnly: true })
  const pages = db.prepare('SELECT pageno, pgsize, unused FROM dbstat WHERE name = ? ORDER BY pageno').all(name)
  db.close()
  const random = randomFrom(seed)
  const page = pages[Math.floor(random() * pages.length)]
  const size = Number(page?.['pgsize'])
  // Its content grows from the end of the page.
  const used = size - Number(page?.['unused'])
  const at = (Number(page?.['pageno']) - 1) * size + (random() < 0.1 ? random() * 12 : size - random() * used)
  flipAt(path, Math.floor(at), Math.floor(random() * 8))
  return `${name}: byte ${Math.floor(at)}`
}

/** The tables and indexes of a database that hold anything. */
export function treesIn(path: string): string[] {
  const db = new DatabaseSync(path, { readOnly: true })
  const rows = db.prepare('SELECT DISTINCT name FROM dbstat WHERE ncell > 0 ORDER BY name').all()
  db.close()
  return rows.map(row => String(row['name']))
}

function flipAt(file: string, at: number, bit: number): void {
  const handle = openSync(file, 'r+')
  try {
    const byte = Buffer.alloc(1)
    readSync(handle, byte, 0, 1, at)
    byte[0] = (byte[0] ?? 0) ^ (1 << bit)
    writeSync(handle, byte, 0, 1, at)
  } finally {
    closeSync(handle)
  }
}

/** A copy of a data folder. */
export function copyOf(folder: string): { folder: string; path: string } {
  const copy = scratchFolder()
  cpSync(folder, copy, { recursive: true })
  return { folder: copy, path: join(copy, 'runsheet.db') }
}

/** All that a database answers, as text. */
export type Content = Readonly<Record<string, string>>

/** Reads everything that people and programs can ask for. */
export async function contentOf(store: SqliteStore): Promise<Content> {
  const content: Record<string, string> = {}
  const { items } = await store.queries.conversations(LOCAL_TENANT, { limit: 1_000 })
  content['conversations'] = JSON.stringify(items)
  const { queries } = store
  content['pending'] = JSON.stringify(await queries.waiting(LOCAL_TENANT, undefined, { limit: 100 }))
  content['number of pending'] = String(await queries.waitingCount(LOCAL_TENANT, 100))
  for (const { session_id } of items) {
    const ref = { tenant: LOCAL_TENANT, conversation: session_id }
    const log = await wholeLog(store, ref)
    const state = await store.load(ref)
    content[`summary of ${session_id}`] = JSON.stringify(await queries.conversation(ref))
    content[`pending in ${session_id}`] = JSON.stringify(
      await queries.waiting(LOCAL_TENANT, session_id, { limit: 100 }),
    )
    content[`created in ${session_id}`] = JSON.stringify(await queries.events(ref, { types: ['task_created'] }))
    content[`log of ${session_id}`] = JSON.stringify(log)
    content[`state of ${session_id}`] = freeze(state)
    for (const event of log) {
      if (event.type !== 'task_create_review_required') continue
      const { review_id } = event.data
      content[`review ${review_id}`] = JSON.stringify(await store.queries.review(LOCAL_TENANT, review_id))
    }
  }
  return content
}

/** What becomes of damage: noticed when opening, when reading or by `verify`, harmless, or a silent change. */
export type Outcome = 'refused' | 'noticed' | 'intact' | 'silent'

/** Opens the database and reads all of it. What is beside the log and changed must be found by `verify`. */
export async function outcomeOf(path: string, expected: Content): Promise<{ outcome: Outcome; detail: string }> {
  let store: SqliteStore | undefined
  try {
    store = await openSqliteStore({ path })
    const content = await contentOf(store)
    const changed = [...new Set([...Object.keys(expected), ...Object.keys(content)])].filter(
      name => content[name] !== expected[name],
    )
    if (changed.length === 0) return { outcome: 'intact', detail: '' }
    const isOfLog = changed.some(name => /^(?:log|state|created) /.test(name))
    const found = isOfLog ? [] : await verified(path)
    return { outcome: found.length > 0 ? 'noticed' : 'silent', detail: changed.join(', ') }
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'corrupt') throw error
    return { outcome: store ? 'noticed' : 'refused', detail: `${error.message} (${error.detail ?? ''})` }
  } finally {
    await store?.close().catch(() => {})
  }
}

/** All that `verify` finds in a database. */
export async function verified(path: string): Promise<string[]> {
  const found: string[] = []
  for await (const difference of verifyDatabase(path)) found.push(difference)
  return found
}
