import { fileURLToPath } from 'node:url'
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { pino } from 'pino'
import { createHttpServer, type ServerOptions } from '../../src/server/http/server.ts'
import { openDoor } from '../../src/engine/door/door.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import {
  type Answered,
  bearer,
  errorIn,
  EVERY_ROUTE,
  filled,
  nameOf,
  send,
  sendRaw,
  type Sent,
  statusesIn,
} from '../support/requests.ts'
import { pageFrom } from '../../src/server/http/page.ts'
import { startServer, type TestServer, TOKENS } from '../support/server.ts'

let at: TestServer
beforeAll(async () => {
  at = await startServer({ page: pageFrom(fileURLToPath(new URL('../../dist/web', import.meta.url))) })
  await at.person.setPolicy('s', { toolset: 'task_list' })
})
afterAll(() => at.close())

/** A place that exists, as far as one can be named. */
const SAMPLES: Readonly<Record<string, string>> = { session_id: 's', name: 'runsheet', tool: 'tasks' }
const urlOf = (path: string): string => filled(path, name => SAMPLES[name] ?? 'none')

const json = { 'content-type': 'application/json' }
const ask = (method: string, path: string, headers: Sent['headers'] = {}, body?: string): Promise<Answered> =>
  send(at.url.port, method.toUpperCase(), path, { headers, ...(body === undefined ? {} : { body }) })

const bodyFor = (method: string): string | undefined => (method === 'get' ? undefined : '{}')

/** What came of asking: the place, the status and the code. */
type Outcome = readonly [string, number, string | undefined]
function outcomes(places: readonly Place[], asking: (place: Place) => Promise<Answered>): Promise<readonly Outcome[]> {
  return Promise.all(
    places.map(async place => {
      const { status, code } = await asking(place)
      return [place.title, status, code] as const
    }),
  )
}

interface Place {
  readonly method: string
  readonly path: string
  readonly role: 'person' | 'agent' | 'none'
  readonly public?: boolean
  readonly title: string
}
const ROUTED: readonly Place[] = EVERY_ROUTE.map(each => ({ ...each, path: urlOf(each.path), title: nameOf(each) }))
const UNKNOWN: readonly Place[] = [
  { method: 'get', path: '/api', role: 'agent', title: '/api' },
  { method: 'get', path: '/api/nothing', role: 'agent', title: 'an unknown /api path' },
  { method: 'post', path: '/api/nothing/here', role: 'agent', title: 'an unknown /api path to post to' },
  { method: 'post', path: '/mcp', role: 'agent', title: '/mcp' },
]
const OPEN: readonly Place[] = [
  { method: 'get', path: '/', role: 'none', title: 'the page' },
  { method: 'get', path: '/start.js', role: 'none', title: 'a script of the page' },
  { method: 'get', path: '/nothing', role: 'none', title: 'an unknown path' },
  { method: 'post', path: '/nothing', role: 'none', title: 'an unknown path to post to' },
  { method: 'put', path: '/', role: 'none', title: 'the page to put to' },
]
const PLACES = [...ROUTED, ...UNKNOWN, ...OPEN]
const TOKENED = PLACES.filter(({ role }) => role !== 'none')
const PRIVATE = PLACES.filter(each => each.public !== true)
const PROBES = PLACES.filter(each => each.public === true)

test('the tables hold every route: those with a token, those without, and the probes', () => {
  expect(ROUTED.length).toBe(EVERY_ROUTE.length)
  expect(ROUTED.filter(({ role }) => role === 'none').map(({ title }) => title)).toEqual([
    'POST /api/login',
    'GET /healthz',
    'GET /readyz',
    'GET /metrics',
  ])
  expect(PROBES.map(({ title }) => title)).toEqual(['GET /healthz', 'GET /readyz', 'GET /metrics'])
})

