import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { add, openTurn, run } from '../store/contract.ts'
import { openFileStore } from '../../src/store/files/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { fault } from '../support/faults.ts'
import { scratchFolder } from '../support/scratch.ts'

const ref = { tenant: 'local', conversation: 'c1' }

let folder: string
let path: string
beforeEach(async () => {
  folder = scratchFolder()
  path = join(folder, 'runsheet.db')
})
afterEach(() => rmSync(folder, { recursive: true }))

/** A database with enough in it that damage hits something. */
async function filled(): Promise<void> {
  const store = await openSqliteStore({ path })
  await store.commit(ref, run(openTurn('t1')))
  for (let round = 0; round < 10; round += 1)
    await store.commit(ref, run(add('t1', ...Array.from({ length: 20 }, (_, i) => `task ${i} ${'x'.repeat(200)}`))))
  await store.close()
}

function overwrite(at: number, bytes: Buffer, target = path): void {
  const file = openSync(target, 'r+')
  writeSync(file, bytes, 0, bytes.length, at)
  closeSync(file)
}

/** Closed at once: a connection that is closed later writes its -wal into the database. */
function change(sql: string): void {
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
}

describe('a database that cannot be trusted', () => {
  fault('a damaged or foreign database file')
  const noise = Buffer.alloc(4096, 0xa5)
  it.each<[string, () => void, string, RegExp]>([
    ['zero-length', () => truncateSync(path, 0), 'corrupt', /is damaged and was left untouched/],
    [
      'cut in the middle',
      () => truncateSync(path, Math.floor(statSync(path).size / 2)),
      'corrupt',
      /is damaged and was left untouched/,
    ],
    ['cut within the header', () => truncateSync(path, 50), 'corrupt', /is damaged/],
    ['overwritten in the middle', () => overwrite(4096 * 6, noise), 'corrupt', /is damaged/],
    ['overwritten at its start', () => overwrite(0, noise), 'corrupt', /is damaged/],
    ['no database at all', () => writeFileSync(path, '{"tasks":[]}'), 'corrupt', /is damaged/],
    [
      "another program's",
      () => {
        rmSync(path)
        change('CREATE TABLE t (a); INSERT INTO t VALUES (1)')
      },
      'corrupt',
      /is not a Runsheet database/,
    ],
    ['of a newer version', () => change('PRAGMA user_version = 999'), 'newer', /newer Runsheet .*Update/],
  ])('[SQ3] %s: is refused with a clear message and left as it is', async (_, damage, code, message) => {
    await filled()
    damage()
    const before = readFileSync(path)
    await expect(openSqliteStore({ path })).rejects.toMatchObject({
      name: 'StoreError',
      code,
      message: expect.stringMatching(message),
    })
    await expect(openSqliteStore({ path })).rejects.toMatchObject({ message: expect.stringContaining(path) })
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it('is not begun anew where only its -wal is left', async () => {
    const store = await openSqliteStore({ path })
    await store.commit(ref, run(openTurn('t1')))
    copyFileSync(`${path}-wal`, join(folder, 'kept-wal'))
    await store.close()
    rmSync(path)
    copyFileSync(join(folder, 'kept-wal'), `${path}-wal`)
    await expect(openSqliteStore({ path })).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringMatching(/-wal exists/),
    })
    expect(existsSync(path)).toBe(false)
  })
})

describe('a database that is destroyed while it is open', () => {
  fault('a database that is destroyed while it is open')
  it.each(['sqlite', 'json'])('%s: every call is refused in plain words, and the process survives', async kind => {
    await filled()
    const store = kind === 'sqlite' ? await openSqliteStore({ path }) : await openFileStore({ data: folder })
    const stop = new AbortController()
    const hints = store.changes(stop.signal)[Symbol.asyncIterator]()
    const silent = hints.next()
    for (const suffix of ['', '-wal', '-shm'])
      overwrite(0, Buffer.alloc(statSync(path + suffix).size, 0xa5), path + suffix)
    const elsewhere = { ...ref, conversation: 'cold' }
    const calls = [
      () => store.commit(elsewhere, run(openTurn('t1'))),
      () => store.load(elsewhere),
      () => store.live.write(elsewhere, { turn_id: 't1', message_id: 'm', text: 'x' }),
      () => store.eventsAfter(elsewhere, 0, 10),
      () => store.search.tasks('local', 'x', { limit: 1 }),
      () => store.templates.list('local'),
      () => store.templates.put('local', { name: 'x', tasks: [] }),
      () => store.claim('r', 1_000, { abilities: ['drive'] }),
    ]
    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({ name: 'StoreError', message: expect.not.stringContaining(path) })
    }
    // Two looks of the watch, each of which would have ended the process.
    await new Promise(resolve => setTimeout(resolve, 250))
    stop.abort()
    expect((await silent).done).toBe(true)
    await store.close().catch(() => {})
  })
})

