import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../src/domain/event.ts'
import { add, openTurn, run } from '../store/contract.ts'
import { openFileStore } from '../../src/store/json/store.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { recoverDatabase } from '../../src/store/sqlite/recover.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { verifyDatabase } from '../../src/store/sqlite/verify-database.ts'
import { createRunsheet } from '../../src/library/runsheet.ts'
import { inLongRun, runCli, runWriter } from '../support/children.ts'
import { copyOf, flipBit } from '../support/damage.ts'
import { closedDatabase, killedWriter } from '../support/damaged-databases.ts'
import { fault } from '../support/faults.ts'
import { wholeLog } from '../support/ledger.ts'
import { scratchFolder } from '../support/scratch.ts'

fault('what can be read of a damaged database, recovered')

const SEEDS = inLongRun(100, 6)
const CONVERSATIONS = ['plan', 'killed']

let killed: string
let closed: string
let other: string
let logs: Map<string, StoredEvent[]>
beforeAll(async () => {
  closed = await closedDatabase()
  killed = await killedWriter(copyOf(closed).folder, 60, 5_000)
  other = await killedWriter(scratchFolder(), 50)
  const copy = copyOf(killed)
  logs = await logsIn(copy.path)
  rmSync(copy.folder, { recursive: true })
})
afterAll(() => {
  for (const folder of [killed, closed, other]) rmSync(folder, { recursive: true })
})

async function logsIn(path: string): Promise<Map<string, StoredEvent[]>> {
  const store = await openSqliteStore({ path })
  const found = new Map<string, StoredEvent[]>()
  for (const conversation of CONVERSATIONS) {
    found.set(conversation, await wholeLog(store, { tenant: 'local', conversation }))
  }
  await store.close()
  return found
}

const total = (found: ReadonlyMap<string, readonly StoredEvent[]>): number =>
  [...found.values()].reduce((sum, log) => sum + log.length, 0)

/** Recovers a damaged copy and checks what must hold however much was lost. Returns how many events were saved. */
async function recovered(path: string, folder: string): Promise<number> {
  const before = new Map(
    ['', '-wal', '-head'].flatMap(suffix => (existsSync(path + suffix) ? [[suffix, readFileSync(path + suffix)]] : [])),
  )
  const { events, acknowledged, kept } = recoverDatabase(path, new Date('2026-11-05T10:20:30Z'))
  // The damaged files are beside the new one, byte by byte.
  expect(kept).toEqual([...before.keys()].map(suffix => `${path}.damaged-2026-11-05T10-20-30${suffix}`))
  for (const [suffix, bytes] of before) {
    expect(readFileSync(`${path}.damaged-2026-11-05T10-20-30${suffix}`).equals(bytes)).toBe(true)
  }
  expect(readdirSync(folder).filter(name => name.includes('recovered'))).toEqual([])
  const found = await logsIn(path)
  // Each log is a beginning of what it was, and the number of lost events is said.
  for (const [conversation, log] of found) expect(log).toEqual(logs.get(conversation)?.slice(0, log.length))
  expect([events, acknowledged]).toEqual([total(found), total(logs)])
  expect(await differencesIn(path)).toEqual([])
  return events
}

async function differencesIn(path: string): Promise<string[]> {
  const found: string[] = []
  for await (const difference of verifyDatabase(path)) found.push(difference)
  return found
}