const NOT_TOKENS: readonly (readonly [string, Sent['headers'], string])[] = [
  ['no token', {}, ''],
  ['a wrong token', { authorization: 'Bearer wrong' }, ''],
  ['an empty token', { authorization: 'Bearer ' }, ''],
  ['the beginning of a token', { authorization: `Bearer ${TOKENS.person.slice(0, -1)}` }, ''],
  ['a token and more', { authorization: `Bearer ${TOKENS.person}x` }, ''],
  ['another case', { authorization: `Bearer ${TOKENS.person.toUpperCase()}` }, ''],
  ['two tokens', { authorization: `Bearer ${TOKENS.person}, Bearer ${TOKENS.person}` }, ''],
  ['a token without a scheme', { authorization: TOKENS.person }, ''],
  ['another scheme', { authorization: `Basic ${Buffer.from(`:${TOKENS.person}`).toString('base64')}` }, ''],
  ['a token of 5 kB', { authorization: `Bearer ${'x'.repeat(5_000)}` }, ''],
  ['a token in the URL', {}, `?token=${TOKENS.person}&access_token=${TOKENS.person}&authorization=Bearer%20x`],
  ['a token in a cookie', { cookie: `token=${TOKENS.person}; authorization=Bearer ${TOKENS.person}` }, ''],
  ['a token in another header', { 'x-api-key': TOKENS.person, 'proxy-authorization': `Bearer ${TOKENS.person}` }, ''],
]

describe.each(NOT_TOKENS)('with %s', (_, headers, query) => {
  const asked = (places: readonly Place[]): Promise<readonly Outcome[]> =>
    outcomes(places, ({ method, path }) => ask(method, path + query, { ...json, ...headers }, bodyFor(method)))

  test('[AU1] every route, and every unknown path beside them, answers 401', async () => {
    expect(await asked(TOKENED)).toEqual(TOKENED.map(({ title }) => [title, 401, 'unauthorized']))
  })

  test('[AU1] the page, the login and the probes ask for none', async () => {
    const statuses = (await asked(PLACES.filter(({ role }) => role === 'none'))).map(([, status]) => status)
    expect(statuses).not.toContain(401)
    expect(statuses).not.toContain(403)
  })
})

test('[AU1] a 401 says how to come back', async () => {
  expect((await ask('get', '/api/sessions')).headers['www-authenticate']).toBe('Bearer')
})

test('[AU1] a token is asked for before anything is said about the body, the ids or the method', async () => {
  const wrong = { 'content-type': 'text/plain' }
  expect((await ask('post', '/api/sessions/s/tasks', wrong, '{')).status).toBe(401)
  expect((await ask('patch', '/api/sessions/..%2f/tasks/x', wrong, '{')).status).toBe(401)
  expect((await ask('delete', '/api/sessions')).status).toBe(401)
})

test('[AU1] the scheme is read in any case, as HTTP has it', async () => {
  expect((await ask('get', '/api/models', { authorization: `bearer ${TOKENS.agent}` })).status).toBe(200)
})

describe("an agent's token", () => {
  test("[AU2] is turned away from exactly what is a person's", async () => {
    const headers = { ...json, ...bearer('agent') }
    const answers = await outcomes(ROUTED, ({ method, path }) => ask(method, path, headers, bodyFor(method)))
    const turnedAway = answers.filter(([, status, code]) => status === 403 && code === 'persons_only')
    expect(turnedAway.map(([title]) => title)).toEqual(PERSONS)
    const others = answers.filter(([title]) => !PERSONS.includes(title)).map(([, , code]) => code)
    for (const code of ['unauthorized', 'persons_only', 'foreign_host']) expect(others).not.toContain(code)
  })

  const PERSONS = [
    'POST /api/chat',
    'PUT /api/sessions/:session_id/policy',
    'POST /api/sessions/:session_id/turns/:turn_id/stop',
    'POST /api/sessions/:session_id/messages',
    'PATCH /api/sessions/:session_id/messages/:message_id',
    'DELETE /api/sessions/:session_id/messages/:message_id',
    'POST /api/sessions/:session_id/messages/:message_id/send',
    'PATCH /api/sessions/:session_id',
    'GET /api/sessions/:session_id/export.md',
    'GET /api/sessions/:session_id/export.jsonl',
    'POST /api/sessions/:session_id/tasks',
    'PATCH /api/sessions/:session_id/tasks/:task_id',
    'DELETE /api/sessions/:session_id/tasks/:task_id',
    'POST /api/sessions/:session_id/tasks/:task_id/insist',
    'POST /api/sessions/:session_id/tasks/:task_id/undo',
    'POST /api/sessions/:session_id/tasks/:task_id/checks/:check_id/run',
    'POST /api/sessions/:session_id/tasks/:task_id/checks/:check_id/stop',
    'POST /api/sessions/:session_id/tasks/:task_id/checks/:check_id/tick',
    'POST /api/sessions/:session_id/tasks/:task_id/changes/accept',
    'POST /api/task-manager/reviews/:review_id/decision',
    'POST /api/task-manager/reviews/:review_id/reopen',
    'POST /api/task-manager/reviews/:review_id/extend',
    'PUT /api/task-manager/reviews/:review_id/panels/:panel',
    'DELETE /api/task-manager/reviews/:review_id/panels/:panel',
    'PUT /api/task-manager/templates/:name',
    'POST /api/task-manager/templates/:name/rename',
    'DELETE /api/task-manager/templates/:name',
    'GET /api/settings',
    'PATCH /api/settings',
    'POST /api/settings/try',
    'GET /api/tools',
    'PUT /api/tools/rules',
    'DELETE /api/tools/servers/:server',
    'POST /api/tools/servers/:server/retry',
    'POST /api/sessions/:session_id/approvals/:approval_id',
    'POST /api/login/codes',
  ]

  test('[AU2] a refused caller does not learn whether something exists', async () => {
    const [there, gone] = await Promise.all([
      ask('put', '/api/sessions/s/policy', { ...json, ...bearer('agent') }, '{}'),
      ask('put', '/api/sessions/nowhere/policy', { ...json, ...bearer('agent') }, '{}'),
    ])
    expect(there.text).toBe(gone.text)
  })

  test("[AU2] a person's token is turned away from nothing", async () => {
    const headers = { ...json, ...bearer('person') }
    const answers = await outcomes(ROUTED, ({ method, path }) => ask(method, path, headers, bodyFor(method)))
    const refused = answers.filter(
      ([title, status]) => title !== 'POST /api/login' && (status === 401 || status === 403),
    )
    expect(refused).toEqual([])
  })
})

