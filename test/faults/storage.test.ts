import { execFileSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readdirSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRunsheet } from '../../src/index.ts'
import { note } from '../store/contract.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { CLI, runCli } from '../support/children.ts'
import { fault } from '../support/faults.ts'
import { hostOf, overHttp, overStdio } from '../support/mcp.ts'
import { mountSmallDisk, whyNoMounts } from '../support/mounts.ts'
import { describePostgres, ownDatabase, sql } from '../support/postgres-store.ts'
import { scratchFolder } from '../support/scratch.ts'
import { storeWith } from '../support/sse.ts'
import { serveWatched, type WatchedServer } from '../support/watched-server.ts'

const FULL = 'The disk is full; nothing was written.'
const IO = 'The database could not be read or written.'
const DAMAGED = 'The database is damaged; nothing was written.'
const whyNoLimits =
  process.platform === 'linux' && existsSync('/usr/bin/prlimit') ? undefined : 'needs Linux with prlimit'

let data: string
let ends: (() => unknown)[]
beforeEach(() => {
  data = scratchFolder()
  ends = []
})
afterEach(async () => {
  for (const end of ends.toReversed()) await end()
  rmSync(data, { recursive: true })
})

async function serve(args: readonly string[] = [], prefix: readonly string[] = []): Promise<WatchedServer> {
  const server = await serveWatched(data, args, prefix)
  ends.push(async () => expect(await server.stop()).toBe(0))
  return server
}

const rows = (details: string): { title: string; details: string }[] =>
  Array.from({ length: 6 }, (_, index) => ({ title: `Task ${index}`, details }))

fault('storage that fails: full, limited, damaged, read-only')

