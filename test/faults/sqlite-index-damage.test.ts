import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { add, openTurn, run } from '../store/contract.ts'
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/store.ts'
import { verifyDatabase } from '../../src/store/sqlite/verify-database.ts'
import { inLongRun, killedAtRename, runCli, runWriter } from '../support/children.ts'
import { type Content, contentOf, copyOf, flipAt, flipBitOf, outcomeOf, treesIn } from '../support/damage.ts'
import { indexedDatabase } from '../support/damaged-databases.ts'
import { fault, held } from '../support/faults.ts'
import { scratchFolder } from '../support/scratch.ts'
import { serveWatched } from '../support/watched-server.ts'

const SEEDS = inLongRun(60, 2)

let killed: string
let closed: string
let content: Content
beforeAll(async () => {
  killed = await indexedDatabase()
  const copy = copyOf(killed)
  closed = copy.folder
  const store = await openSqliteStore({ path: copy.path })
  content = await contentOf(store)
  await store.close()
})
afterAll(() => {
  for (const folder of [killed, closed]) rmSync(folder, { recursive: true })
})

fault('damaged indexes and rows of SQLite')

const cli = async (...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> => {
  const child = runCli(args)
  const { code, stderr } = await child.ended
  return { code, stderr, stdout: child.lines.join('\n') }
}

async function verified(path: string): Promise<string[]> {
  const found: string[] = []
  for await (const difference of verifyDatabase(path)) found.push(difference)
  return found
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
      // The index of words is checked by `verify`; live text and leases are passing.
      const trees = treesIn(join(folder, 'runsheet.db')).filter(name => !/^(?:search_|live$|turns)/.test(name))
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

  it('[SQ17] verify finds each that changes what search finds', async () => {
    const hits = async (path: string): Promise<string> => {
      const store = await openSqliteStore({ path })
      const { items } = await store.search.tasks('local', 'task', { limit: 50 })
      await store.close()
      return JSON.stringify(items.map(({ id }) => id))
    }
    const copy = copyOf(closed)
    const before = await hits(copy.path)
    for (let seed = 1; seed <= inLongRun(100, 4); seed += 1) {
      const damaged = copyOf(copy.folder)
      flipBitOf(damaged.path, 'search_keys_data', seed)
      const isFound = (await verified(damaged.path)).length > 0
      const found = await hits(damaged.path).catch(() => 'refused')
      expect({ seed, isFound, isSame: found === before }).not.toMatchObject({ isFound: false, isSame: false })
      rmSync(damaged.folder, { recursive: true })
    }
    rmSync(copy.folder, { recursive: true })
  })
})

describe.each(inLongRun(HIDDEN, HIDDEN.slice(0, 1)))('rows that %s does not find any more', (index, sql) => {
  it('[SQ16][SQ17][SQ18][FA5] serve refuses, verify and backup name it, recover loses nothing, serve starts', async () => {
    const copy = copyOf(killed)
    hiddenBy(copy.path, index, sql)
    const data = ['--data', copy.folder]
    const [refused, found] = await Promise.all([cli('serve', '--port', '0', ...data), cli('verify', ...data)])
    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/is damaged[^\n]+index[^\n]+\n$/),
    })
    expect(found).toMatchObject({ code: 1, stdout: expect.stringMatching(/index/) })
    expect(await cli('backup', join(copy.folder, 'b.db'), ...data)).toMatchObject({ code: 1 })
    expect((await cli('recover', ...data)).stdout).toMatch(/^Recovered (\d+) of \1 events[^]*\nNothing was lost\.\n/)
    const server = await serveWatched(copy.folder)
    const { sessions } = await server.person.sessions({ limit: 100 })
    expect([sessions.length, (await server.person.pendingReviews(undefined, { limit: 100 })).reviews.length]).toEqual([
      41, 40,
    ])
    await server.stop()
    rmSync(copy.folder, { recursive: true })
  })
})

