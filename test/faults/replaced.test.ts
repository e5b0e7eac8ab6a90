import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Client, createClient } from '../../src/client/client.ts'
import { add, openTurn, run } from '../store/contract.ts'
import { openFileStore } from '../../src/store/files/store.ts'
import { openSqliteStore, type SqliteFaultPoint } from '../../src/store/sqlite/store.ts'
import { type Child, CLI, inLongRun, runCli } from '../support/children.ts'
import { fault } from '../support/faults.ts'
import { hostOf, overStdio } from '../support/mcp.ts'
import { scratchFolder } from '../support/scratch.ts'

const ref = { tenant: 'local', conversation: 'c1' }
const DELETED = 'The database file was deleted or replaced. Restart the server; nothing can be saved until then.'

let scratch: string
let data: string
let path: string
let ends: (() => unknown)[]
beforeEach(() => {
  scratch = scratchFolder()
  data = join(scratch, 'data')
  path = join(data, 'runsheet.db')
  ends = []
})
afterEach(async () => {
  for (const end of ends.toReversed()) await end()
  rmSync(scratch, { recursive: true })
})

/** What can happen to the files of an open database: what it does, and what an operator reads about it in the log. */
const LOSSES: readonly [title: string, lose: () => void, detail: RegExp][] = [
  ['the folder is deleted', () => removeAtOnce(data), /^runsheet\.db is gone$/],
  [
    'the folder is deleted and made again',
    () => {
      removeAtOnce(data)
      mkdirSync(data)
    },
    /^runsheet\.db is gone$/,
  ],
  ['the folder is moved', () => renameSync(data, join(scratch, 'elsewhere')), /^runsheet\.db is gone$/],
  [
    'the folder is moved and copied back',
    () => {
      renameSync(data, join(scratch, 'elsewhere'))
      cpSync(join(scratch, 'elsewhere'), data, { recursive: true })
    },
    // A look in between finds it gone.
    /^runsheet\.db is (another file now|gone)$/,
  ],
  ['the file is deleted', () => rmSync(path), /^runsheet\.db is gone$/],
  [
    'another file is moved over it',
    () => {
      copyFileSync(path, join(scratch, 'backup.db'))
      renameSync(join(scratch, 'backup.db'), path)
    },
    /^runsheet\.db is another file now; the -wal of the old one is kept as runsheet\.db-wal\.replaced-\d+$/,
  ],
  [
    'the folder becomes a link to another one',
    () => {
      renameSync(data, join(scratch, 'elsewhere'))
      cpSync(join(scratch, 'elsewhere'), join(scratch, 'other'), { recursive: true })
      symlinkSync(join(scratch, 'other'), data)
    },
    // A look in between finds it gone.
    /^runsheet\.db is (another file now|gone)$/,
  ],
  ['its -wal is deleted', () => rmSync(`${path}-wal`), /^runsheet\.db-wal is gone$/],
  ['its -shm is deleted', () => rmSync(`${path}-shm`), /^runsheet\.db-shm is gone$/],
]

interface Served {
  readonly child: Child
  readonly url: string
  readonly person: Client
  readonly agent: Client
  readonly stop: () => Promise<{ code: number | null; stderr: string }>
}

