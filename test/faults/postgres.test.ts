import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { type Child, inLongRun, runCli, runWriter } from '../support/children.ts'
import { openTurn, run } from '../store/contract.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { answered, fault, held } from '../support/faults.ts'
import { muteProxy, type Way } from '../support/mute-proxy.ts'
import { describePostgres, ownDatabase, sql } from '../support/postgres-store.ts'
import { scratchFolder } from '../support/scratch.ts'
import { atTestEnd } from '../support/test-end.ts'
import { Scene } from '../support/turn-scene.ts'
import { STORIES } from '../support/turn-story.ts'
import { SCHEMA } from '../../src/store/postgres/schema.ts'

const WRITERS = 30

/** Both servers listen. */
const LISTENING = `SELECT FROM pg_stat_activity WHERE datname = current_database()
  AND application_name = 'runsheet-listen' AND query LIKE '%xmin%' AND state = 'idle'`

const WAITING = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`

interface Node {
  readonly url: string
  readonly ask: (method: string, path: string, body?: unknown) => Promise<Response>
  readonly status: (path: string) => Promise<number>
  readonly kill: () => void
}

/** `runsheet serve` in a process of its own. */
async function serve(store: string): Promise<Node> {
  const data = scratchFolder()
  const child: Child = runCli(['serve', '--port', '0', '--data', data, '--store', store, '--log', 'silent'])
  atTestEnd(async () => {
    child.process.kill('SIGKILL')
    await child.ended
    rmSync(data, { recursive: true })
  })
  const [url = ''] = /http:\S+?(?=#)/.exec(await child.line(() => true)) ?? []
  const authorization = `Bearer ${readFileSync(join(data, 'person-token'), 'utf8').trim()}`
  const ask: Node['ask'] = (method, path, body) =>
    answered(
      fetch(new URL(path, url), {
        method,
        headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    )
  return {
    url,
    ask,
    status: async path => (await ask('GET', path)).status,
    kill: () => void child.process.kill('SIGKILL'),
  }
}

/** A database with conversations that take tasks. */
async function conversations(count: number): Promise<string> {
  const url = await ownDatabase()
  const store = await openPostgresStore({ url })
  for (let n = 0; n < count; n += 1) {
    await store.commit({ tenant: 'local', conversation: `c${n}` }, run(openTurn('t1')))
  }
  await store.close()
  return url
}

const tasks = (number: number): string => `/api/sessions/c${number}/tasks`

/** The answer to a new task, in short: see `outcomeOf`. */
const add = (node: Node, number: number, title: string): Promise<string> =>
  outcomeOf(node.ask('POST', tasks(number), { title }))

/** Answers in short: the status, the code of an error, and whether it says when to retry. */
async function outcomeOf(asked: Promise<Response>): Promise<string> {
  const response = await asked
  const body = (await response.json()) as { error?: { code: string } }
  const retry = response.headers.has('retry-after') ? ' retry' : ''
  return `${response.status}${body.error ? ` ${body.error.code}` : ''}${retry}`
}

/** `expect.poll` does not work in concurrent tests. */
const until = (holds: () => Promise<void>): Promise<void> => vi.waitFor(holds, { timeout: 20_000, interval: 50 })

/** Reads a stream until its text is as wanted. */
async function read(response: Response, fits: (text: string) => boolean): Promise<void> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    if (fits(text)) return
  }
  throw new Error(`the stream ended first, after: ${text}`)
}

/** Locks every row of the tables that are written to, until the function is called. */
async function lockRows(url: string): Promise<() => Promise<void>> {
  const marker = `holding-${Math.random()}`
  const held = sql(
    Object.assign(new URL(url), { search: `?application_name=${marker}` }).href,
    `BEGIN; SELECT FROM ${SCHEMA}.conversations FOR UPDATE; SELECT FROM ${SCHEMA}.turns FOR UPDATE; SELECT pg_sleep(300)`,
  ).catch(() => [])
  const where = `application_name = '${marker}' AND wait_event = 'PgSleep'`
  await until(async () => expect(await sql(url, `SELECT FROM pg_stat_activity WHERE ${where}`)).toHaveLength(1))
  return async () => {
    await sql(url, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE ${where}`)
    await held
  }
}