describe('events that an index does not find while the database is open', () => {
  const ref = { tenant: 'local', conversation: 'c1' }
  let folder: string
  let store: SqliteStore
  const behindOurBack = (sql: string): void => {
    const db = new DatabaseSync(join(folder, 'runsheet.db'))
    db.exec(sql)
    db.close()
  }
  const opened = async (): Promise<void> => {
    folder = scratchFolder()
    store = await openSqliteStore({ path: join(folder, 'runsheet.db') })
    await store.commit(ref, run(openTurn('t1'), add('t1', 'a', 'b', 'c')))
  }
  const ended = async (): Promise<void> => {
    await store.close()
    rmSync(folder, { recursive: true })
  }
  const isRefused = (call: Promise<unknown>): Promise<void> =>
    expect(call).rejects.toMatchObject({
      code: 'corrupt',
      detail: expect.stringMatching(/is missing|does not find it/),
    })

  it.each([
    ['in the middle of a log', 'DELETE FROM events WHERE seq = 3'],
    ['at its end', 'DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)'],
  ])('[SQ16] %s: no shorter log is read', async (_, sql) => {
    await opened()
    behindOurBack(sql)
    await isRefused(store.eventsAfter(ref, 0, 100))
    const other = sql.includes('max') ? store : undefined
    if (other) await isRefused(other.load(ref))
    await ended()
  })

  it('[SQ16] a whole conversation: it does not begin again, and is no unknown one', async () => {
    await opened()
    behindOurBack('DELETE FROM conversations')
    await isRefused(store.load(ref))
    await isRefused(store.queries.conversation(ref))
    await isRefused(store.commit(ref, run(add('t1', 'd'))))
    expect(await store.queries.conversation({ tenant: 'local', conversation: 'other' })).toBeUndefined()
    await ended()
  })

  it('[SQ16] a database in which damage was seen is checked again at the next start', async () => {
    await opened()
    behindOurBack('DELETE FROM events WHERE seq = 3')
    await isRefused(store.eventsAfter(ref, 0, 100))
    await store.close()
    await expect(openSqliteStore({ path: join(folder, 'runsheet.db') })).rejects.toMatchObject({ code: 'corrupt' })
    rmSync(folder, { recursive: true })
  })
})

it.each(['events', 'keys', 'templates', 'conversations', 'reviews'])(
  '[SQ16] after kill -9 a start refuses a damaged row of %s, however old it is',
  async table => {
    const { folder, path } = copyOf(killed)
    const column = { keys: 'value', conversations: 'title', templates: 'body', reviews: 'body' }[table] ?? 'data'
    const db = new DatabaseSync(path)
    // The structure stays as it is: only a checksum tells. A start has checked the first events.
    db.exec(`UPDATE ${table} SET ${column} = ${column} || ' ' ${table === 'events' ? 'WHERE id = 7' : ''}`)
    db.close()
    await expect(openSqliteStore({ path })).rejects.toMatchObject({
      code: 'corrupt',
      detail: expect.stringMatching(/does not have its checksum/),
    })
    rmSync(folder, { recursive: true })
  },
)

it('[SQ17] verify reports one damaged event once', async () => {
  const { folder, path } = copyOf(killed)
  const db = new DatabaseSync(path)
  db.exec("UPDATE events SET data = data || ' ' WHERE id = 7")
  db.close()
  expect(await verified(path)).toEqual([expect.stringMatching(/^event 7 of \S+ does not have its checksum$/)])
  rmSync(folder, { recursive: true })
})

