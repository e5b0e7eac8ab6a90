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

describe('open requests', () => {
  it('an agent that opens all it can keeps out itself, not people', async () => {
    const at = await served('--max-requests', '6')
    const [first] = await streams(at, 'agent', 6)
    expect(await refusal(await ask(at, 'agent', EVENTS))).toEqual({
      status: 429,
      retryAfter: '1',
      code: 'too_many_requests',
      message:
        'Too many open requests: at most 6, event streams and calls that wait included. Close one, or try again in a moment.',
    })
    await streams(at, 'person', 5)
    expect(await refusals(at)).toEqual({ 'requests agent': 1 })
    await first?.body?.cancel()
    await expect.poll(async () => (await ask(at, 'agent', EVENTS)).status).toBe(200)
  })

  it('those of MCP count: the standalone stream of a session, and subscriptions', async () => {
    const at = await served('--max-requests', '3')
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

  it('a call that waits for a person counts until it is answered', async () => {
    const at = await served('--max-requests', '1')
    const held = ask(at, 'agent', CALL, callIn('a'))
    await expect.poll(async () => (await figuresOf(at.url, 'runsheet_review_waiters'))['']).toBe(1)
    expect((await readTasks(at, 'agent')).status).toBe(429)
    const [review] = (await at.person.pendingReviews()).reviews
    await at.person.decide(review?.review_id ?? '', { action: 'cancel' })
    expect((await held).status).toBe(200)
    await expect.poll(async () => (await readTasks(at, 'agent')).status).toBe(200)
  })

  it('a turn is not started if the person has too many', async () => {
    const at = await served('--max-requests', '1')
    await streams(at, 'person', 1)
    const message = { session_id: 'later', turn_id: 't', message: 'Compute 1 + 1.', review: false }
    expect(await refusal(await ask(at, 'person', '/api/chat', message))).toMatchObject({ status: 429 })
    expect((await ask(at, 'agent', '/api/sessions/later')).status).toBe(404)
  })

  it('a request without a token may bring 4 kB', async () => {
    const at = await served()
    const login = (code: string): Promise<Response> =>
      fetch(new URL(LOGIN, at.url), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code }),
      })
    for (const size of [5 * 1024, 200 * 1024]) {
      const refused = await login('x'.repeat(size))
      expect([refused.status, await refused.json()]).toEqual([
        413,
        { error: { code: 'body_too_large', message: 'The body must be at most 4 kB.' } },
      ])
    }
    expect((await login('x'.repeat(100))).status).toBe(401)
  })

  it('each caller that the host names has its own, and a minute of its own', async () => {
    const runsheet = createRunsheet({ store: openMemoryStore(), policy: { review: false } })
    const handler = createHandler({
      runsheet,
      authenticate: ({ headers }) => ({ role: 'agent', name: headers.get('x-key') ?? '' }),
      maxRequests: 2,
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
    expect(await refusal(await open('one'))).toMatchObject({ status: 429, code: 'too_many_requests' })
    const two = await open('two')
    expect([two.status, (await open('two')).status, (await open('two')).status]).toEqual([200, 200, 429])
    await two.body?.cancel()
    expect((await open('two')).status).toBe(200)
    expect(await refusal(await open('two'))).toMatchObject({ code: 'rate_limited' })
    expect(await refusal(await open('one'))).toMatchObject({ code: 'too_many_requests' })
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
