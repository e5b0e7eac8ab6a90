import { existsSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { note } from '../store/contract.ts'
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/store.ts'
import { verifyDatabase } from '../../src/store/sqlite/verify-database.ts'
import { inLongRun, runCli } from '../support/children.ts'
import { randomFrom } from '../support/damage.ts'
import { fault } from '../support/faults.ts'
import { scratchFolder } from '../support/scratch.ts'
import { serveWatched, type WatchedServer } from '../support/watched-server.ts'

fault('a -wal or -shm that is cut off under a server')

const ref = { tenant: 'local', conversation: 'c1' }
const CUT =
  'The end of the -wal of the database was cut off while it was open. Stop the server and run: runsheet recover'

let data: string
let path: string
let ends: (() => unknown)[]
beforeEach(() => {
  data = scratchFolder()
  path = join(data, 'runsheet.db')
  ends = []
})
afterEach(async () => {
  for (const end of ends.toReversed()) await end()
  rmSync(data, { recursive: true })
})

const walSize = (): number => statSync(`${path}-wal`).size

async function serve(): Promise<WatchedServer> {
  const server = await serveWatched(data)
  ends.push(() => server.child.process.kill('SIGKILL'))
  return server
}

/** What a start says. */
async function refusal(): Promise<string> {
  const child = runCli(['serve', '--port', '0', '--data', data])
  return (await child.ended).stderr
}

async function differences(): Promise<string[]> {
  const found: string[] = []
  for await (const difference of verifyDatabase(path)) found.push(difference)
  return found
}

const filesNow = (): unknown[] =>
  ['', '-wal', '-head'].map(suffix => existsSync(path + suffix) && readFileSync(path + suffix).toString('base64'))

describe('a -wal that is cut off while it is open', () => {
  it('[SQ20][FA5] under a server: writes and reads are refused, /readyz says why, and so does the next start', async () => {
    const server = await serve()
    for (let tasks = 0; tasks < 10; tasks += 1) await server.addTask()
    truncateSync(`${path}-wal`, Math.floor(walSize() / 2))
    const refused = { status: 503, code: 'replaced', message: CUT }
    await expect(server.addTask()).rejects.toMatchObject(refused)
    await expect(server.person.tasks('c1')).rejects.toMatchObject(refused)
    expect(await server.ready()).toEqual([503, CUT])
    expect(await server.stop()).toBe(0)
    expect(server.log().filter(({ msg }) => msg === 'storage failed')).toMatchObject([
      { err: { code: 'replaced', detail: 'runsheet.db-wal is shorter than it was' } },
    ])
    expect(await refusal()).toMatch(
      /^runsheet: cannot open SQLite: [^\n]+ is damaged [^\n]+ events are missing[^\n]+\n$/,
    )
  })

  it.each<[string, () => number]>([
    ['to nothing', () => 0],
    ['within its header', () => 10],
    ['in half', () => walSize() / 2],
    ['by its last page', () => walSize() - 4_096],
  ])('[SQ20][FA5] %s: nothing is acknowledged after it, and all files stay as they are', async (_, to) => {
    const stores = [await openSqliteStore({ path }), await openSqliteStore({ path })]
    for (const store of stores) for (let times = 0; times < 20; times += 1) await write(store, 1_000)
    // As a server does every 100 ms: what another process appends is known from then on.
    for (const store of stores) expect(store.lost()).toBeUndefined()
    truncateSync(`${path}-wal`, Math.floor(to()))
    const left = filesNow()
    for (const store of stores) await expect(write(store, 1_000)).rejects.toMatchObject({ code: 'replaced' })
    for (const store of stores) await expect(store.load(ref)).rejects.toMatchObject({ code: 'replaced' })
    for (const store of stores) await store.close()
    expect(filesNow()).toEqual(left)
    await expect(openSqliteStore({ path })).rejects.toMatchObject({ code: 'corrupt' })
  })

  it('[SQ20] after the last write: is noticed when it is closed, which does not count as a clean end', async () => {
    const store = await openSqliteStore({ path })
    for (let times = 0; times < 20; times += 1) await write(store, 1_000)
    truncateSync(`${path}-wal`, 0)
    await store.close()
    await expect(openSqliteStore({ path })).rejects.toMatchObject({ code: 'corrupt' })
  })

  it('[SQ20] by SQLite, which begins it again, or cuts it to its limit or to nothing: is no alarm', async () => {
    const random = randomFrom(5)
    const [one, two] = [await openSqliteStore({ path }), await openSqliteStore({ path })]
    const sizes: number[] = []
    for (let round = 0; round < inLongRun(200, 8); round += 1) {
      await write(random() < 0.5 ? one : two, random() < 0.1 ? 6_000_000 : Math.floor(random() * 200_000))
      sizes.push(walSize())
      if (random() > 0.2) continue
      const db = new DatabaseSync(path)
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      if (random() < 0.5) db.exec('UPDATE search_state SET indexed = indexed')
      db.close()
    }
    expect(Math.max(...sizes)).toBeGreaterThan(5_000_000)
    expect(one.lost() ?? two.lost()).toBeUndefined()
    await one.close()
    await two.close()
    expect(await differences()).toEqual([])
  })
})

it('[SQ20][FA1] a -shm that is cut off may end the server; nothing is lost, and the next start needs no recovery', async () => {
  const server = await serve()
  for (let tasks = 0; tasks < 10; tasks += 1) await server.addTask()
  truncateSync(`${path}-shm`, 0)
  // SQLite has it mapped: the system ends who reads what is gone (SIGBUS).
  await server.addTask().catch(() => {})
  server.child.process.kill('SIGKILL')
  await server.child.ended
  expect(await differences()).toEqual([])
  const again = await serve()
  expect((await again.person.tasks('c1')).tasks.length).toBeGreaterThanOrEqual(10)
  await again.addTask()
  expect(await again.stop()).toBe(0)
})

const write = (store: SqliteStore, characters: number): Promise<unknown> =>
  store.commit(ref, () => ({ events: [note('x'.repeat(characters))], value: null }))