describe('recover', () => {
  it('[SQ18] after a flipped bit in the WAL: what that bit did not hit is saved', async () => {
    const saved: number[] = []
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { folder, path } = copyOf(killed)
      flipBit(`${path}-wal`, seed)
      saved.push(await recovered(path, folder))
      rmSync(folder, { recursive: true })
    }
    const whole = saved.filter(events => events === total(logs)).length
    // A page of the WAL is usually written again later, and events are read from any image of their page. Few seeds may be
    // unlucky.
    expect(whole).toBeGreaterThan(inLongRun(SEEDS / 2, 0))
  })

  it.each<[string, (path: string) => void, number]>([
    ['a deleted -wal', path => rmSync(`${path}-wal`), 0.1],
    ['a -wal that is cut in half', path => truncateSync(`${path}-wal`, statSync(`${path}-wal`).size / 2), 0.5],
    ['the -wal of another database', path => copyFileSync(join(other, 'runsheet.db-wal'), `${path}-wal`), 0.1],
    ['a file that is cut in half', path => truncateSync(path, statSync(path).size / 2), 0.5],
    ['an emptied file', path => truncateSync(path, 0), 0.5],
    ['a deleted file', path => rmSync(path), 0.5],
    ['another database in its place', path => copyFileSync(join(other, 'runsheet.db'), path), 0.5],
  ])('[SQ18] after %s: what is left is saved', async (_, damage, share) => {
    const { folder, path } = copyOf(killed)
    damage(path)
    expect(await recovered(path, folder)).toBeGreaterThan(total(logs) * share)
    rmSync(folder, { recursive: true })
  })

  it('[SQ18] keeps templates, and keys where nothing was lost', async () => {
    const { folder, path } = copyOf(killed)
    // Lost by the database, but not from the WAL.
    rmSync(`${path}-shm`)
    flipBit(`${path}-wal`, 3)
    const { events, acknowledged } = recoverDatabase(path, new Date())
    const store = await openSqliteStore({ path })
    expect((await store.templates.list('local')).map(({ name }) => name)).toEqual(['party'])
    const at = { tenant: 'local', conversation: 'killed', once: { key: 'w7', bodyHash: '7' } }
    const { replayed } = await store.commit(at, () => ({ value: 0, discard: true }))
    expect(replayed).toBe(events >= acknowledged)
    await store.close()
    rmSync(folder, { recursive: true })
  })

  it('[SQ18] leaves a file alone in which nothing can be read', () => {
    const { folder, path } = copyOf(closed)
    truncateSync(path, 0)
    expect(() => recoverDatabase(path, new Date())).toThrow(/Nothing .* can be read/)
    expect(readdirSync(folder).sort()).toEqual(['runsheet.db', 'runsheet.db-head'])
    rmSync(folder, { recursive: true })
  })

  it('[SQ18] where everything was in a -wal that is gone: a start and recover make no file, and say how to begin anew', async () => {
    const { folder, path } = copyOf(other)
    rmSync(`${path}-wal`)
    const start = openSqliteStore({ path })
    const advice = 'move runsheet.db and runsheet.db-* away: the next start makes an empty database.'
    await expect(start).rejects.toMatchObject({ code: 'corrupt', message: expect.stringContaining(advice) })
    expect(existsSync(`${path}-wal`)).toBe(false)
    expect(() => recoverDatabase(path, new Date())).toThrow(advice)
    for (const name of readdirSync(folder)) if (/^runsheet\.db(-|$)/.test(name)) rmSync(join(folder, name))
    const store = await openSqliteStore({ path })
    expect(await wholeLog(store, { tenant: 'local', conversation: 'killed' })).toEqual([])
    await store.close()
    rmSync(folder, { recursive: true })
  })
})

describe('with JSON files', () => {
  it('[SQ18] what was lost from the log and is in the file comes back with the next read', async () => {
    const folder = scratchFolder()
    const path = join(folder, 'runsheet.db')
    const ref = { tenant: 'local', conversation: 'c1' }
    const store = await openFileStore({ data: folder })
    await store.commit(ref, run(openTurn('t1'), add('t1', 'first')))
    await store.close()
    const order = { store: 'json', at: folder, conversation: 'c1', from: 0, to: 1_000_000, tasks: true } as const
    const writer = runWriter(order)
    await writer.line(line => line.startsWith('ack 20 '))
    writer.process.kill('SIGKILL')
    await writer.ended
    rmSync(`${path}-wal`)
    rmSync(`${path}-shm`)
    await expect(openFileStore({ data: folder })).rejects.toMatchObject({ code: 'corrupt' })
    expect(recoverDatabase(path, new Date()).acknowledged).toBeGreaterThan(20)
    const again = await openFileStore({ data: folder })
    const titles = [...(await again.load(ref)).tasks.values()].map(({ title }) => title)
    expect(titles).toEqual(expect.arrayContaining(['first', 'task 0', 'task 19']))
    await again.close()
    rmSync(folder, { recursive: true })
  })
})

