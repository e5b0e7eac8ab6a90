import { execFile } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createParser } from 'eventsource-parser'
import { Hono } from 'hono'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createClient, listed } from '../../src/client/index.ts'
import { createRunsheet, openMemoryStore, type Runsheet, type RunsheetOptions } from '../../src/index.ts'
import { doorOf } from '../../src/library/handles.ts'
import { createHandler, type Handler, type HandlerOptions, type Identity } from '../../src/library/http.ts'
import { createRunner, demoModel } from '../../src/library/runner.ts'
import { runProcess } from '../support/children.ts'
import { HOSTS } from '../support/hosts.ts'
import { scratchFolder } from '../support/scratch.ts'

const PLAN = { tasks: [{ title: 'Look' }, { title: 'Leap' }] }
const CALL = { session_id: 'chat-1', turn_id: 'turn-1', arguments: PLAN }

/** The host's own sign-in: a header with the user's name. */
const USERS: Readonly<Record<string, Identity>> = {
  ann: { role: 'person' },
  bot: { role: 'agent' },
  'ann-of-acme': { role: 'person', tenant: 'acme' },
}
const bySession = (request: Request): Identity | undefined => USERS[request.headers.get('x-user') ?? '']

interface Mount {
  readonly runsheet: Runsheet
  readonly handler: Handler
  /** A request to the handler itself. */
  readonly ask: (path: string, init?: RequestInit) => Promise<Response>
}

function mounted(
  options: Partial<HandlerOptions> = {},
  { policy = { review: false }, ...more }: Partial<RunsheetOptions> = {},
): Mount {
  const runsheet = createRunsheet({ store: openMemoryStore(), policy, ...more })
  const handler = createHandler({ runsheet, authenticate: bySession, basePath: '/runsheet', ...options })
  onTestFinished(async () => {
    await handler.close()
    await runsheet.close()
  })
  return { runsheet, handler, ask: (path, init) => handler(new Request(`${ORIGIN}/runsheet${path}`, init)) }
}