/** Hosts and origins that are refused. */
const foreign = (port: number): readonly (readonly [string, Record<string, string>, string])[] => [
  ['a foreign host', { host: 'evil.example' }, 'foreign_host'],
  ['a foreign host on our port', { host: `evil.example:${port}` }, 'foreign_host'],
  ['a host that begins as ours', { host: '127.0.0.1.evil.example' }, 'foreign_host'],
  ['a host that ends as ours', { host: `evil.localhost:${port}` }, 'foreign_host'],
  ['localhost with a dot', { host: `localhost.:${port}` }, 'foreign_host'],
  ['a host without our port', { host: '127.0.0.1' }, 'foreign_host'],
  ['another port of this host', { host: `127.0.0.1:${port + 1}` }, 'foreign_host'],
  ['another address of this machine', { host: `127.0.0.2:${port}` }, 'foreign_host'],
  ['a forwarded host of ours', { host: 'evil.example', 'x-forwarded-host': `127.0.0.1:${port}` }, 'foreign_host'],
  ['a foreign origin', { origin: 'https://evil.example' }, 'foreign_origin'],
  ['an origin of another local port', { origin: `http://localhost:${port + 1}` }, 'foreign_origin'],
  ['an origin without a port', { origin: 'http://localhost' }, 'foreign_origin'],
  ['the origin null', { origin: 'null' }, 'foreign_origin'],
  ['an empty origin', { origin: '' }, 'foreign_origin'],
  ['https on our port', { origin: `https://127.0.0.1:${port}` }, 'foreign_origin'],
  ['an origin with a path', { origin: `http://127.0.0.1:${port}/` }, 'foreign_origin'],
  ['two origins', { origin: `http://127.0.0.1:${port} https://evil.example` }, 'foreign_origin'],
  ['a page of a browser extension', { origin: 'chrome-extension://abcdefghijklmnop' }, 'foreign_origin'],
]

describe.each(foreign(0).map(([title], index) => [title, index] as const))('with %s', (_, index) => {
  const theirs = (): readonly [Record<string, string>, string] => {
    const [, headers = {}, code = ''] = foreign(Number(at.url.port))[index] ?? []
    return [headers, code]
  }
  const asked = (places: readonly Place[]): Promise<readonly Outcome[]> =>
    outcomes(places, ({ method, path }) =>
      ask(method, path, { ...json, ...bearer('person'), ...theirs()[0] }, bodyFor(method)),
    )

  test("[AU3] everything answers 403, even with a person's token", async () => {
    expect(await asked(PRIVATE)).toEqual(PRIVATE.map(({ title }) => [title, 403, theirs()[1]]))
  })

  test('[AU3] the probes still answer', async () => {
    expect(await asked(PROBES)).toEqual(PROBES.map(({ title }) => [title, 200, undefined]))
  })

  test('[AU3] an unsupported method does not bypass it', async () => {
    const [headers, code] = theirs()
    expect((await ask('delete', '/api/sessions', { ...bearer('person'), ...headers })).code).toBe(code)
    expect((await ask('options', '/api/sessions', headers)).code).toBe(code)
  })
})

