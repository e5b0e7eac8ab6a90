import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { add, openTurn, run } from '../store/contract.ts'
import { createRunsheet } from '../../src/library/runsheet.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { inLongRun, runCli, runWriter } from '../support/children.ts'
import { type Content, contentOf, copyOf, flipBitOf, outcomeOf, treesIn, verified } from '../support/damage.ts'
import { closedDatabase, indexedDatabase } from '../support/damaged-databases.ts'
import { fault, held } from '../support/faults.ts'
import { scratchFolder } from '../support/scratch.ts'
import { serveWatched } from '../support/watched-server.ts'

const SEEDS = inLongRun(60, 2)

let killed: string
let closed: string
/** With a search index that has all of the log. */
let searched: string
let content: Content
beforeAll(async () => {
  killed = await indexedDatabase()
  const copy = copyOf(killed)
  closed = copy.folder
  const store = await openSqliteStore({ path: copy.path })
  content = await contentOf(store)
  await store.close()
  searched = await closedDatabase()
})
afterAll(() => {
  for (const folder of [killed, closed, searched]) rmSync(folder, { recursive: true })
})

fault('damaged indexes and rows of SQLite')

const cli = async (...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> => {
  const child = runCli(args)
  const { code, stderr } = await child.ended
  return { code, stderr, stdout: child.lines.join('\n') }
}

/** The first flip of an index that SQLite itself does not notice when it reads: it finds other rows. */
function hiddenBy(path: string, index: string, sql: string): void {
  const rows = (): unknown => {
    const db = new DatabaseSync(path, { readOnly: true })
    try {
      return db.prepare(sql).all()
    } catch (error) {
      return String(error)
    } finally {
      db.close()
    }
  }
  const before = JSON.stringify(rows())
  for (let seed = 1; ; seed += 1) {
    const [, at = ''] = /byte (\d+)/.exec(flipBitOf(path, index, seed)) ?? []
    const now = rows()
    if (Array.isArray(now) && JSON.stringify(now) !== before) return
    // Back to what it was: the same flip again.
    flipBitOf(path, index, seed)
    expect([Number(at) > 0, JSON.stringify(rows())]).toEqual([true, before])
  }
}

const HIDDEN: readonly (readonly [index: string, sql: string])[] = [
  ['sqlite_autoindex_events_1', 'SELECT conversation_id, seq FROM events INDEXED BY sqlite_autoindex_events_1'],
  [
    'sqlite_autoindex_conversations_1',
    'SELECT tenant, conversation FROM conversations INDEXED BY sqlite_autoindex_conversations_1',
  ],
  ['conversations_created', "SELECT conversation FROM conversations WHERE tenant = 'local' ORDER BY created_at DESC"],
  [
    'reviews_waiting',
    "SELECT id FROM reviews INDEXED BY reviews_waiting WHERE pending = 1 AND tenant = 'local' AND coalesce(due_at, '~') > '2026'",
  ],
]

describe('one flipped bit in each table and index', () => {
  it.each(['kill -9', 'a clean end'])(
    '[SQ16][FA5] after %s: nothing that a user sees is missing or changed without notice',
    async end => {
      const folder = end === 'kill -9' ? killed : closed
      // Templates, answers, live text and leases have no check but SQLite's own.
      const trees = treesIn(join(folder, 'runsheet.db')).filter(
        name => !/^(?:search_|live$|turns|keys|templates)/.test(name),
      )
      expect(trees).toEqual(expect.arrayContaining(HIDDEN.map(([index]) => index)))
      for (const name of trees) {
        for (let seed = 1; seed <= SEEDS; seed += 1) {
          const copy = copyOf(folder)
          const where = flipBitOf(copy.path, name, seed)
          const { outcome, detail } = await outcomeOf(copy.path, content)
          expect({ where, seed, outcome, detail }).not.toMatchObject({ outcome: 'silent' })
          rmSync(copy.folder, { recursive: true })
          held()
        }
      }
    },
  )
})

describe.each(inLongRun(HIDDEN, HIDDEN.slice(0, 1)))('rows that %s does not find any more', (index, sql) => {
  it('[SQ16][FA5] serve refuses in one line, verify and backup name it', async () => {
    const copy = copyOf(killed)
    hiddenBy(copy.path, index, sql)
    const data = ['--data', copy.folder]
    const [refused, found] = await Promise.all([cli('serve', '--port', '0', ...data), cli('verify', ...data)])
    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^runsheet: cannot open SQLite: [^\n]+ is damaged [^\n]+index[^\n]+\n$/),
    })
    expect(found).toMatchObject({ code: 1, stdout: expect.stringMatching(/index/) })
    expect(await cli('backup', join(copy.folder, 'b.db'), ...data)).toMatchObject({ code: 1 })
    rmSync(copy.folder, { recursive: true })
  })
})

