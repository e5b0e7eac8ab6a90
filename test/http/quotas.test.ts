import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createRunsheet, openMemoryStore } from '../../src/index.ts'
import { createHandler } from '../../src/library/http.ts'
import { fault } from '../support/faults.ts'
import { figuresOf } from '../support/figures.ts'
import { type Served, serveProcess } from '../support/served.ts'

type Who = 'person' | 'agent'

async function served(...args: string[]): Promise<Served> {
  const at = await serveProcess(args)
  onTestFinished(at.close)
  return at
}

/** A request; what it opened is closed after the test. */
async function ask({ url, tokens }: Served, as: Who, path: string, body?: unknown): Promise<Response> {
  const left = new AbortController()
  onTestFinished(() => left.abort())
  return fetch(new URL(path, url), {
    signal: left.signal,
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${tokens[as]}`,
      accept: 'application/json, text/event-stream',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

const EVENTS = '/api/sessions/c/events'
const LOGIN = '/api/login'
const CALL = '/api/toolsets/runsheet/tools/plan'
const callIn = (session_id: string) => ({
  session_id,
  turn_id: 't',
  tool_call_id: 'call-1',
  arguments: { tasks: [{ title: 'Look' }] },
})
const READ = { session_id: 'c', turn_id: 't', arguments: {} }
const readTasks = (at: Served, as: Who): Promise<Response> => ask(at, as, '/api/toolsets/runsheet/tools/tasks', READ)

/** Opens so many streams of a conversation that exists. */
async function streams(at: Served, as: Who, count: number): Promise<Response[]> {
  await readTasks(at, 'person')
  const opened = await Promise.all(Array.from({ length: count }, () => ask(at, as, EVENTS)))
  expect(opened.map(({ status }) => status)).toEqual(Array.from({ length: count }, () => 200))
  return opened
}

const refusal = async (response: Response): Promise<unknown> => ({
  status: response.status,
  retryAfter: response.headers.get('retry-after'),
  ...((await response.json()) as { error: object }).error,
})

const refusals = (at: Served): Promise<Record<string, number>> => figuresOf(at.url, 'runsheet_limit_refusals_total')

fault('callers that take all they can get')

describe('event streams', () => {
  it('an agent that opens all it can leaves a quarter to people', async () => {
    const at = await served('--max-streams', '8')
    const [first] = await streams(at, 'agent', 6)
    expect(await refusal(await ask(at, 'agent', EVENTS))).toEqual({
      status: 429,
      retryAfter: '5',
      code: 'too_many_streams',
      message:
        'Agents may take 6 of the 8 event streams of this server, and all are taken. Close one, or try again in a moment.',
    })
    await streams(at, 'person', 2)
    expect(await refusal(await ask(at, 'person', EVENTS))).toEqual({
      status: 503,
      retryAfter: '5',
      code: 'too_many_streams',
      message: 'All 8 event streams of this server are taken. Close one, or try again in a moment.',
    })
    expect(await refusals(at)).toEqual({ 'streams agent': 1, 'streams person': 1 })
    await first?.body?.cancel()
    await expect.poll(async () => (await ask(at, 'agent', EVENTS)).status).toBe(200)
  })

  it('those of MCP count: the standalone stream of a session, and subscriptions', async () => {
    const at = await served('--max-streams', '4')
    const host = async (pin?: string): Promise<Client> => {
      const options = pin === undefined ? {} : { versionNegotiation: { mode: { pin } } }
      const client = new Client({ name: 'a host', version: '1.0.0' }, options)
      onTestFinished(() => client.close())
      const requestInit = { headers: { authorization: `Bearer ${at.tokens.agent}`, 'runsheet-session': 'c' } }
      await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', at.url), { requestInit }))
      return client
    }
    const older = await host()
    const newer = await host('2026-07-28')
    await newer.listen({ resourceSubscriptions: ['runsheet://c/tasks'] })
    await older.listTools()
    await streams(at, 'agent', 1)
    await expect.poll(async () => (await ask(at, 'agent', EVENTS)).status).toBe(429)
    await newer.close()
    await older.close()
    await expect.poll(async () => (await ask(at, 'agent', EVENTS)).status).toBe(200)
  })

  it('a turn is not started if its stream cannot be served', async () => {
    const at = await served('--max-streams', '1')
    await streams(at, 'person', 1)
    const message = { session_id: 'later', turn_id: 't', message: 'Compute 1 + 1.', review: false }
    expect(await refusal(await ask(at, 'person', '/api/chat', message))).toMatchObject({ status: 503, retryAfter: '5' })
    expect((await ask(at, 'person', '/api/sessions/later')).status).toBe(404)
  })

  it('a turn that is refused takes no stream', async () => {
    const at = await served('--max-streams', '1')
    const message = { session_id: 'c', turn_id: 't', message: 'Compute 1 + 1.', review: false }
    await (await ask(at, 'person', '/api/chat', message)).text()
    for (let times = 0; times < 3; times += 1) {
      const changed = { ...message, message: `Compute ${times} + 2.` }
      expect(await refusal(await ask(at, 'person', '/api/chat', changed))).toMatchObject({ code: 'turn_conflict' })
    }
    await streams(at, 'person', 1)
  })
})

describe('calls that wait for a person', () => {
  const waiters = async (at: Served): Promise<number | undefined> =>
    (await figuresOf(at.url, 'runsheet_review_waiters'))['']

  /** Calls of an agent that take all its places. */
  async function heldByAgents(at: Served, sessions = ['a', 'b', 'c']): Promise<Promise<Response>[]> {
    const held = sessions.map(session => ask(at, 'agent', CALL, callIn(session)))
    for (const call of held) call.catch(() => {})
    await expect.poll(() => waiters(at)).toBe(3)
    return held
  }

  it('[HT22] beyond three quarters those of agents are answered at once, and not lost; people are held', async () => {
    const at = await served('--max-waiting', '4')
    const held = await heldByAgents(at)
    const more = await ask(at, 'agent', CALL, callIn('d'))
    expect([more.status, more.headers.get('retry-after')]).toEqual([202, '5'])
    const { review_id } = (await more.json()) as { review_id: string }
    expect(await refusals(at)).toEqual({ 'waiting_calls agent': 1 })
    const persons = ask(at, 'person', CALL, callIn('e'))
    await expect.poll(() => waiters(at)).toBe(4)
    // Decided, it is answered although there still is no place to wait in.
    await at.person.decide(review_id, { action: 'confirm', tasks: [{ draft_index: 0 }] })
    expect(await (await ask(at, 'agent', CALL, callIn('d'))).json()).toMatchObject({ result: { ids: [1] } })
    for (const { review_id: id } of (await at.person.pendingReviews()).reviews)
      await at.person.decide(id, { action: 'cancel' })
    for (const call of [...held, persons])
      expect(await (await call).json()).toMatchObject({ result: { confirmed: false, cancelled: true } })
    // The places are free again.
    expect(await heldByAgents(at, ['f', 'g', 'h'])).toHaveLength(3)
  })

  it.each([undefined, '2026-07-28'])('so are those over MCP (%s), with pending_review', async pin => {
    const at = await served('--max-waiting', '4')
    const held = await heldByAgents(at)
    const options = pin === undefined ? {} : { versionNegotiation: { mode: { pin } } }
    const client = new Client({ name: 'a host', version: '1.0.0' }, options)
    onTestFinished(() => client.close())
    const requestInit = { headers: { authorization: `Bearer ${at.tokens.agent}` } }
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', at.url), { requestInit }))
    const call = async (name: string, input: Record<string, unknown>): Promise<unknown> =>
      (await client.callTool({ name, arguments: input })).structuredContent
    const answer = (await call('plan', { tasks: [{ title: 'Look' }] })) as { review_id: string }
    expect(answer).toMatchObject({ status: 'pending_review', review_id: expect.stringMatching(/^rev_/) })
    const { review_id } = answer
    expect(await call('await_review', { review_id })).toMatchObject({ status: 'pending_review', review_id })
    expect(await refusals(at)).toEqual({ 'waiting_calls agent': 2 })
    await at.person.decide(review_id, { action: 'confirm', tasks: [{ draft_index: 0 }] })
    expect(await call('await_review', { review_id })).toMatchObject({ ids: [1] })
    for (const { review_id: id } of (await at.person.pendingReviews()).reviews)
      await at.person.decide(id, { action: 'cancel' })
    await Promise.all(held)
  })
})

/** A client that announces a body and does not send it: an agent's, or one without a token. */
async function stalled({ url, tokens }: Served, as: 'agent' | 'nobody' = 'agent'): Promise<Socket> {
  const socket = connect(Number(url.port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  const lines = [
    `POST ${as === 'agent' ? CALL : LOGIN} HTTP/1.1`,
    `Host: ${url.host}`,
    ...(as === 'agent' ? [`Authorization: Bearer ${tokens.agent}`] : []),
    'Content-Type: application/json',
    `Content-Length: ${(as === 'agent' ? 256 : 4) * 1024}`,
    // Answered once the server wants the body, and so has counted it.
    'Expect: 100-continue',
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  expect(String(await new Promise(resolve => socket.once('data', resolve)))).toContain('100 Continue')
  return socket
}

describe('bytes in flight', () => {
  it('bodies that an agent does not send keep out its own requests, not those of people', async () => {
    const at = await served('--max-in-flight', '1')
    const [first] = [await stalled(at), await stalled(at), await stalled(at)]
    expect(await refusal(await readTasks(at, 'agent'))).toEqual({
      status: 429,
      retryAfter: '1',
      code: 'too_many_bytes',
      message: 'Agents are sending and reading too much at once (limit 768 kB). Try again in a moment.',
    })
    expect((await readTasks(at, 'person')).status).toBe(200)
    // A request without a body needs none.
    expect((await ask(at, 'agent', '/api/sessions')).status).toBe(200)
    expect(await refusals(at)).toEqual({ 'bytes agent': 1 })
    first?.destroy()
    await expect.poll(async () => (await readTasks(at, 'agent')).status).toBe(200)
  })
})

describe('requests without a token', () => {
  const login = ({ url }: Served, code: string): Promise<Response> =>
    fetch(new URL(LOGIN, url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    })

  it('may bring 4 kB', async () => {
    const at = await served()
    for (const size of [5 * 1024, 200 * 1024]) {
      const refused = await login(at, 'x'.repeat(size))
      expect([refused.status, await refused.json()]).toEqual([
        413,
        { error: { code: 'body_too_large', message: 'The body must be at most 4 kB.' } },
      ])
    }
    expect((await login(at, 'x'.repeat(100))).status).toBe(401)
  })

  it('that do not send what they announce keep out further ones, and nobody who has a token', async () => {
    const at = await served('--max-in-flight', '1')
    const [first] = await Promise.all(Array.from({ length: 16 }, () => stalled(at, 'nobody')))
    expect(await refusal(await login(at, 'x'))).toEqual({
      status: 503,
      retryAfter: '1',
      code: 'too_many_bytes',
      message: 'Too many requests without a token at once. Try again in a moment.',
    })
    expect((await fetch(new URL('/healthz', at.url))).status).toBe(200)
    for (const as of ['agent', 'person'] as const) expect((await readTasks(at, as)).status).toBe(200)
    expect(await refusals(at)).toEqual({ 'bytes none': 1 })
    first?.destroy()
    await expect.poll(async () => (await login(at, 'x')).status).toBe(401)
  })
})

describe('requests', () => {
  it('[AU5] reads of an agent are counted by themselves, and people are not limited', async () => {
    const at = await served('--agent-reads', '3', '--agent-writes', '2')
    const read = (as: Who): Promise<Response> => ask(at, as, '/api/sessions')
    for (let times = 0; times < 3; times += 1) expect((await read('agent')).status).toBe(200)
    const refused = await read('agent')
    const seconds = refused.headers.get('retry-after')
    expect([refused.status, Number(seconds) > 0]).toEqual([429, true])
    expect(await refused.json()).toEqual({
      error: {
        code: 'rate_limited',
        message: `Too many reads: an agent may make 3 a minute. Try again in ${seconds} s.`,
      },
    })
    for (let times = 0; times < 2; times += 1) expect((await readTasks(at, 'agent')).status).toBe(200)
    expect((await readTasks(at, 'agent')).status).toBe(429)
    for (let times = 0; times < 9; times += 1) expect((await read('person')).status).toBe(200)
    expect(await refusals(at)).toEqual({ 'reads agent': 1, 'writes agent': 1 })
  })
})

describe('behind `createHandler`', () => {
  it('people who hold their half each do not keep out one who has nothing yet', async () => {
    const runsheet = createRunsheet({ store: openMemoryStore(), policy: { review: false } })
    const handler = createHandler({
      runsheet,
      authenticate: ({ headers }) => ({ role: 'person', name: headers.get('x-key') ?? '' }),
      maxStreams: 32,
    })
    onTestFinished(async () => {
      await handler.close()
      await runsheet.close()
    })
    await runsheet
      .conversation('c')
      .turn('t')
      .call('plan', { tasks: [{ title: 'Look' }] })
    const open = (key: string): Promise<Response> =>
      handler(new Request(`http://host.example${EVENTS}`, { headers: { 'x-key': key } }))
    const opened = async (key: string): Promise<number> => {
      let count = 0
      while ((await open(key)).status === 200) count += 1
      return count
    }
    expect([await opened('ann'), await opened('bob')]).toEqual([16, 14])
    expect(await refusal(await open('bob'))).toMatchObject({
      status: 503,
      message: expect.stringContaining('The last 2 event streams of this server are for people who have none.'),
    })
    expect([await opened('carol'), await opened('dave'), await opened('eve')]).toEqual([1, 1, 0])
  })

  it('each caller that the host names gets half at most, and has a minute of its own', async () => {
    const runsheet = createRunsheet({ store: openMemoryStore(), policy: { review: false } })
    const handler = createHandler({
      runsheet,
      authenticate: ({ headers }) => ({ role: 'agent', name: headers.get('x-key') ?? '' }),
      maxStreams: 4,
      agentReadsPerMinute: 4,
    })
    onTestFinished(async () => {
      await handler.close()
      await runsheet.close()
    })
    await runsheet
      .conversation('c')
      .turn('t')
      .call('plan', { tasks: [{ title: 'Look' }] })
    const open = (key: string): Promise<Response> =>
      handler(new Request(`http://host.example${EVENTS}`, { headers: { 'x-key': key } }))
    expect([await open('one'), await open('one')].map(({ status }) => status)).toEqual([200, 200])
    expect(await refusal(await open('one'))).toMatchObject({ status: 429, code: 'too_many_streams' })
    const two = await open('two')
    expect(two.status).toBe(200)
    // All agents together have three quarters.
    expect((await open('two')).status).toBe(429)
    await two.body?.cancel()
    expect((await open('two')).status).toBe(200)
    expect((await open('two')).status).toBe(429)
    expect(await refusal(await open('two'))).toMatchObject({ code: 'rate_limited' })
    expect(await refusal(await open('one'))).toMatchObject({ code: 'too_many_streams' })
  })
})