test.each([
  ['two names', 'evil.example, 127.0.0.1'],
  ['a name that begins as ours', '127.0.0.1:4747.evil.example'],
  ['a user', 'user@127.0.0.1'],
  ['a path', '127.0.0.1/x'],
  ['an address that is none', '[::1'],
])('[AU3] a malformed Host, with %s, is refused in the form of every error', async (_, host) => {
  const answers = await outcomes(PRIVATE, ({ method, path }) => ask(method, path, { ...bearer('person'), host }))
  expect(answers).toEqual(PRIVATE.map(({ title }) => [title, 400, 'invalid_request']))
  const { headers } = await ask('get', '/', { host })
  expectSafe(headers)
})

test.each(['127.0.0.1', 'localhost', '[::1]', 'LOCALHOST'])('[AU3] %s on our own port is ours', async name => {
  const host = `${name}:${at.url.port}`
  const own = { ...json, ...bearer('person'), host, origin: `http://${host}` }
  const answers = await outcomes(PLACES, ({ method, path }) => ask(method, path, own, bodyFor(method)))
  expect(answers.filter(([, status]) => status === 401 || status === 403)).toEqual([])
})

test('[AU3] no answer lets another origin read it', async () => {
  for (const { method, path } of PLACES) {
    const answer = await ask(method, path, { origin: 'https://evil.example', ...bearer('person') })
    const headers = Object.keys(answer.headers).filter(name => name.startsWith('access-control-'))
    expect(headers, path).toEqual([])
  }
})

test('[AU3] a public URL adds its own host and origin, and takes none away', async () => {
  const port = await startOn({ publicUrl: new URL('https://plans.example/') })
  const asked = async (headers: Record<string, string>): Promise<number> =>
    (await send(port, 'GET', '/api/models', { headers: { ...bearer('agent'), ...headers } })).status
  expect(await asked({ host: 'plans.example', origin: 'https://plans.example' })).toBe(200)
  expect(await asked({ host: `127.0.0.1:${port}`, origin: `http://127.0.0.1:${port}` })).toBe(200)
  expect(await asked({ host: 'plans.example', origin: 'http://plans.example' })).toBe(403)
  expect(await asked({ host: 'plans.example', origin: 'https://plans.example:8443' })).toBe(403)
  expect(await asked({ host: `plans.example:${port}` })).toBe(403)
  expect(await asked({ host: 'sub.plans.example' })).toBe(403)
})

test('[AU3] a public URL with a port of its own is that host and no other', async () => {
  const port = await startOn({ publicUrl: new URL('http://plans.example:8080/') })
  const asked = async (headers: Record<string, string>): Promise<number> =>
    (await send(port, 'GET', '/api/models', { headers: { ...bearer('agent'), ...headers } })).status
  expect(await asked({ host: 'plans.example:8080', origin: 'http://plans.example:8080' })).toBe(200)
  expect(await asked({ host: 'plans.example' })).toBe(403)
})