describe('the command line', () => {
  const cli = async (...args: string[]) => {
    const child = runCli(args)
    return { ...(await child.ended), stdout: child.lines.join('\n') }
  }

  it('[SQ18][FA5] a damaged database: serve says so in one line, verify names it, recover saves it, serve starts', async () => {
    const { folder, path } = copyOf(killed)
    rmSync(`${path}-wal`)
    rmSync(`${path}-shm`)
    const refused = await cli('serve', '--port', '0', '--data', folder)
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(
      /^runsheet: cannot open SQLite: \S+ is damaged and was left untouched\. .*"runsheet recover".* \(the last \d+ of its \d+ events are missing\. .*\)\n$/,
    )
    const damaged = await cli('verify', '--data', folder)
    expect([damaged.code, damaged.stdout]).toEqual([
      1,
      expect.stringMatching(/^runsheet\.db: [^\n]*events are missing[^]*1 difference\.\nTo save what can be read/),
    ])
    const { code, stdout } = await cli('recover', '--data', folder)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Recovered \d+ of \d+ events, 1 conversation, 1 template\.\nLost: \d+ events/)
    const server = runCli(['serve', '--port', '0', '--data', folder])
    await server.line(() => true)
    // While it runs.
    expect(await cli('verify', '--data', folder)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^SQLite: the file, its indexes and all checksums are whole; every log can be folded/,
      ),
    })
    expect((await cli('recover', '--data', folder)).stderr).toMatch(/a server runs on/)
    server.process.kill('SIGTERM')
    await server.ended
    expect((await cli('recover', '--data', folder)).stdout).toMatch(/is not damaged; nothing was changed/)
    rmSync(folder, { recursive: true })
  })

  it.each<[string, string]>([
    ['a title', "UPDATE conversations SET title = 'x' WHERE conversation = 'plan'"],
    ['a task that is not in the log', "UPDATE tasks SET id = id || 'x' WHERE seq = 5"],
    ['what a task is found by', "UPDATE search_documents SET tokens = 'x' WHERE kind = 1 AND seq = 5"],
    ['what cannot be found any more', 'DELETE FROM search_documents WHERE kind = 0'],
    ["a turn's status", "UPDATE turns SET status = 'finished'"],
    ['a review', `UPDATE reviews SET body = replace(body, 'Bake', 'Burn')`],
    ['a template', `UPDATE templates SET body = replace(body, 'cake', 'lake')`],
    ['an event', `UPDATE events SET data = replace(data, 'task 7', 'task 8') WHERE data LIKE '%task 7 %'`],
    ['the end of a log', 'DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)'],
  ])('[SQ17] verify finds %s that was changed behind our back', async (_, sql) => {
    const { folder, path } = copyOf(closed)
    const db = new DatabaseSync(path)
    db.exec(sql)
    db.close()
    expect((await differencesIn(path)).length).toBeGreaterThan(0)
    await expect(openSqliteStore({ path })).rejects.toMatchObject({ code: 'corrupt' })
    rmSync(folder, { recursive: true })
  })

  it('[SQ17] verify runs beside a process that writes', async () => {
    const folder = scratchFolder()
    const path = join(folder, 'runsheet.db')
    const writer = runWriter({ store: 'sqlite', at: path, conversation: 'c1', from: 0, to: 1_000_000, tasks: true })
    for (const ack of [5, 50, 100]) {
      await writer.line(line => line.startsWith(`ack ${ack} `))
      expect(await differencesIn(path)).toEqual([])
    }
    writer.process.kill('SIGKILL')
    await writer.ended
    expect(await differencesIn(path)).toEqual([])
    rmSync(folder, { recursive: true })
  })
})

it('[ST24] a program verifies its store, whichever it is', async () => {
  const runsheet = createRunsheet({ store: openMemoryStore() })
  await runsheet.conversation('c1').turn('t1').call('AddTask', { title: 'a' })
  expect(await runsheet.verify()).toEqual([])
  await runsheet.close()
})