it('[HT38][SQ16] each damage is logged once', async () => {
  const { folder, path } = copyOf(killed)
  const server = await serveWatched(folder)
  const names = (await server.person.sessions({ limit: 2 })).sessions.map(({ session_id }) => session_id)
  const db = new DatabaseSync(path)
  db.exec("UPDATE events SET data = data || ' '")
  db.close()
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

describe('recover', () => {
  it('[SQ18] keeps templates as they were last, and brings no deleted one back', async () => {
    const { folder, path } = copyOf(killed)
    const text = JSON.parse(content['templates'] ?? '[]') as { name: string }[]
    expect(text).toHaveLength(30)
    flipAt(path, eventOffset(path), 0)
    const { stdout } = await cli('recover', '--data', folder)
    expect(stdout).toMatch(
      /, 30 templates\.\nLost: \d+ events?\.\nlocal\/conversation-0-x+: all of it is lost \(\d+ events\)\./,
    )
    expect(stdout).not.toMatch(/may be old/)
    const store = await openSqliteStore({ path })
    expect(JSON.stringify(await store.templates.list('local'))).toBe(content['templates'])
    await store.close()
    rmSync(folder, { recursive: true })
  })

  it('[SQ18] says which templates may be old, where their table cannot be read', async () => {
    const { folder, path } = copyOf(killed)
    const db = new DatabaseSync(path, { readOnly: true })
    const root = Number(db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'templates'").get()?.['rootpage'])
    db.close()
    flipAt(path, (root - 1) * 4_096, 6)
    const { stdout } = await cli('recover', '--data', folder)
    expect(stdout).toMatch(/These templates may be old, or may have been deleted: [^\n]*template-6/)
    rmSync(folder, { recursive: true })
  })

  it('[SQ18] refuses beside a process that has the database open, and names it', async () => {
    const { folder, path } = copyOf(killed)
    const writer = runWriter({ store: 'sqlite', at: path, conversation: 'w', from: 0, to: 1_000_000 })
    await writer.line(line => line.startsWith('ack 3 '))
    const db = new DatabaseSync(path, { timeout: 5_000 })
    db.exec("UPDATE events SET data = data || ' ' WHERE id = 7")
    db.close()
    expect(await cli('recover', '--data', folder)).toEqual({
      code: 1,
      stdout: '',
      stderr: `runsheet: ${path} is open in process ${writer.process.pid}. Stop every server and every runsheet mcp that uses it first.\n`,
    })
    writer.process.kill('SIGKILL')
    await writer.ended
    expect((await cli('recover', '--data', folder)).stdout).toMatch(/^Recovered \d+ of \d+ events/)
    rmSync(folder, { recursive: true })
  })

  it('[SQ18] of two logs with one name drops neither', async () => {
    const { folder, path } = copyOf(killed)
    const db = new DatabaseSync(path)
    db.exec(`INSERT INTO conversations VALUES (999, 'local', 'kilmed', NULL, '2026', '2026', 0, 0, NULL, 0);
      INSERT INTO events (conversation_id, seq, v, type, turn_id, timestamp, data, sum)
        SELECT 999, seq, v, type, turn_id, timestamp, data, sum FROM events
        WHERE conversation_id = (SELECT id FROM conversations WHERE conversation = 'killed') AND seq <= 3`)
    db.close()
    // As after damage in the index of names, which let a second one begin.
    writeFileSync(path, readFileSync(path, 'latin1').replaceAll('kilmed', 'killed'), 'latin1')
    const { stdout } = await cli('recover', '--data', folder)
    expect(stdout).toMatch(
      /^Recovered (\d+) of \1 events, 42 conversations[^]*A second log of local\/killed is now killed-2\./,
    )
    const store = await openSqliteStore({ path })
    expect((await store.load({ tenant: 'local', conversation: 'killed-2' })).seq).toBe(3)
    await store.close()
    rmSync(folder, { recursive: true })
  })

  it('[SQ18] killed at any step, loses nothing: a start refuses, or the database is whole', async () => {
    let rounds = 0
    for (let step = inLongRun(1, 2); ; step += inLongRun(1, 4)) {
      const { folder, path } = copyOf(killed)
      const db = new DatabaseSync(path)
      db.exec("UPDATE events SET data = data || ' ' WHERE id = (SELECT max(id) FROM events)")
      db.close()
      const { signal } = await killedAtRename(step, 'recover', '--data', folder)
      if (signal === null) break
      rounds += 1
      const outcome = await outcomeOf(path, {})
      if (outcome.outcome === 'refused') {
        const { stdout } = await cli('recover', '--data', folder)
        expect(stdout, `step ${step}`).toMatch(/^Recovered 2\d{3} of 2\d{3} events/)
        expect([step, readdirSync(folder).filter(name => /moves|probe|found/.test(name))]).toEqual([step, []])
      }
      const store = await openSqliteStore({ path })
      expect([step, (await store.queries.conversations('local', { limit: 100 })).items.length]).toEqual([step, 41])
      await store.close()
      rmSync(folder, { recursive: true })
    }
    expect(rounds).toBeGreaterThan(inLongRun(3, 1))
  })
})

/** Where the text of an early event of the first conversation is in the file. */
function eventOffset(path: string): number {
  const db = new DatabaseSync(path, { readOnly: true })
  const page = Number(
    db.prepare("SELECT min(pageno) AS page FROM dbstat WHERE name = 'events' AND pagetype = 'leaf'").get()?.['page'],
  )
  db.close()
  return page * 4_096 - 20
}