it('[SQ16] a log with a gap is not read', async () => {
  const folder = scratchFolder()
  const path = join(folder, 'runsheet.db')
  const ref = { tenant: 'local', conversation: 'c1' }
  const store = await openSqliteStore({ path })
  await store.commit(ref, run(openTurn('t1'), add('t1', 'a', 'b', 'c')))
  withDatabase(path, 'DELETE FROM events WHERE seq = 3')
  const refused = { code: 'corrupt', detail: expect.stringMatching(/event 3 of local\/c1 is missing/) }
  await expect(store.eventsAfter(ref, 0, 100)).rejects.toMatchObject(refused)
  await store.close()
  const again = await openSqliteStore({ path })
  await expect(again.load(ref)).rejects.toMatchObject(refused)
  await again.close()
  rmSync(folder, { recursive: true })
})

it('verify reports one damaged event once', async () => {
  const { folder, path } = copyOf(killed)
  withDatabase(path, "UPDATE events SET data = data || ' ' WHERE id = 7")
  expect(await verified(path)).toEqual([expect.stringMatching(/^event \d+ of \S+ does not fit its chain$/)])
  rmSync(folder, { recursive: true })
})

it('[SQ16] each damage is logged once', async () => {
  const { folder, path } = copyOf(killed)
  const server = await serveWatched(folder)
  const names = (await server.person.sessions({ limit: 2 })).sessions.map(({ session_id }) => session_id)
  withDatabase(path, "UPDATE events SET data = data || ' '")
  const headers = { authorization: `Bearer ${server.tokens.person}` }
  for (let times = 0; times < 2; times += 1) {
    for (const name of names) {
      const answer = await fetch(new URL(`/api/sessions/${name}/events/1`, server.url), { headers })
      expect(answer.status).toBe(503)
    }
  }
  const failures = server.log().filter(({ err }) => (err as { code?: string } | undefined)?.code === 'corrupt')
  expect(failures).toHaveLength(names.length)
  expect((await server.ready())[0]).toBe(503)
  server.child.process.kill('SIGKILL')
  await server.child.ended
  rmSync(folder, { recursive: true })
})

describe('verify', () => {
  it('[SQ15][FA5] names a lost -wal, which serve refuses in one line; both say what to do', async () => {
    const { folder, path } = copyOf(killed)
    const store = await openSqliteStore({ path })
    await store.commit({ tenant: 'local', conversation: 'c1' }, run(openTurn('t1')))
    // As the head file is after the -wal was lost: ahead of the database.
    const head = readFileSync(`${path}-head`)
    await store.close()
    copyFileSync(join(killed, 'runsheet.db'), path)
    writeFileSync(`${path}-head`, head)
    const refused = await cli('serve', '--port', '0', '--data', folder)
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(
      /^runsheet: cannot open SQLite: \S+ is damaged and was left untouched\. Restore a backup, .*\.recover.* the next start makes an empty database\. \(its last \d+ events are missing\. .*\)\n$/,
    )
    expect(await cli('verify', '--data', folder)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^runsheet\.db: its last \d+ events are missing[^]*1 difference\.\nRestore a backup/,
      ),
    })
    rmSync(`${path}-head`)
    expect(await cli('verify', '--data', folder)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^SQLite: the file, its indexes and every chain are whole; every log can be folded/,
      ),
    })
    rmSync(folder, { recursive: true })
  })

  it.each<[string, string]>([
    ['a title', "UPDATE conversations SET title = 'x' WHERE conversation = 'plan'"],
    ['a task that is not in the log', "UPDATE tasks SET id = id || 'x' WHERE seq = 5"],
    ["a turn's status", "UPDATE turns SET status = 'finished'"],
    ['a review', `UPDATE reviews SET body = replace(body, 'Bake', 'Burn')`],
    ['an event', `UPDATE events SET data = replace(data, 'task 7', 'task 8') WHERE data LIKE '%task 7 %'`],
    ['an old event, without its successors', 'DELETE FROM events WHERE id = 7'],
    [
      'an event that another one took the place of',
      'UPDATE events SET data = (SELECT data FROM events WHERE id = 8) WHERE id = 7',
    ],
    ['the end of a log', 'DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)'],
  ])('finds %s that was changed behind our back', async (_, sql) => {
    const { folder, path } = copyOf(searched)
    withDatabase(path, sql)
    expect((await verified(path)).length).toBeGreaterThan(0)
    rmSync(folder, { recursive: true })
  })

  it('runs beside a process that writes', async () => {
    const folder = scratchFolder()
    const path = join(folder, 'runsheet.db')
    const writer = runWriter({ store: 'sqlite', at: path, conversation: 'c1', from: 0, to: 1_000_000, tasks: true })
    for (const ack of [5, 50, 100]) {
      await writer.line(line => line.startsWith(`ack ${ack} `))
      expect(await verified(path)).toEqual([])
    }
    writer.process.kill('SIGKILL')
    await writer.ended
    expect(await verified(path)).toEqual([])
    rmSync(folder, { recursive: true })
  })

  it('[ST24] has nothing to compare in memory', async () => {
    const runsheet = createRunsheet({ store: openMemoryStore() })
    await runsheet.conversation('c1').turn('t1').call('AddTask', { title: 'a' })
    expect(await runsheet.verify()).toEqual([])
    await runsheet.close()
  })
})

function withDatabase(path: string, sql: string): void {
  const db = new DatabaseSync(path)
  db.exec(sql)
  db.close()
}