/** Generous, since other work may share the machine. */
const WAIT = { timeout: 20_000 }
const ORIGIN = 'https://host.example'
const as = (user: string, headers: Record<string, string> = {}): RequestInit => ({
  headers: { 'x-user': user, ...headers },
})
const post = (user: string, body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'x-user': user, 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const codeOf = async (response: Response): Promise<string> =>
  ((await response.json()) as { error: { code: string } }).error.code

describe.each(Object.entries(HOSTS))('mounted in %s', (_, mount) => {
  const open = async (options?: Partial<HandlerOptions>, more?: Partial<RunsheetOptions>) => {
    const at = mounted(options, more)
    const host = await mount(at.handler)
    onTestFinished(() => host.close())
    const clientOf = (user: string) =>
      createClient({
        url: host.url,
        fetch: (url, init) => {
          const headers = new Headers(init?.headers)
          headers.set('x-user', user)
          return host.fetch(url, { ...init, headers })
        },
      })
    return { ...at, host, person: clientOf('ann'), agent: clientOf('bot') }
  }

  it('[HA1] the typed client works under the base path', async () => {
    const { runsheet, person, agent } = await open()
    expect(await agent.call('runsheet', 'plan', CALL)).toMatchObject({ result: { ids: [1, 2] } })
    const { tasks } = await person.tasks('chat-1')
    await person.changeTask('chat-1', tasks[0]?.id ?? '', tasks[0]?.version ?? 0, { title: 'Look twice' })
    expect((await runsheet.conversation('chat-1').tasks()).map(({ title }) => title)).toEqual(['Look twice', 'Leap'])
    await expect(agent.stop('chat-1', 'turn-1')).rejects.toMatchObject({ status: 403, code: 'persons_only' })
    await expect(agent.tasks('nowhere')).rejects.toMatchObject({ status: 404, code: 'session_not_found' })
  })

  it('[HA1] a live conversation follows the plan', async () => {
    const { person, agent } = await open()
    await agent.call('runsheet', 'plan', CALL)
    const live = person.live('chat-1')
    onTestFinished(() => live.close())
    const titles = () => listed(live.snapshot().conversation).map(({ title }) => title)
    await vi.waitFor(() => expect(titles()).toEqual(['Look', 'Leap']), WAIT)
    await person.addTask('chat-1', { title: 'Land' })
    await vi.waitFor(() => expect(titles()).toEqual(['Look', 'Leap', 'Land']), WAIT)
  })

  it('[SS2] a stream resumes after Last-Event-ID, and a reader that leaves ends its tail', async () => {
    const { runsheet, host, agent, person } = await open()
    const tail = vi.spyOn(doorOf(runsheet), 'tail')
    const tails = (): boolean[] => tail.mock.calls.map(([, options]) => options?.signal?.aborted ?? false)
    await agent.call('runsheet', 'plan', CALL)
    const url = new URL('api/sessions/chat-1/events', host.url)
    const leave = new AbortController()
    const first = await host.fetch(url, { ...as('bot'), signal: leave.signal })
    expect(first.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const seen = await events(first, 3)
    expect(seen.map(({ id }) => id)).toEqual(['1', '2', '3'])
    expect(tails()).toEqual([false])
    leave.abort()
    await vi.waitFor(() => expect(tails()).toEqual([true]), WAIT)
    const again = new AbortController()
    const second = await host.fetch(url, { ...as('bot', { 'last-event-id': '3' }), signal: again.signal })
    const { task } = await person.addTask('chat-1', { title: 'Land' })
    const rest = await events(second, 3)
    expect(rest.map(({ id }) => id)).toEqual(['4', '5', '6'])
    expect(rest.at(-1)?.data).toContain(task.id)
    again.abort()
    await vi.waitFor(() => expect(tails()).toEqual([true, true]), WAIT)
  })

  it('a person decides the review that a call of the same process waits for', async () => {
    const { runsheet, person } = await open({}, { policy: { review: true } })
    const call = runsheet.conversation('chat-1').turn('turn-1').call('plan', PLAN)
    await vi.waitFor(async () => expect((await person.pendingReviews()).reviews).toHaveLength(1), WAIT)
    const [review] = (await person.pendingReviews('chat-1')).reviews
    await person.decide(review?.review_id ?? '', { action: 'confirm', tasks: [{ draft_index: 1 }] })
    expect(await call).toMatchObject({ next: '1 Leap', remaining: 1 })
  })
})

describe('the base path', () => {
  it('[HA1] is in the OpenAPI document, which asks for no token', async () => {
    const { ask } = mounted()
    const document = (await (await ask('/api/openapi.json', as('bot'))).json()) as {
      servers: unknown
      paths: Record<string, Record<string, { security: unknown }>>
      components: Record<string, unknown>
    }
    expect(document.servers).toEqual([{ url: '/runsheet' }])
    expect(document.components).not.toHaveProperty('securitySchemes')
    expect(document.paths['/api/sessions']?.['get']?.security).toEqual([])
  })

  it('[HA1] outside of it there is nothing but a 404', async () => {
    const { handler } = mounted()
    const asked = async (path: string) => (await handler(new Request(`${ORIGIN}${path}`, as('bot')))).status
    expect(await asked('/runsheet/api/sessions')).toBe(200)
    for (const path of [
      '/runsheets/api/sessions',
      '/runsheet',
      '/',
      '/api/sessions',
      '/healthz',
      '/a/runsheet/healthz',
    ])
      expect([path, await asked(path)]).toEqual([path, 404])
  })

  it('[HA1] is left out where the host removes it', async () => {
    const { handler } = mounted({ basePath: '' })
    const hono = new Hono().mount('/runsheet', handler)
    expect((await hono.request('/runsheet/api/sessions', as('bot'))).status).toBe(200)
    const express = await HOSTS['Express']?.(handler)
    onTestFinished(async () => express?.close())
    expect((await fetch(new URL('api/sessions', express?.url), as('bot'))).status).toBe(200)
  })

  it('[HA1] may end with a slash, and must begin with one', async () => {
    const { handler } = mounted({ basePath: '/runsheet/' })
    expect((await handler(new Request(`${ORIGIN}/runsheet/healthz`))).status).toBe(200)
    expect(() => mounted({ basePath: 'runsheet' })).toThrow('basePath must start with a slash')
  })

  it('[HA1] there is no login and no metrics: both belong to our own server', async () => {
    const { ask } = mounted()
    expect((await ask('/api/login', post('ann', { code: 'x' }))).status).toBe(404)
    expect((await ask('/metrics')).status).toBe(404)
    expect((await ask('/readyz')).status).toBe(200)
  })
})

describe('authenticate', () => {
  const status = async (authenticate: HandlerOptions['authenticate'], method = 'GET'): Promise<number> =>
    (await mounted({ authenticate }).ask('/api/sessions', { method })).status

  it('may answer at once or later', async () => {
    expect(await status(() => ({ role: 'agent' }))).toBe(200)
    expect(await status(async () => ({ role: 'agent' }))).toBe(200)
  })

  it('without an answer the request gets 401, whatever it asks for', async () => {
    expect(await status(() => undefined)).toBe(401)
    expect(await status(async () => undefined)).toBe(401)
    expect(await status(() => undefined, 'DELETE')).toBe(401)
    const { ask } = mounted({ authenticate: () => undefined })
    expect(await codeOf(await ask('/api/nothing'))).toBe('unauthorized')
    expect((await ask('/healthz')).status).toBe(200)
  })

  it('an error of it is logged, and not returned', async () => {
    const error = vi.fn<(details: object, message: string) => void>()
    const { ask } = mounted({
      authenticate: () => {
        throw new Error('the session store is down')
      },
      log: { error, warn: () => {} },
    })
    const response = await ask('/api/sessions')
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('session store')
    expect(error).toHaveBeenCalledExactlyOnceWith(
      { err: new Error('the session store is down'), method: 'GET', route: '/api/sessions' },
      'a request failed',
    )
  })

  it('without a log, an unexpected error goes to stderr once', async () => {
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    onTestFinished(() => written.mockRestore())
    const { ask } = mounted({
      authenticate: () => {
        throw new Error('the session store is down')
      },
    })
    await ask('/api/sessions')
    expect(written.mock.calls.map(([text]) => String(text).split('\n')[0])).toEqual([
      'Runsheet: a request failed: Error: the session store is down',
    ])
  })

  it('[TR38][TR39] without a log, an error on stderr has no token and forges no line', async () => {
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    onTestFinished(() => written.mockRestore())
    const { ask } = mounted({
      authenticate: () => {
        throw new Error('refused: Bearer abcdefgh12345678\nRunsheet: all is well\u001b[2J')
      },
    })
    await ask('/api/sessions')
    const [line, ...others] = String(written.mock.calls[0]?.[0]).trim().split('\n')
    expect(line).toBe('Runsheet: a request failed: Error: refused: Bearer [redacted]')
    expect(others[0]).toBe('    Runsheet: all is well\\u001b[2J')
    for (const other of others) expect(other).toMatch(/^ {4}/)
  })

  it('[AU2] an agent is turned away from what is for persons', async () => {
    const { ask } = mounted()
    const policy = { method: 'PUT', body: '{}' }
    const headers = { 'content-type': 'application/json' }
    expect((await ask('/api/sessions/c/policy', { ...policy, ...as('bot', headers) })).status).toBe(403)
    expect((await ask('/api/sessions/c/policy', { ...policy, ...as('ann', headers) })).status).toBe(200)
  })

  it("a tenant sees its own conversations; without one, the runsheet's", async () => {
    const { ask, runsheet } = mounted({}, { tenant: 'default' })
    await runsheet.conversation('chat-1').turn('turn-1').call('plan', PLAN)
    const titles = async (user: string) =>
      ((await (await ask('/api/sessions', as(user))).json()) as { sessions: unknown[] }).sessions.length
    expect([await titles('ann'), await titles('ann-of-acme')]).toEqual([1, 0])
  })

  it('[AU5] the writes of agents are limited by tenant', async () => {
    const { ask } = mounted({ agentWritesPerMinute: 1 })
    const call = (user: string) => ask('/api/toolsets/runsheet/tools/tasks', post(user, { ...CALL, arguments: {} }))
    expect([(await call('bot')).status, (await call('bot')).status, (await call('ann')).status]).toEqual([
      200, 429, 200,
    ])
  })
})

describe('origins', () => {
  const APP = 'https://app.example'
  const asked = (ask: Mount['ask'], origin: string, init: RequestInit = {}) =>
    ask('/api/sessions', { ...init, headers: { 'x-user': 'ann', origin } })

  it('requests without an Origin, of the same origin and of a listed one are let in', async () => {
    const { ask } = mounted({ origins: [APP] })
    expect((await ask('/api/sessions', as('ann'))).status).toBe(200)
    expect((await asked(ask, ORIGIN)).status).toBe(200)
    expect((await asked(ask, APP)).status).toBe(200)
  })

  it.each(['https://evil.example', 'http://app.example', `${APP}:8443`, 'http://host.example', 'null', ''])(
    '%o gets 403 and no CORS headers',
    async origin => {
      const { ask } = mounted({ origins: [APP] })
      for (const method of ['GET', 'OPTIONS']) {
        const response = await asked(ask, origin, { method })
        expect(await codeOf(response)).toBe('foreign_origin')
        expect([...response.headers.keys()].filter(name => name.startsWith('access-control-'))).toEqual([])
      }
    },
  )

  it('a listed origin gets CORS headers: on its preflight, on answers and on streams', async () => {
    const { ask, runsheet } = mounted({ origins: [APP] })
    await runsheet.conversation('chat-1').turn('turn-1').call('plan', PLAN)
    const preflight = await ask('/api/sessions/chat-1/tasks/x', {
      method: 'OPTIONS',
      headers: {
        origin: APP,
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'authorization,if-match',
      },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-methods')).toContain('PATCH')
    expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization,if-match')
    const stream = await ask('/api/sessions/chat-1/events', as('ann', { origin: APP }))
    onTestFinished(() => stream.body?.cancel())
    for (const { headers } of [preflight, await asked(ask, APP), stream]) {
      expect(headers.get('access-control-allow-origin')).toBe(APP)
      expect(headers.get('access-control-allow-credentials')).toBe('true')
      expect(headers.get('vary')).toContain('Origin')
    }
  })

  it.each(['https://app.example/', 'app.example', '*'])('%o is no origin, and is refused at the start', origin => {
    expect(() => mounted({ origins: [origin] })).toThrow('without a path')
  })
})

describe('turns', () => {
  it('run with the models of a runner on the same runsheet', async () => {
    const { ask, runsheet } = mounted({ models: { names: ['demo'], defaultName: 'demo' } })
    const runner = createRunner({ runsheet, models: { demo: demoModel() } })
    expect(runner.models).toEqual({ names: ['demo'], defaultName: 'demo' })
    onTestFinished(() => runner.close())
    const body = { session_id: 'c', turn_id: 't', message: 'Compute 12*7, then tell me.' }
    const text = await (await ask('/api/chat', post('ann', body))).text()
    expect(text).toMatch(/^id: \d+\nevent: turn_started\n/)
    expect(text).toMatch(/event: turn_finished\ndata: .*"status":"done".*\n\n$/)
    expect(await (await ask('/api/models', as('bot'))).json()).toEqual({ models: [{ name: 'demo', default: true }] })
  })

  it('without models there are none: 501', async () => {
    const { ask } = mounted()
    const response = await ask('/api/chat', post('ann', { session_id: 'c', turn_id: 't', message: 'Go.' }))
    expect([response.status, await codeOf(response)]).toEqual([501, 'not_implemented'])
  })
})

describe('close', () => {
  it('ends streams, answers calls that wait with 202, and refuses what comes later', async () => {
    const { ask, handler } = mounted({}, { policy: { review: true } })
    const waiting = ask('/api/toolsets/runsheet/tools/plan', post('bot', CALL))
    await vi.waitFor(async () => expect((await ask('/api/sessions/chat-1', as('bot'))).status).toBe(200), WAIT)
    const stream = await ask('/api/sessions/chat-1/events', as('bot'))
    await handler.close()
    expect((await waiting).status).toBe(202)
    expect(await stream.text()).toContain('event: task_create_review_required')
    const later = await ask('/api/sessions', as('bot'))
    expect([later.status, await codeOf(later), later.headers.get('retry-after')]).toEqual([503, 'closing', '1'])
  })

  it('a stream ends with the runsheet, too', async () => {
    const { ask, runsheet } = mounted()
    await runsheet.conversation('chat-1').turn('turn-1').call('plan', PLAN)
    const stream = await ask('/api/sessions/chat-1/events', as('bot'))
    await runsheet.close()
    expect(await stream.text()).toContain('event: task_created')
  })
})

it('streams beyond the limit get 429, and a place is free once a reader has left', async () => {
  const { ask, runsheet } = mounted({ maxRequests: 1 })
  await runsheet.conversation('chat-1').turn('turn-1').call('plan', PLAN)
  const open = () => ask('/api/sessions/chat-1/events', as('bot'))
  const first = await open()
  expect((await open()).status).toBe(429)
  await first.body?.cancel()
  const second = await open()
  expect(second.status).toBe(200)
  await second.body?.cancel()
})

it('HEAD on a stream answers its headers and holds no place', async () => {
  const { ask, runsheet } = mounted({ maxRequests: 1 })
  await runsheet.conversation('chat-1').turn('turn-1').call('plan', PLAN)
  for (let count = 0; count < 3; count += 1) {
    const response = await ask('/api/sessions/chat-1/events', { ...as('bot'), method: 'HEAD' })
    expect([response.status, response.headers.get('content-type'), response.body]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
      null,
    ])
  }
})

it('[HA1] the Hono example of the docs serves a person and an agent, and ends cleanly', async () => {
  const file = new URL('../../examples/hono.ts', import.meta.url)
  const docs = readFileSync(new URL('../../docs/http.md', import.meta.url), 'utf8')
  expect(/<!-- examples\/hono\.ts -->\n```ts\n([\s\S]*?)```/.exec(docs)?.[1]).toBe(readFileSync(file, 'utf8'))
  const cwd = scratchFolder()
  const hook = new URL('../support/from-source.ts', import.meta.url).href
  const child = runProcess([process.execPath, '--import', hook, fileURLToPath(file), '0'], { cwd })
  onTestFinished(() => {
    child.process.kill('SIGKILL')
    rmSync(cwd, { recursive: true })
  })
  const url = await child.line(line => line.startsWith('http'))
  const [person, agent] = [createClient({ url, token: 'ann' }), createClient({ url, token: 'bot' })]
  const call = agent.call('runsheet', 'plan', CALL)
  const live = person.live('chat-1')
  await vi.waitFor(() => expect(live.snapshot().conversation.pending_reviews).toHaveLength(1), WAIT)
  const [review = ''] = live.snapshot().conversation.pending_reviews
  await person.decide(review, { action: 'confirm', tasks: [{ draft_index: 0 }] })
  expect(await call).toMatchObject({ result: { ids: [1] } })
  await vi.waitFor(() => expect(listed(live.snapshot().conversation)).toHaveLength(1), WAIT)
  child.process.kill('SIGTERM')
  await vi.waitFor(() => expect(live.snapshot().status).toBe('reconnecting'), WAIT)
  live.close()
  expect(await child.ended).toEqual({ code: 0, signal: null, stderr: '' })
})

it('loads neither prom-client nor pino nor the MCP SDK nor AI SDK', async () => {
  const entry = new URL('../../src/library/http.ts', import.meta.url).href
  const script = `
    import { registerHooks } from 'node:module'
    const loaded = new Set()
    registerHooks({ load: (url, context, next) => (loaded.add(url), next(url, context)) })
    await import(${JSON.stringify(entry)})
    console.log([...loaded].flatMap(url => /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1] ?? []).join('\\n'))`
  const cwd = fileURLToPath(new URL('../..', import.meta.url))
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd })
  expect([...new Set(stdout.trim().split('\n'))].toSorted()).toEqual([
    '@hono/node-server',
    'hono',
    'uuid',
    'zod',
    'zod-openapi',
  ])
})

interface Message {
  readonly id: string | undefined
  readonly data: string
}

/** The first stored events of a stream, which stays open. */
async function events(response: Response, count: number): Promise<readonly Message[]> {
  const found: Message[] = []
  const parser = createParser({ onEvent: ({ id, data }) => id !== undefined && found.push({ id, data }) })
  const decoder = new TextDecoder()
  for await (const chunk of response.body?.values({ preventCancel: true }) ?? []) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    if (found.length >= count) break
  }
  return found.slice(0, count)
}