describe.each([
  ['sqlite', /^SQLite 13: database or disk is full$/],
  ['file', /^(SQLite 13: .*|ENOSPC: no space left on device, .*)$/],
] as const)('a full disk under --store %s', (store, detail) => {
  it('[HT26] whichever edge meets it: one line in the log, /readyz 503 until there is room', async ({ skip }) => {
    if (whyNoMounts) return skip(whyNoMounts)
    const disk = mountSmallDisk(data, 8)
    ends.push(() => disk.unmount())
    const server = await serve(['--store', store, '--log', 'info'])
    await server.addTask()
    expect(await server.ready()).toEqual([200, undefined])
    const headers = { authorization: `Bearer ${server.tokens.agent}`, 'runsheet-session': 'c3' }
    const host = await overHttp(server, hostOf({ era: '2026' }), { headers })
    ends.push(() => host.client.close())
    const makeRoom = fill(data)
    const large = 'x'.repeat(7_000)
    const refused = { status: 507, code: 'full', message: FULL }
    for (let times = 0; times < 3; times += 1) {
      await expect(server.addTask(large)).rejects.toMatchObject(refused)
      await expect(server.person.addTask('c1', { title: 'x', details: large })).rejects.toMatchObject(refused)
      await expect(server.person.saveTemplate('a', rows(large))).rejects.toMatchObject(refused)
      expect(await host.call('plan', { tasks: rows(large) })).toMatchObject({ isError: true, text: `Error: ${FULL}` })
      expect(await server.ready()).toEqual([503, FULL])
    }
    expect(server.log()).toEqual([
      expect.objectContaining({
        level: 50,
        msg: 'storage failed',
        err: { code: 'full', reason: FULL, detail: expect.stringMatching(detail), file: 'runsheet.db' },
      }),
    ])
    makeRoom()
    expect(await server.ready()).toEqual([200, undefined])
    await server.addTask(large)
    const [, again, ...more] = server.log()
    expect(again).toMatchObject({ level: 40, msg: 'storage works again', err: { code: 'full' } })
    expect(Number(again?.['failures'])).toBeGreaterThanOrEqual(12)
    expect(more).toEqual([])
    expect(readdirSync(data).filter(name => name.includes('room'))).toEqual([])
  })

  it('[BK1] can be backed up to another disk', async ({ skip }) => {
    if (whyNoMounts) return skip(whyNoMounts)
    const disk = mountSmallDisk(data, 8)
    ends.push(() => disk.unmount())
    const server = await serve(['--store', store])
    await server.addTask()
    fill(data)
    const elsewhere = scratchFolder()
    ends.push(() => rmSync(elsewhere, { recursive: true }))
    const backup = runCli(['backup', join(elsewhere, 'backup.db'), '--data', data, '--store', store])
    expect(await backup.ended).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('a limit on the size of files', () => {
  it('[HT26] under a server and its turns: one line in the log, /readyz 503 until it is lifted', async ({ skip }) => {
    if (whyNoLimits) return skip(whyNoLimits)
    const server = await serve([], ['prlimit', '--fsize=300000:', '--'])
    await expect.poll(() => refusal(server.addTask('x'.repeat(7_000)))).toBe(IO)
    await expect(server.person.chat({ session_id: 'c2', turn_id: 't2', message: 'y'.repeat(7_000) })).rejects.toThrow(
      IO,
    )
    expect(await server.ready()).toEqual([503, IO])
    expect(server.log()).toMatchObject([
      {
        msg: 'storage failed',
        err: { code: 'io', detail: 'SQLite 778: disk I/O error', file: 'runsheet.db' },
      },
    ])
    expect(JSON.stringify(server.log())).not.toContain('stack')
    execFileSync('prlimit', ['--fsize=unlimited:', '--pid', String(server.child.process.pid)])
    expect(await server.ready()).toEqual([200, undefined])
    await server.addTask()
    expect(server.log()).toHaveLength(2)
  })

  it('under `runsheet mcp`: one line on stderr, and one when it works again', async ({ skip }) => {
    if (whyNoLimits) return skip(whyNoLimits)
    const host = await overStdio(data, hostOf({ era: '2025' }), ['--toolset', 'task_list'], CLI)
    ends.push(() => host.client.close())
    const add = (description = ''): Promise<{ text: string }> => host.call('AddTask', { title: 'x', description })
    const limit = (bytes: string): Buffer => execFileSync('prlimit', [`--fsize=${bytes}:`, '--pid', String(host.pid)])
    await add()
    limit('100000')
    await expect.poll(async () => (await add('x'.repeat(7_000))).text).toBe(`Error: ${IO}`)
    expect((await add('x'.repeat(7_000))).text).toBe(`Error: ${IO}`)
    limit('unlimited')
    await add()
    const told = (): string[] =>
      host
        .stderr()
        .split('\n')
        .filter(line => line.startsWith('runsheet: '))
    await expect
      .poll(told)
      .toEqual([`runsheet: runsheet.db: ${IO} (SQLite 778: disk I/O error)`, 'runsheet: Storage works again.'])
  })
})

describe('a damaged database', () => {
  it('[HT26] under a server: the log has the detail and the file, and /readyz stays 503', async () => {
    const server = await serve()
    for (let tasks = 0; tasks < 40; tasks += 1) await server.addTask('x'.repeat(7_000))
    overwrite(join(data, 'runsheet.db'))
    await expect(server.person.tasks('c1')).rejects.toThrow(DAMAGED)
    expect(await server.ready()).toEqual([503, DAMAGED])
    expect(await server.ready()).toEqual([503, DAMAGED])
    expect(server.log()).toMatchObject([
      {
        msg: 'storage failed',
        err: { code: 'corrupt', detail: 'SQLite 11: database disk image is malformed', file: 'runsheet.db' },
      },
    ])
  })

  it('[SQ3] at the start: one line with what is wrong with it', async () => {
    const path = join(data, 'runsheet.db')
    const store = await openSqliteStore({ path })
    for (let count = 0; count < 100; count += 1) {
      await store.commit({ tenant: 'local', conversation: 'c1' }, () => ({
        events: [note('x'.repeat(900))],
        value: null,
      }))
    }
    await store.close()
    const file = openSync(path, 'r+')
    writeSync(file, Buffer.alloc(8_192, 0xff), 0, 8_192, statSync(path).size - 16_384)
    closeSync(file)
    const { code, stderr } = await runCli(['serve', '--port', '0', '--data', data]).ended
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^runsheet: cannot open SQLite: \S+ is damaged and was left untouched\. [^\n]+ \([^\n]+\)\n$/,
    )
  })
})

it('the library: onError hears of a failure once, also where a tool answered it to the model', async () => {
  const inner = await openSqliteStore({ path: join(data, 'runsheet.db') })
  const full = (): StoreError => new StoreError('full', FULL, { cause: new Error('ENOSPC: no space left on device') })
  const store = storeWith(inner, { commit: () => Promise.reject(full()), probe: () => Promise.reject(full()) })
  const heard: unknown[] = []
  const runsheet = createRunsheet({ store, onError: error => heard.push(error), policy: { review: false } })
  ends.push(() => runsheet.close())
  const turn = runsheet.conversation('c1').turn('t1')
  for (let times = 0; times < 3; times += 1) {
    expect(await turn.call('plan', { tasks: [{ title: 'One' }] })).toBe(`Error: ${FULL}`)
  }
  expect(heard).toMatchObject([{ name: 'StoreError', code: 'full', detail: 'ENOSPC: no space left on device' }])
})

describePostgres('PostgreSQL that can be written to no more', () => {
  it('[HT26] one line in the log, /readyz 503 with the reason, 200 once it can', async () => {
    const url = await ownDatabase()
    const server = await serve(['--store', url])
    await server.addTask()
    expect(await server.ready()).toEqual([200, undefined])
    const database = new URL(url).pathname.slice(1)
    const connectAnew = `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`
    // Committed first: otherwise a new connection may still be as before.
    await sql(url, `ALTER DATABASE ${database} SET default_transaction_read_only = on`)
    await sql(url, connectAnew)
    for (let times = 0; times < 3; times += 1) {
      expect(await refusal(server.addTask())).toBe('The database is read-only.')
      expect(await server.ready()).toEqual([503, 'The database is read-only.'])
    }
    const failures = (): unknown[] => server.log().filter(({ msg }) => msg === 'storage failed')
    expect(failures()).toMatchObject([
      { err: { code: 'readonly', detail: expect.stringMatching(/^SQLSTATE 25006: cannot execute .* read-only/) } },
    ])
    const writable = `${url}?options=-c%20default_transaction_read_only%3Doff`
    await sql(writable, `ALTER DATABASE ${database} RESET ALL`)
    await sql(writable, connectAnew)
    await expect.poll(server.ready).toEqual([200, undefined])
    await server.addTask()
    // Connections that were cut may fail once more; asking for readiness finds that they work again.
    const lastLine = async (): Promise<unknown> => (await server.ready()) && server.log().at(-1)
    await expect.poll(lastLine, { timeout: 10_000 }).toMatchObject({ msg: 'storage works again' })
  })
})

const refusal = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'nothing was refused',
    (error: Error) => error.message,
  )

/** Takes all the room that there is; returns how to give it back. */
function fill(folder: string): () => void {
  const ballast = join(folder, 'ballast')
  for (const size of [65_536, 4_096]) {
    try {
      for (;;) writeFileSync(ballast, Buffer.alloc(size), { flag: 'a' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }
  return () => rmSync(ballast)
}

/** All pages but the first, by others of the same size, as a disk might. */
function overwrite(path: string): void {
  const db = new DatabaseSync(path, { timeout: 5_000 })
  // Who has it open forgets the pages that it has read when another connection writes.
  db.exec(
    `INSERT INTO keys (tenant, conversation, key, body_hash, value) VALUES ('', '', 'another', '', ''); PRAGMA wal_checkpoint(TRUNCATE)`,
  )
  const { size } = statSync(path)
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(size - 4_096, 0xff), 0, size - 4_096, 4_096)
  closeSync(file)
  db.close()
}