describePostgres('a process on PostgreSQL', () => {
  fault('a process that closes its store and ends (postgres)')
  it('a process that closes its store waits for that, and ends with 0', async () => {
    const { url } = await muteProxy(await ownDatabase())
    for (let times = 0; times < inLongRun(10, 2); times += 1) {
      const writer = runWriter({ store: 'postgres', at: url, conversation: 'c', from: 0, to: 30, abreast: 3 })
      expect(await writer.ended).toMatchObject({ code: 0 })
      expect(writer.lines.at(-1)).toBe('done')
      held()
    }
  })
})

describePostgres.concurrent('a server whose rows are locked by others', () => {
  fault('a server whose rows are locked by others (postgres)')
  it(`answers ${WRITERS} writers, and those behind them, with 503 and Retry-After; reads and readiness go on`, async () => {
    const url = await conversations(WRITERS)
    const node = await serve(url)
    const numbers = Array.from({ length: WRITERS }, (_, index) => index)
    const unlock = await lockRows(url)
    const writing = numbers.map(number => add(node, number, 'b'))
    // Others come while the first ones wait for their locks: they wait for those.
    await until(async () => expect(await sql(url, WAITING)).not.toHaveLength(0))
    const behind = numbers.map(number => add(node, number % 3, 'c'))
    expect(await node.status(tasks(0))).toBe(200)
    expect(await node.status('/readyz')).toBe(200)
    expect(new Set(await Promise.all([...writing, ...behind]))).toEqual(new Set(['503 busy retry']))
    await unlock()
    expect(new Set(await Promise.all(numbers.map(number => add(node, number, 'd'))))).toEqual(new Set(['201']))
  })
})

describePostgres.concurrent('a process that is frozen inside a commit', () => {
  fault('a process frozen within a transaction (postgres)')
  it('[FA2] blocks the others no longer than its transaction may be idle', async () => {
    const url = await conversations(1)
    const node = await serve(url)
    const frozen = runWriter({
      store: 'postgres',
      at: url,
      conversation: 'c0',
      from: 0,
      to: 1,
      dieAt: { point: 'written', nth: 1, signal: 'SIGSTOP' },
    })
    atTestEnd(async () => {
      frozen.process.kill('SIGKILL')
      await frozen.ended
    })
    await frozen.line(line => line === 'at written')
    const during = await Promise.all(Array.from({ length: WRITERS }, (_, n) => add(node, 0, `${n}`)))
    for (const outcome of during) expect(['201', '503 busy retry']).toContain(outcome)
    expect(await add(node, 0, 'after')).toBe('201')
    frozen.process.kill('SIGCONT')
    // Its transaction was rolled back: it writes again, or is told so if its time is over. Neither is in doubt.
    const { code, stderr } = await frozen.ended
    if (code !== 0) expect(stderr).toContain('StoreError')
    expect(stderr).not.toContain('unknown')
    const rows = await sql(url, `SELECT seq FROM ${SCHEMA}.events WHERE conversation = 'c0' ORDER BY seq`)
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1))
  })
})

describePostgres.concurrent('two nodes as they are set up by the docs', () => {
  fault('kill -9 of a node that is set up by the docs (postgres)')
  it('[TR21] the turn of one that is killed is continued by the other, with the demo model, too', async () => {
    const url = await ownDatabase()
    const [first, second] = [await serve(url), await serve(url)]
    const asked = await first.ask('POST', '/api/chat', {
      session_id: 'c',
      turn_id: 't1',
      message: 'Compute 12*7',
      review: false,
    })
    first.kill()
    expect(asked.status).toBe(200)
    const statuses = async (): Promise<unknown> => {
      const { turns } = (await (await second.ask('GET', '/api/sessions/c')).json()) as { turns: { status: string }[] }
      return turns.map(({ status }) => status)
    }
    await until(async () => expect(await statuses()).toEqual(['done']))
  })
})