describe('a login code', () => {
  const login = (code: unknown, headers: Sent['headers'] = json): Promise<Answered> =>
    ask('post', '/api/login', headers, JSON.stringify({ code }))

  test('[AU1] is traded once, for a token with which the page may do what a person may', async () => {
    const code = at.server.loginCode()
    const first = await login(code)
    expect(first.status).toBe(200)
    const { token } = JSON.parse(first.text) as { token: string }
    expect(Object.values<string>(TOKENS)).not.toContain(token)
    expect((await ask('post', '/api/login/codes', { authorization: `Bearer ${token}` })).status).toBe(201)
    expect(first.headers['cache-control']).toBe('no-store')
    expect(first.headers['set-cookie']).toBeUndefined()
    const second = await login(code)
    expect([second.status, second.code]).toEqual([401, 'invalid_code'])
  })

  test('[AU1] of many concurrent logins with it, one succeeds', async () => {
    const code = at.server.loginCode()
    const answers = await Promise.all(Array.from({ length: 20 }, () => login(code)))
    const statuses = Object.groupBy(answers, ({ status }) => status)
    expect([statuses[200]?.length, statuses[401]?.length]).toEqual([1, 19])
  })

  test('[AU1] that is wrong answers 401, and leaves the right one as it is', async () => {
    const code = at.server.loginCode()
    const wrong = ['x', code.slice(1), `${code}x`, ` ${code}`, code.toUpperCase(), TOKENS.person, TOKENS.agent, '\0']
    for (const each of wrong) {
      const answer = await login(each)
      expect([answer.status, answer.code], each).toEqual([401, 'invalid_code'])
    }
    expect((await login(code)).status).toBe(200)
  })

  test('[AU1] missing from the body, or of another type, is 422', async () => {
    for (const each of [undefined, null, 1, '', [], {}, ['x'], 'x'.repeat(201)]) {
      const answer = await login(each)
      expect([answer.status, answer.code, answer.field]).toEqual([422, 'invalid_field', 'code'])
    }
  })

  test('[AU1] is issued to a person, each time another', async () => {
    const issue = async (): Promise<string> => {
      const answer = await ask('post', '/api/login/codes', bearer('person'))
      expect(answer.status).toBe(201)
      return (JSON.parse(answer.text) as { code: string }).code
    }
    const [one, other] = [await issue(), await issue()]
    expect(one).not.toBe(other)
    expect((await login(one)).status).toBe(200)
    expect((await login(one)).status).toBe(401)
    expect((await login(other)).status).toBe(200)
  })

  test('[AU1] is not issued to an agent, nor without a token', async () => {
    expect((await ask('post', '/api/login/codes', bearer('agent'))).code).toBe('persons_only')
    expect((await ask('post', '/api/login/codes')).code).toBe('unauthorized')
  })

  test('[AU1] is not spent by a page of another origin', async () => {
    const code = at.server.loginCode()
    expect((await login(code, { ...json, origin: 'https://evil.example' })).code).toBe('foreign_origin')
    expect((await login(code)).status).toBe(200)
  })

  test('[AU1] is not a token', async () => {
    const code = at.server.loginCode()
    expect((await ask('get', '/api/models', { authorization: `Bearer ${code}` })).status).toBe(401)
  })

  test('[AU1] gives way once a hundred newer ones were issued', async () => {
    const oldest = at.server.loginCode()
    const newer = Array.from({ length: 100 }, () => at.server.loginCode())
    expect((await login(oldest)).status).toBe(401)
    expect((await login(newer[0])).status).toBe(200)
    expect((await login(newer[99])).status).toBe(200)
  })
})

describe('the writes of an agent', () => {
  const call = { session_id: 's', turn_id: 't', arguments: {} }

  test('[AU5] are counted: one too many answers 429 and says when to come back', async () => {
    const own = await started({ agentWritesPerMinute: 3 })
    const write = (as: 'agent' | 'person'): Promise<Response> =>
      own.ask('POST', '/api/toolsets/runsheet/tools/tasks', { as, body: call })
    for (let i = 0; i < 3; i += 1) expect((await write('agent')).status).toBe(200)
    const refused = await write('agent')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toSatisfy(
      (after: number) => Number.isInteger(after) && after >= 1 && after <= 60,
    )
    expect(errorIn(await refused.text())?.code).toBe('rate_limited')
    // Neither reading nor a person is slowed down by it.
    for (let i = 0; i < 10; i += 1) {
      expect((await own.ask('GET', '/api/sessions', { as: 'agent' })).status).toBe(200)
      expect((await write('person')).status).toBe(200)
    }
    expect((await write('agent')).status).toBe(429)
  })

  test('[AU5] count even when they are refused as malformed', async () => {
    const own = await started({ agentWritesPerMinute: 3 })
    const path = '/api/toolsets/runsheet/tools/tasks'
    for (let i = 0; i < 3; i += 1) {
      expect((await own.ask('POST', path, { as: 'agent', body: [] })).status).toBe(422)
    }
    expect((await own.ask('POST', path, { as: 'agent', body: call })).status).toBe(429)
  })

  test('[AU5] requests with a wrong token do not count against the agent', async () => {
    const own = await started({ agentWritesPerMinute: 3 })
    const path = '/api/toolsets/runsheet/tools/tasks'
    for (let i = 0; i < 10; i += 1) {
      expect((await own.ask('POST', path, { as: 'nobody', body: call })).status).toBe(401)
      expect((await own.ask('POST', '/api/login/codes', { as: 'agent' })).status).toBe(403)
    }
    expect((await own.ask('POST', path, { as: 'agent', body: call })).status).toBe(200)
  })

  test('[AU5] a refused write changes nothing', async () => {
    const own = await started({ agentWritesPerMinute: 1 })
    const write = (turn_id: string): Promise<Response> =>
      own.ask('POST', '/api/toolsets/runsheet/tools/tasks', { as: 'agent', body: { ...call, turn_id } })
    await write('t')
    const before = await own.person.session('s')
    expect((await write('t')).status).toBe(429)
    expect(await own.person.session('s')).toEqual(before)
  })
})

