import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { partsOf } from '../src/cli/import.ts'
import { restore } from '../src/store/backup.ts'
import { openFileStore } from '../src/store/files/store.ts'
import { openPostgresStore } from '../src/store/postgres/store.ts'
import { openLogs } from '../src/store/sqlite/reader.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import { verifyDatabase } from '../src/store/sqlite/verify.ts'
import { describePostgres, ownDatabase, sql } from './support/postgres-store.ts'
import { scratchFolder } from './support/scratch.ts'

// What a checkout from before the first release made is refused, and left as it is.

const OLD = { code: 'older', message: expect.stringMatching(/^Made by an earlier checkout: /) }
const DATABASE = `
  PRAGMA journal_mode = WAL; PRAGMA application_id = 1381322323; PRAGMA user_version = 10;
  CREATE TABLE conversations (id INTEGER PRIMARY KEY, tenant TEXT, conversation TEXT);
  CREATE TABLE events (id INTEGER PRIMARY KEY, conversation_id INTEGER, seq INTEGER, v INTEGER, type TEXT, data TEXT);
  INSERT INTO conversations VALUES (1, 'local', 'plan');
  INSERT INTO events VALUES (1, 1, 1, 1, 'turn_opened', '{}');`

let data: string
let path: string
beforeEach(() => {
  data = scratchFolder()
  path = join(data, 'runsheet.db')
})
afterEach(() => rmSync(data, { recursive: true }))

function makeDatabase(): void {
  const db = new DatabaseSync(path)
  db.exec(DATABASE)
  db.close()
  writeFileSync(`${path}-head`, 'runsheet-head 1 0123456789abcdef0123456789abcdef')
}

const contents = (): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(data, { recursive: true, encoding: 'utf8' })
      .filter(name => statSync(join(data, name)).isFile())
      .map(name => [name, readFileSync(join(data, name), 'latin1')]),
  )

it('[SQ3] a SQLite data folder of an earlier checkout is refused and left alone', async () => {
  makeDatabase()
  const before = contents()
  await expect(openSqliteStore({ path })).rejects.toMatchObject(OLD)
  await expect(openSqliteStore({ path })).rejects.toThrow(
    `Made by an earlier checkout: ${path}. Move it away, with every runsheet.db-*, or use --data OTHER.`,
  )
  expect(() => openLogs(path)).toThrow(/^Made by an earlier checkout: /)
  await expect(verifyDatabase(path).next()).rejects.toMatchObject(OLD)
  expect(contents()).toEqual(before)
})

it('[SQ3] so is one of JSON files', async () => {
  makeDatabase()
  mkdirSync(join(data, '.agents/tasks'), { recursive: true })
  writeFileSync(
    join(data, '.agents/tasks/plan.json'),
    '{"tasks":[{"id":"1","title":"a","description":"","done":false}]}',
  )
  const before = contents()
  await expect(openFileStore({ data })).rejects.toMatchObject(OLD)
  expect(contents()).toEqual(before)
})

it('[SQ3] a backup of an earlier checkout is not restored', async () => {
  makeDatabase()
  const before = contents()
  const other = join(data, 'other')
  const refused = { code: 'older', message: expect.stringMatching(/^Made by an earlier checkout/) }
  await expect(restore(path, other)).rejects.toMatchObject(refused)
  expect(contents()).toEqual(before)
})

it('[BK7] an export of an earlier checkout is not imported', () => {
  const file = join(data, 'all.jsonl')
  const of = { version: 1, sha256: '0'.repeat(64) }
  for (const header of [
    { format: 'runsheet-conversation', event_version: 1, session_id: 'plan', events: 1, ...of },
    { format: 'runsheet-archive', conversations: 1, templates: 0, ...of },
  ]) {
    const text = `${JSON.stringify(header)}\n`
    writeFileSync(file, text)
    expect(() => partsOf(file).next()).toThrow('line 1: made by an earlier checkout, and cannot be imported')
    expect(readFileSync(file, 'utf8')).toBe(text)
  }
})

describePostgres('a database', () => {
  it('with the schema of an earlier checkout is refused and left alone', async () => {
    const url = await ownDatabase()
    await sql(
      url,
      `CREATE SCHEMA runsheet; CREATE TABLE runsheet.runsheet_migrations (number integer PRIMARY KEY);
       INSERT INTO runsheet.runsheet_migrations SELECT generate_series(1, 9);
       CREATE TABLE runsheet.events (seq integer); INSERT INTO runsheet.events VALUES (1)`,
    )
    const tables = () =>
      sql(url, `SELECT schemaname, tablename FROM pg_tables WHERE schemaname LIKE 'runsheet%' ORDER BY 1, 2`)
    const before = await tables()
    for (const creates of [true, false]) {
      await expect(openPostgresStore({ url, creates })).rejects.toMatchObject(OLD)
      expect(await tables()).toEqual(before)
    }
    await sql(url, 'ALTER SCHEMA runsheet RENAME TO runsheet_earlier')
    await (await openPostgresStore({ url })).close()
    expect(await sql(url, 'SELECT seq FROM runsheet_earlier.events')).toEqual([{ seq: 1 }])
    await sql(url, 'DROP SCHEMA runsheet_earlier CASCADE')
  })
})