describePostgres.concurrent('a server whose connections go mute', () => {
  fault('a server whose connections to PostgreSQL go mute')
  const ways: readonly Way[] = inLongRun(['out', 'back', 'both'], ['back'])

  it.each(ways)('[PG9] (%s, all of them) answers every request, and works again when the line does', async way => {
    const proxy = await muteProxy(await conversations(2))
    const node = await serve(proxy.url)
    expect(await add(node, 0, 'a')).toBe('201')
    proxy.mute({ way })
    const asked = [
      outcomeOf(node.ask('GET', tasks(0))),
      outcomeOf(node.ask('GET', '/readyz')),
      outcomeOf(node.ask('GET', '/api/search?q=a')),
      outcomeOf(node.ask('GET', '/api/tasks?q=a')),
      add(node, 0, 'b'),
      add(node, 1, 'b'),
    ]
    const [read, ready, found, listed, ...writes] = await Promise.all(asked)
    expect(ready).toBe('503 not_ready')
    for (const answer of [read, found, listed]) expect(['503 io retry', '503 busy retry']).toContain(answer)
    for (const write of writes) expect(['503 io retry', '503 unknown_outcome']).toContain(write)
    proxy.heal()
    await until(async () => expect(await node.status('/readyz')).toBe(200))
    expect(await add(node, 0, 'c')).toBe('201')
  })

  it.each(ways)('[PG9] (%s, the open ones) answers in time, and goes on over new ones', async way => {
    const proxy = await muteProxy(await conversations(10))
    const node = await serve(proxy.url)
    const numbers = Array.from({ length: 10 }, (_, index) => index)
    await Promise.all(numbers.map(number => add(node, number, 'a')))
    proxy.mute({ way, which: 'open' })
    const asked = numbers.flatMap(number => [outcomeOf(node.ask('GET', tasks(number))), add(node, number, 'b')])
    const started = performance.now()
    await Promise.all(asked)
    expect(performance.now() - started).toBeLessThan(5_500)
    const again = numbers.flatMap(number => [outcomeOf(node.ask('GET', tasks(number))), add(node, number, 'c')])
    expect(new Set(await Promise.all(again))).toEqual(new Set(['200', '201']))
    await until(async () => expect(await node.status('/readyz')).toBe(200))
  })

  it('[ST8] hears the writes of another server', async () => {
    const url = await conversations(1)
    const proxy = await muteProxy(url)
    const [reader, writer] = [await serve(proxy.url), await serve(url)]
    const stream = await reader.ask('GET', '/api/sessions/c0/events')
    const heard = read(stream, text => text.includes('while it was mute'))
    await until(async () => expect(await sql(url, LISTENING)).toHaveLength(2))
    proxy.mute({ which: 'open' })
    expect(await add(writer, 0, 'while it was mute')).toBe('201')
    await heard
  })
})

describePostgres.concurrent('a node that goes mute inside a commit', () => {
  fault('a driver that goes mute within a commit (postgres)')
  const lines = STORIES.reviewed.commits.map((line, index) => [index + 1, line] as const)
  const some = inLongRun(
    lines,
    lines.filter(([nth]) => nth === 5),
  )

  it.each(some)('[PG9][TR21] (%i: %s) is relieved by another one, whose connections go mute as well', nth =>
    Scene.play(
      STORIES.reviewed,
      async scene => {
        const [first, second] = [await muteProxy(scene.at), await muteProxy(scene.at)]
        const reader = await scene.start()
        const child = scene.child({ at: first.url, endAt: { when: 'before', nth, signal: 'SIGSTOP' } })
        await child.line(line => line.startsWith('at '))
        first.mute()
        child.process.kill('SIGCONT')
        const other = scene.child({ at: second.url })
        await other.line(line => line === 'ready')
        second.mute({ which: 'open' })
        await scene.check(reader)
      },
      'postgres',
    ),
  )
})