describe('an unexpected failure', () => {
  const SECRET = '/home/somebody/secret.db'

  async function failing(): Promise<TestServer> {
    const store = openMemoryStore()
    const fail = async (): Promise<never> => {
      throw new TypeError(`cannot read ${SECRET}`)
    }
    const queries = { ...store.queries, conversations: fail }
    const search = { conversations: fail, tasks: fail, all: fail }
    const broken = new Proxy(store, {
      get: (target, name) => {
        if (name === 'queries') return queries
        if (name === 'search') return search
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    return started({ door: openDoor({ store: broken }) })
  }

  test('[HT1] answers 500 `internal`: no stack, no path, no message of its own', async () => {
    const own = await failing()
    const response = await own.ask('GET', '/api/sessions')
    expect(response.status).toBe(500)
    const text = await response.text()
    expect(errorIn(text)?.code).toBe('internal')
    for (const leak of [SECRET, 'TypeError', 'cannot read', '.ts', 'node_modules', '    at ']) {
      expect(text).not.toContain(leak)
    }
    expectSafe(Object.fromEntries(response.headers))
    expect(own.logged()).toContain(SECRET)
  })

  test('search texts and tokens are not in the log', async () => {
    const own = await failing()
    const response = await own.ask('GET', `/api/tasks?q=my-private-words&token=${TOKENS.agent}`)
    expect(response.status).toBe(500)
    expect(own.logged()).toContain('a request failed')
    expect(own.logged()).not.toContain('my-private-words')
    for (const token of Object.values(TOKENS)) expect(own.logged()).not.toContain(token)
  })
})

test('neither token nor code is ever logged, counted by, or handed out again', async () => {
  const own = await started()
  const codes = [own.server.loginCode(), own.server.loginCode()]
  const secrets = [...Object.values(TOKENS), ...codes]
  const told: string[] = []
  for (const { method, path } of PLACES) {
    for (const secret of secrets) {
      const headers = {
        ...json,
        authorization: `Bearer ${secret}`,
        cookie: `token=${secret}`,
        referer: `/?t=${secret}`,
      }
      const body = method === 'get' ? undefined : JSON.stringify({ code: `${secret}x`, token: secret })
      const sent = { headers, ...(body === undefined ? {} : { body }) }
      told.push((await send(own.url.port, method.toUpperCase(), `${path}?token=${secret}`, sent)).text)
    }
  }
  const redeemed = await own.ask('POST', '/api/login', { as: 'nobody', body: { code: codes[0] } })
  expect(redeemed.status).toBe(200)
  told.push(await (await own.ask('GET', '/metrics')).text())
  for (const secret of secrets) {
    expect(own.logged()).not.toContain(secret)
    expect(told.filter(text => text.includes(secret))).toEqual([])
  }
})

describe('the headers that keep a page safe', () => {
  test.each(PLACES)('are on every answer of $title, whatever the caller', async ({ method, path }) => {
    for (const headers of [{}, bearer('agent'), bearer('person'), { host: 'evil.example' }]) {
      const answer = await ask(method, path, headers)
      // An event stream is no document, and metrics are for a machine: sniffing is all that could go wrong.
      if (answer.headers['content-type']?.startsWith('text/event-stream')) continue
      expectSafe(answer.headers)
    }
  })

  test('are on a file of the page, which may be cached with revalidation', async () => {
    const page = await ask('get', '/')
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(page.headers['cache-control']).toBe('no-cache')
    const [, script = ''] = /src="\.(\/assets\/[^"]+)"/.exec(page.text) ?? []
    const { headers } = await ask('get', script)
    expect(headers['content-type']).toBe('text/javascript; charset=utf-8')
    expect(headers['cache-control']).toContain('immutable')
    expectSafe({ ...headers, 'cache-control': 'no-store' })
    // The policy would forbid what is not in a file of its own.
    expect(page.text).not.toMatch(/<script(?![^>]*\ssrc=)|\son\w+=|<style|javascript:|https?:/)
  })

  test('private answers are never cached', async () => {
    for (const path of ['/api/sessions', '/api/openapi.json', '/api/nothing', '/nothing']) {
      expect((await ask('get', path, bearer('person'))).headers['cache-control'], path).toBe('no-store')
    }
  })

  test('no header names the server software', async () => {
    const { headers } = await ask('get', '/')
    expect(headers['server']).toBeUndefined()
    expect(headers['x-powered-by']).toBeUndefined()
  })
})

describe('a method that is not there', () => {
  const BY_PATH = [...Map.groupBy(EVERY_ROUTE, ({ path }) => path)].map(([path, routes]) => ({
    path,
    isPublic: routes[0]?.public === true,
    allow: routes.map(({ method }) => method.toUpperCase()),
  }))
  const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY']

  test.each(BY_PATH)('$path answers 405 with the allowed methods', async ({ path, allow, isPublic }) => {
    for (const method of METHODS.filter(each => !allow.includes(each))) {
      const answer = await ask(method, urlOf(path), isPublic ? {} : bearer('agent'))
      expect([method, answer.status, answer.code]).toEqual([method, 405, 'method_not_allowed'])
      expect(answer.headers['allow']).toBe(allow.join(', '))
      expectSafe(answer.headers)
    }
  })

  test.each([...UNKNOWN, ...OPEN.filter(({ title }) => title.startsWith('an unknown'))])(
    '$title is 404 for an authenticated caller',
    async ({ method, path }) => {
      const answer = await ask(method, path, bearer('agent'))
      expect([answer.status, answer.code]).toEqual([404, 'not_found'])
    },
  )

  test('HEAD answers as GET would, and ends: of an event stream too', async () => {
    for (const { path, title } of PLACES.filter(({ method }) => method === 'get')) {
      const lines = [`Host: 127.0.0.1:${at.url.port}`, `Authorization: ${bearer('agent').authorization}`]
      const request = [`HEAD ${path} HTTP/1.1`, ...lines, 'Connection: close', '\r\n'].join('\r\n')
      const [head = '', body] = (await sendRaw(at.url.port, request)).split('\r\n\r\n')
      const { status } = await ask('get', path, bearer('agent'))
      expect([title, statusesIn(head), body]).toEqual([title, [status], ''])
    }
  })

  test.each([
    '/api/sessions/',
    '/API/sessions',
    '/api//sessions',
    '//api/sessions',
    '/api/sessions/s/tasks/',
    '/api;x',
  ])('%s is not another way to a route', async path => {
    const answer = await ask('get', path, bearer('agent'))
    expect([answer.status, answer.code]).toEqual([404, 'not_found'])
  })
})

const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
]