describe('a JSON file that cannot be trusted', () => {
  fault('a broken task file')
  const file = (): string => join(folder, '.agents', 'tasks', 'c1.json')
  const task = { id: '1', title: 'a', description: '', done: false }

  it.each<[string, string]>([
    ['zero-length', ''],
    ['cut in the middle', '{"tasks":[{"id":"1","ti'],
    ['no JSON', 'tasks: []'],
    ['an array', '[]'],
    ['null', 'null'],
    ['without tasks', '{}'],
    ['with tasks that are no array', '{"tasks":{}}'],
    ['with a task that is no object', '{"tasks":[1]}'],
    ['with an id that is a fraction', JSON.stringify({ tasks: [{ ...task, id: 1.5 }] })],
    ['with an id that is no text', JSON.stringify({ tasks: [{ ...task, id: true }] })],
    ['with an empty id', JSON.stringify({ tasks: [{ ...task, id: '' }] })],
    ['with an id that is not trimmed', JSON.stringify({ tasks: [{ ...task, id: ' 1' }] })],
    ['with an id of two lines', JSON.stringify({ tasks: [{ ...task, id: 'a\nb' }] })],
    ['with an id beyond the limit', JSON.stringify({ tasks: [{ ...task, id: 'x'.repeat(201) }] })],
    ['with an id twice', JSON.stringify({ tasks: [task, task] })],
    ['without a title', JSON.stringify({ tasks: [{ ...task, title: undefined }] })],
    ['with an empty title', JSON.stringify({ tasks: [{ ...task, title: ' ' }] })],
    ['with a title beyond the limit', JSON.stringify({ tasks: [{ ...task, title: 'x'.repeat(401) }] })],
    ['with a done that is text', JSON.stringify({ tasks: [{ ...task, done: 'yes' }] })],
    ['with a description that is a number', JSON.stringify({ tasks: [{ ...task, description: 1 }] })],
  ])('[FI10] %s: every call answers that it is invalid, and it is never overwritten', async (_, text) => {
    mkdirSync(join(folder, '.agents', 'tasks'), { recursive: true })
    writeFileSync(file(), text)
    const store = await openFileStore({ data: folder })
    const refused = { name: 'StoreError', code: 'file_invalid', message: 'Task file is corrupt or invalid.' }
    await expect(store.load(ref, 'list')).rejects.toMatchObject({ ...refused, cause: expect.anything() })
    await expect(store.commit(ref, run(openTurn('t1'), add('t1', 'b')))).rejects.toMatchObject(refused)
    expect(readFileSync(file(), 'utf8')).toBe(text)
    // Another conversation is none the worse for it, and this one works again once somebody has mended the file.
    await store.commit({ ...ref, conversation: 'c2' }, run(openTurn('t1'), add('t1', 'b')))
    writeFileSync(file(), JSON.stringify({ tasks: [task] }))
    expect((await store.load(ref)).tasks.size).toBe(1)
    await store.close()
    expect(readdirSync(join(folder, '.agents', 'tasks')).sort()).toEqual(['c1.json', 'c2.json'])
  })

  it.each(['{"tasks":[{"id":"1","ti', JSON.stringify({ tasks: [{ ...task, title: 'x'.repeat(401) }] })])(
    '[FI10] %s: the conversation goes on, but the list and the file stay as they are',
    async broken => {
      const before = await openFileStore({ data: folder })
      const start = { type: 'start_turn', turn_id: 't1', message_id: 'm1', message: 'Go', model: 'demo' } as const
      await before.commit(ref, run(start, { type: 'edit_tasks', by: 'person', create: [{ id: 'a', title: 'a' }] }))
      const theirs = { ...JSON.parse(readFileSync(file(), 'utf8')), theirs: 1 }
      writeFileSync(file(), JSON.stringify(theirs))
      await before.load(ref)
      await before.close()
      writeFileSync(file(), broken)

      const store = await openFileStore({ data: folder })
      const says = (text: string) =>
        ({ type: 'message_added', data: { message_id: text, role: 'assistant', text } }) as const
      const record = (text: string) => run({ type: 'record', turn_id: 't1', fact: says(text) })
      const refused = { code: 'file_invalid' }
      await store.commit(ref, record('The end.'))
      const create = [{ id: 'b', title: 'b' }]
      await expect(store.commit(ref, run({ type: 'edit_tasks', by: 'person', create }))).rejects.toMatchObject(refused)
      expect([...(await store.load(ref)).tasks.values()]).toMatchObject([{ title: 'a' }])
      expect(readFileSync(file(), 'utf8')).toBe(broken)

      writeFileSync(file(), JSON.stringify(theirs))
      const again = run({ type: 'edit_tasks', by: 'person', create: [{ id: 'c', title: 'c' }] })
      await store.commit(ref, again)
      expect(JSON.parse(readFileSync(file(), 'utf8'))).toMatchObject({
        theirs: 1,
        tasks: [{ title: 'a' }, { title: 'c' }],
      })
      expect((await store.eventsAfter(ref, 0, 100)).filter(({ type }) => type === 'message_added')).toHaveLength(1)
      await store.close()
    },
  )
})