/** `runsheet serve` in a process of its own. */
async function serve(store: 'sqlite' | 'file' = 'sqlite', folder = data): Promise<Served> {
  const child = runCli(['serve', '--port', '0', '--data', folder, '--store', store])
  const stop = async (): Promise<{ code: number | null; stderr: string }> => {
    child.process.kill('SIGTERM')
    return child.ended
  }
  ends.push(stop)
  const [url = ''] = /http:\S+?(?=#)/.exec(await child.line(() => true)) ?? []
  const client = (token: string): Client =>
    createClient({ url, token: readFileSync(join(folder, token), 'utf8').trim() })
  return { child, url, person: client('person-token'), agent: client('agent-token'), stop }
}

const addTask = ({ agent }: Served, title: string): Promise<unknown> =>
  agent.call('task_list', 'AddTask', { session_id: 'c1', turn_id: 't1', arguments: { title } })

const ready = async ({ url }: Served): Promise<[number, unknown]> => {
  const answer = await fetch(new URL('/readyz', url))
  return [answer.status, await answer.json()]
}

fault('files that are deleted, moved or replaced under a server')

/** Variants of a fault that another test here has: only in `npm run test:long`. */
const long = it.runIf(process.env['LONG'])

describe.each(['sqlite', 'file'] as const)('runsheet serve --store %s', kind => {
  // Both have their log in the same database: where time is short, two losses are enough for the second one.
  it.each(inLongRun(LOSSES, kind === 'sqlite' ? LOSSES.slice(3) : LOSSES.slice(4, 5)))(
    '[SQ11] %s: writes are refused, /readyz says why, reads go on, and it is logged once',
    async (_, lose, detail) => {
      const server = await serve(kind)
      await addTask(server, 'before')
      expect(await ready(server)).toEqual([200, { status: 'ok' }])
      lose()
      const refused = { status: 503, code: 'replaced', message: DELETED }
      for (let times = 0; times < 2; times += 1) {
        await expect(addTask(server, 'after')).rejects.toMatchObject(refused)
        await expect(server.person.addTask('c1', { title: 'after' })).rejects.toMatchObject(refused)
        await expect(server.person.setPolicy('c1', { gate: true })).rejects.toMatchObject(refused)
        await expect(server.person.saveTemplate('a', [{ title: 'x' }])).rejects.toMatchObject(refused)
        expect(await ready(server)).toEqual([503, { error: { code: 'not_ready', message: DELETED } }])
        expect((await server.person.tasks('c1')).tasks.map(({ title }) => title)).toEqual(['before'])
      }
      const { code, stderr } = await server.stop()
      expect(code).toBe(0)
      const logged = stderr.split('\n').filter(line => line.startsWith('{'))
      expect(logged.map(line => JSON.parse(line))).toEqual([
        expect.objectContaining({
          msg: 'storage failed',
          err: { code: 'replaced', reason: DELETED, detail: expect.stringMatching(detail), file: 'runsheet.db' },
        }),
      ])
    },
  )
})

describe('runsheet serve, after that', () => {
  it('starts on the file that was moved over its database, without the old -wal', async () => {
    await filled(join(scratch, 'other'), 'other')
    const server = await serve()
    await addTask(server, 'before')
    renameSync(join(scratch, 'other', 'runsheet.db'), path)
    await expect(addTask(server, 'after')).rejects.toMatchObject({ code: 'replaced' })
    await server.stop()
    const again = await serve()
    expect((await again.person.tasks('c1')).tasks.map(({ title }) => title)).toEqual(['other'])
    expect(readdirSync(data)).toContainEqual(expect.stringMatching(/^runsheet\.db-wal\.replaced-\d+$/))
  })

  long('loses nothing if only the -wal was deleted and it is stopped properly', async () => {
    const server = await serve()
    await addTask(server, 'before')
    rmSync(`${path}-wal`)
    await expect(addTask(server, 'after')).rejects.toMatchObject({ code: 'replaced' })
    await server.stop()
    const again = await serve()
    expect((await again.person.tasks('c1')).tasks.map(({ title }) => title)).toEqual(['before'])
  })

  it('works in the folder that was moved, with all that was acknowledged and nothing that was refused', async () => {
    const server = await serve()
    await addTask(server, 'before')
    const moved = join(scratch, 'moved')
    renameSync(data, moved)
    await expect(addTask(server, 'after')).rejects.toMatchObject({ code: 'replaced' })
    await server.stop()
    const again = await serve('sqlite', moved)
    expect((await again.person.tasks('c1')).tasks.map(({ title }) => title)).toEqual(['before'])
  })
})

describe('another process on the folder', () => {
  it('runsheet mcp refuses as well, and says so on stderr', async () => {
    const server = await serve()
    const host = await overStdio(data, hostOf({ era: '2025' }), ['--toolset', 'task_list'], CLI)
    ends.push(() => host.client.close())
    expect((await host.call('AddTask', { title: 'before' })).isError).toBe(false)
    rmSync(data, { recursive: true })
    for (let times = 0; times < 2; times += 1) {
      expect(await host.call('AddTask', { title: 'after' })).toMatchObject({ text: `Error: ${DELETED}` })
    }
    await expect(addTask(server, 'after')).rejects.toMatchObject({ code: 'replaced' })
    // The sweep of deadlines looks every two seconds.
    await expect
      .poll(host.stderr, { timeout: 10_000 })
      .toContain(`runsheet: runsheet.db: ${DELETED} (runsheet.db is gone)\n`)
  })
})

describe('a database', () => {
  it.each(['begun', 'written'] as const)(
    '[SQ11] that is deleted when a commit is %s: the call is not acknowledged',
    async at => {
      let point: SqliteFaultPoint | undefined
      const store = await openSqliteStore({
        path,
        onFaultPoint: reached => {
          if (reached === point) rmSync(data, { recursive: true })
        },
      })
      ends.push(() => store.close())
      await store.commit(ref, run(openTurn('t1')))
      point = at
      await expect(store.commit(ref, run(add('t1', 'a')))).rejects.toMatchObject({ code: 'replaced' })
      point = undefined
      await expect(store.commit(ref, run(add('t1', 'b')))).rejects.toMatchObject({ code: 'replaced' })
      await expect(store.claim('r', 1_000, { abilities: ['drive'] })).rejects.toMatchObject({ code: 'replaced' })
      await expect(store.due(1)).rejects.toMatchObject({ code: 'replaced' })
      const text = { turn_id: 't1', message_id: 'm', text: 'x' }
      await expect(store.live.write(ref, text)).rejects.toMatchObject({ code: 'replaced' })
      expect((await store.load(ref)).turns.size).toBe(1)
    },
  )

  it('[SQ11] stays refused when the very file comes back: others may have written meanwhile', async () => {
    const store = await openSqliteStore({ path })
    ends.push(() => store.close())
    await store.commit(ref, run(openTurn('t1')))
    renameSync(data, join(scratch, 'elsewhere'))
    await expect(store.commit(ref, run(add('t1', 'a')))).rejects.toMatchObject({ code: 'replaced' })
    renameSync(join(scratch, 'elsewhere'), data)
    await expect(store.commit(ref, run(add('t1', 'a')))).rejects.toMatchObject({ code: 'replaced' })
  })
})

describe('the folder of the task files', () => {
  const folder = (): string => join(data, '.agents', 'tasks')
  const moved = (): string => join(scratch, 'tasks')

  it.each<[string, () => void]>([
    ['deleted', () => rmSync(folder(), { recursive: true })],
    ['deleted with its parent', () => rmSync(join(data, '.agents'), { recursive: true })],
    ['moved', () => renameSync(folder(), moved())],
    [
      'replaced by another',
      () => {
        renameSync(folder(), moved())
        mkdirSync(folder())
      },
    ],
  ])('%s under a server: its lists are empty, and the next write creates it', async (_, lose) => {
    const server = await serve('file')
    await addTask(server, 'before')
    lose()
    expect((await server.person.tasks('c1')).tasks).toEqual([])
    await addTask(server, 'after')
    expect((await ready(server))[0]).toBe(200)
    expect(JSON.parse(readFileSync(join(folder(), 'c1.json'), 'utf8'))).toMatchObject({ tasks: [{ title: 'after' }] })
    if (existsSync(moved())) expect(readFileSync(join(moved(), 'c1.json'), 'utf8')).toContain('before')
    expect((await server.stop()).stderr).not.toContain('storage failed')
  })

  long('[FI16] replaced by a link under a server: the link is not followed, and nothing is written', async () => {
    const server = await serve('file')
    await addTask(server, 'before')
    renameSync(folder(), moved())
    symlinkSync(moved(), folder())
    expect(await addTask(server, 'after')).toEqual({ result: 'Error: Task file is corrupt or invalid.' })
    expect(readdirSync(moved())).toEqual(['c1.json'])
    rmSync(folder())
    renameSync(moved(), folder())
    await addTask(server, 'after')
    expect((await server.person.tasks('c1')).tasks.map(({ title }) => title)).toEqual(['before', 'after'])
    await server.stop()
  })

  long('without its lock file keeps nobody out, so nothing is written', async () => {
    const store = await openFileStore({ data })
    ends.push(() => store.close())
    await store.commit(ref, run(openTurn('t1')))
    rmSync(join(data, 'files.lock'))
    const refused = {
      code: 'replaced',
      message: expect.stringMatching(/^The lock file of the data folder was deleted/),
    }
    await expect(store.commit(ref, run(add('t1', 'a')))).rejects.toMatchObject(refused)
    await expect(store.due(1)).rejects.toMatchObject(refused)
    expect((await store.load(ref)).turns.size).toBe(1)
  })

  it('moved with its database, also in the middle of a call: the database is the reason', async () => {
    const store = await openFileStore({ data })
    ends.push(() => store.close())
    await store.commit(ref, run(openTurn('t1')))
    const due = store.due(1)
    renameSync(data, join(scratch, 'moved'))
    await expect(due).rejects.toMatchObject({ code: 'replaced', message: DELETED })
  })
})

/** In one step: a file that is gone before its folder counts as an emptied list. */
function removeAtOnce(path: string): void {
  const trash = join(scratch, 'trash')
  renameSync(path, trash)
  rmSync(trash, { recursive: true })
}

/** A closed database with tasks of that title. */
async function filled(folder: string, title: string, tasks = 1): Promise<void> {
  const store = await openSqliteStore({ path: join(folder, 'runsheet.db') })
  await store.commit(ref, run(openTurn('t1')))
  for (let left = tasks; left > 0; left -= 20) {
    await store.commit(ref, run(add('t1', ...Array.from({ length: Math.min(left, 20) }, () => title))))
  }
  await store.close()
}