function expectSafe(headers: Readonly<Record<string, string | string[] | undefined>>): void {
  expect(String(headers['content-security-policy']).split('; ')).toEqual(CSP)
  expect(headers['x-content-type-options']).toBe('nosniff')
  expect(headers['referrer-policy']).toBe('no-referrer')
  expect(headers['cross-origin-opener-policy']).toBe('same-origin')
  expect(headers['cross-origin-resource-policy']).toBe('same-origin')
  expect(headers['cache-control']).toMatch(/^no-(store|cache)$/)
}

/** A server of one test's own. */
async function started(options: Partial<ServerOptions> = {}): Promise<TestServer> {
  const own = await startServer(options)
  onTestFinished(() => own.close())
  return own
}

/** `listen` returns the public URL, so the port is chosen here; if another process takes it first, another one is. */
async function startOn(options: Partial<ServerOptions>): Promise<string> {
  const door = openDoor({ store: openMemoryStore() })
  onTestFinished(() => door.close())
  const log = pino({ level: 'silent' })
  for (;;) {
    const server = createHttpServer({ tokens: TOKENS, tenant: 'local', version: '0.0.0', log, door, ...options })
    const port = await freePort()
    try {
      await server.listen(port, '127.0.0.1')
      onTestFinished(() => server.close(1_000))
      return String(port)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    }
  }
}

function freePort(): Promise<number> {
  return new Promise(resolve => {
    const probe = createServer()
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
