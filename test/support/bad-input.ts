import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { LIMITS, line, messageText, Problem, prose } from '../../src/core/model/text.ts'
import type { Route } from '../../src/server/http/route.ts'
import { toolsets } from '../../src/engine/toolsets/index.ts'
import { inLongRun } from './children.ts'
import { fault } from './faults.ts'
import { type Answered, bearer, EVERY_ROUTE, filled, nameOf, send } from './requests.ts'
import { startServer, type TestServer } from './server.ts'
import type { StoreKind } from './stores.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const WITH_BODY = EVERY_ROUTE.filter(({ body }) => body !== undefined)

/** A token that `JSON.stringify` would write differently. */
const raw = (token: string): string => `@raw:${token}@`
const written = (value: unknown): string => JSON.stringify(value).replaceAll(/"@raw:(.*?)@"/g, '$1')

/** Invalid or odd parts of a path. */
const ODD_SEGMENTS = [
  '..%2f..%2fetc%2fpasswd',
  'a%2fb',
  '%5c..%5cx',
  'a.b',
  '*',
  '~',
  '%00',
  'a%00b',
  '%0a',
  'a%20b',
  '%ff',
  '%c0%af',
  '%ed%a0%80',
  '%E2%80%AE',
  '%E2%80%8B',
  '%F0%9F%92%A9',
  '%',
  '%zz',
  "x'%20OR%20'1'='1",
  '%3Cscript%3Ealert(1)%3C%2Fscript%3E',
  '%7B%22%24ne%22%3A1%7D',
  'x'.repeat(10_000),
  'x'.repeat(129),
]
/** These lead to another path. */
const DOTS = ['.', '..', '%2e', '%2E%2e', '..;']
/** Valid names that must not be found on a prototype. */
const PROTOTYPES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']

const b64 = (text: string): string => Buffer.from(text).toString('base64url')
const GARBAGE_CURSORS = [
  'x',
  '%00',
  '....',
  'x'.repeat(1_001),
  'x'.repeat(10_000),
  ...[
    '[]',
    '{}',
    'null',
    '"x"',
    '["a"]',
    '[1]',
    '["a","b","c"]',
    '[1,2,3]',
    '[null,null]',
    '[[],[]]',
    '["a",1]',
    '[1,"a"]',
    '[true,1]',
    '{"0":"a","1":"b","length":2}',
    '["a\\u0000","b"]',
    '["a","\\u0000"]',
    '["\\ud800","x"]',
    '["é","x"]',
    '["a\\n","b"]',
  ].map(b64),
]

const BAD_QUERIES: Readonly<Record<string, readonly string[]>> = {
  limit: ['0', '-1', '1e9', '201', 'abc', '', '1.5', 'NaN', 'Infinity', 'null', '[]', '%00', '9'.repeat(400)],
  cursor: GARBAGE_CURSORS,
  status: ['x', 'PENDING', '', 'pending,completed', '%00', '__proto__', 'constructor'],
  q: ['', 'x'.repeat(401), 'x'.repeat(10_000), '%00', 'a%00', 'a%0ab', '%7f', '%C2%85'],
  kind: ['x', '', 'TASK', 'task,message', '%00', '__proto__', 'constructor'],
  list: ['x', '', 'ACTIVE', 'active,archived', '%00', '__proto__', 'constructor'],
  approvals: ['x', '', '1', 'TRUE', 'true,false', '%00', '__proto__', 'constructor'],
  origins: ['x', '', '1', 'TRUE', 'true,false', '%00', '__proto__', 'constructor'],
  prefix: ['x'.repeat(33), 'a%20b', '%00', 'a.b', '..%2f', '%E7%94%9F'],
  last_event_id: ['-1', 'abc', '1.5', '1e3', '%00', '0x1', '%201', '9'.repeat(16), '__proto__'],
}
/** What a route cannot do without. */
const QUERIES: Readonly<Record<string, Record<string, string>>> = {
  '/api/tasks': { q: 'One' },
  '/api/search': { q: 'One' },
  '/api/toolsets/:name/retry': { session_id: 'work', turn_id: 't' },
}
const ID_QUERIES = new Set(['turn_id', 'task_id', 'session_id'])

/** Fields in which null is a value. */
const NULLABLE = new Set(['draft_index', 'review_timeout_ms', 'panel_grace_ms', 'rule'])

/** Fields that take any JSON. */
const ANY_JSON: ReadonlySet<unknown> = new Set(['arguments', 'answer'])

/** A check of each kind, with every field. */
const CHECKS = [
  { kind: 'command', run: ['npm', 'test'], cwd: 'app', exit: 1, contains: 'ok', timeout_ms: 5_000 },
  { kind: 'file', path: 'a.txt', contains: 'x', id: 'an-id', hash: 'a-hash' },
  { kind: 'unchanged', paths: ['src/**'] },
  {
    kind: 'person',
    ask: 'Is it done?',
    approved: true,
    state: 'waiting',
    baseline: 'not_run',
    changes: [{ path: 'a', is: 'outside' }],
  },
]

/** Values of every type; each field accepts some of them. */
const KINDS: readonly unknown[] = [null, true, 0, '', 'x', [], {}, [null], [[]], { a: 1 }, [{ title: 'x' }]]
const NUMBERS = ['1e400', '-1e400', '-0', '9007199254740993', '1e308', '5e-324', '-1', '0.5', '1e21'].map(raw)
const TEXTS = [
  '\0',
  'a\0b',
  '\u0001\u001f\u007f\u0085',
  'safe\u202egnp.exe',
  '\u202e',
  '\u2066x\u2069',
  '\u200b\u200d\ufeff',
  '\u3164',
  '   \r\n\t ',
  'two\r\nlines\u2028three',
  '\ud800',
  'x\udc00y',
  "'; DROP TABLE runsheet.tasks; --",
  '<script>alert(1)</script><img src=x onerror=alert(1)>',
  '{{constructor.constructor("return 1")()}}${7*7}%s%n',
  '../../etc/passwd',
  '__proto__',
  '👩‍👩‍👧‍👦'.repeat(50),
  'é'.repeat(65),
  'x'.repeat(401),
  'x'.repeat(8_001),
]

const MALFORMED: readonly (readonly [string, string | Uint8Array])[] = [
  ['nothing', ''],
  ['a blank', ' '],
  ['half an object', '{'],
  ['half a string', '{"title":"'],
  ['a word', 'undefined'],
  ['single quotes', "{'title':'x'}"],
  ['a comma too many', '{"title":"x",}'],
  ['a comment', '/* x */{}'],
  ['NaN', '{"position":NaN}'],
  ['Infinity', '{"position":-Infinity}'],
  ['a hexadecimal number', '{"position":0x10}'],
  ['two values', '{}{}'],
  ['a bare NUL', '\0'],
  ['a raw NUL in a string', '{"title":"a\0b"}'],
  ['a raw line break in a string', '{"title":"a\nb"}'],
  ['a byte that is not UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
  ['Latin-1', Buffer.from('{"title":"é"}', 'latin1')],
  ['an overlong slash', Buffer.from([...Buffer.from('{"title":"'), 0xc0, 0xaf, 0x22, 0x7d])],
  ['a surrogate in UTF-8', Buffer.from([...Buffer.from('{"title":"'), 0xed, 0xa0, 0x80, 0x22, 0x7d])],
  ['UTF-16', Buffer.from('{"title":"x"}', 'utf16le')],
  ['UTF-16 with its mark', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('{"title":"x"}', 'utf16le')])],
  ['form fields', 'title=x&status=pending'],
  ['arrays 102 deep', '['.repeat(102) + ']'.repeat(102)],
  ['arrays 1,000 deep', '['.repeat(1_000) + ']'.repeat(1_000)],
  ['arrays 100,000 deep', '['.repeat(100_000) + ']'.repeat(100_000)],
  ['arrays 100,000 deep that never close', '['.repeat(100_000)],
  ['objects 1,000 deep', `${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}`],
  ['objects 40,000 deep', `${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}`],
  ['a field 1,000 deep', `{"title":${'['.repeat(1_000)}${']'.repeat(1_000)}}`],
  ['a prototype', '{"__proto__":{"role":"person"}}'],
  ['a prototype within', '{"tasks":[{"title":"x","__proto__":{"status":"done"}}]}'],
  ['a prototype in disguise', '{"__pro\\u0074o__":null}'],
]

const CONTENT_TYPES = [
  undefined,
  '',
  'text/plain',
  'text/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/jsonx',
  'application/vnd.api+json',
  'application/json, text/plain',
  'application/json; charset=utf-16',
  'application/json; charset=iso-8859-1',
  'application/json; charset=utf-8; charset=utf-7',
  'application/json; boundary=x',
  'x'.repeat(5_000),
]

const NOT_OBJECTS = ['null', 'true', '0', '-0', '1e400', '"x"', '[]', '[{}]', '[[]]', `"${'x'.repeat(10_000)}"`]

/** How large a body may be: less where anybody may send one. */
export const mostBytes = ({ role }: Pick<Route, 'role'>): number => (role === 'none' ? 4 : 256) * 1024

/** The path and body of a valid request. */
interface Request {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>> | undefined
}

/** Routes whose bodies never reach the store. */
const STORELESS: ReadonlySet<string> = new Set([
  '/api/chat',
  '/api/login',
  '/api/settings',
  '/api/settings/try',
  '/api/tools/rules',
])

/** Two tasks of the conversation `work`, the second disputed; a pending review, a queued message and a call that waits in conversations of their own. */
interface World {
  readonly guarded: string
  readonly approval: string
  readonly steered: string
  readonly message: string
  readonly task: string
  readonly disputed: string
  readonly check: string
  readonly settings: string
  readonly version: number
  readonly review: string
}

/** Runs on every store: NUL and a lone surrogate are text to one and an error to another. */
export function badInput(store: StoreKind): void {
  fault('requests with bad input')
  // Requests that never reach the store are tested with one store only, those that hardly do with all in the long run.
  const isFirst = store === 'sqlite'
  const testOnce: (title: string, check: () => Promise<void>) => void = isFirst ? test : () => {}
  // In the short run each place gets some of the values, and each value some of the places.
  const step = inLongRun(1, isFirst ? 6 : 12)
  const some = <T>(values: readonly T[], place: number): T[] =>
    values.filter((_, index) => (index + place) % step === 0)
  const atTheEdge = (routes: readonly Route[]): readonly Route[] => (isFirst ? routes : inLongRun(routes, []))
  let at: TestServer
  let world: World
  let made = 0

  let before = ''

  beforeAll(async () => {
    at = await startServer({ store, reviewWaitMs: 1 })
    await at.person.setPolicy('work', { toolset: 'runsheet', review: false, assessor: false, gate: false })
    await at.ask('POST', '/api/toolsets/runsheet/tools/plan', {
      body: { session_id: 'work', turn_id: 't', arguments: { tasks: [{ title: 'One' }] } },
    })
    world = {
      version: 0,
      settings: '',
      ...(await newTask()),
      ...(await newDispute()),
      ...(await newReview()),
      ...(await newMessage()),
      ...(await newApproval()),
    }
    await saveTemplate()
    await lookAround()
  })
  afterAll(() => at.close())

  async function newTask(): Promise<Pick<World, 'task' | 'check'>> {
    const checks = [{ kind: 'person', ask: 'Is it done?' } as const]
    const { task } = await at.person.addTask('work', { title: 'Two', checks })
    return { task: task.id, check: task.checks?.[0]?.id ?? '' }
  }

  async function newDispute(): Promise<Pick<World, 'disputed'>> {
    const { task } = await at.person.addTask('work', { title: 'Three' })
    const update = { id: task.number, status: 'disputed', outcome: 'Why' }
    await at.agent.call('runsheet', 'update', { session_id: 'work', turn_id: 't', arguments: update })
    return { disputed: task.id }
  }

  async function newReview(): Promise<Pick<World, 'review'>> {
    made += 1
    const asked = `asked-${made}`
    // Long enough to outlast the tests.
    const patient = { review_timeout_ms: 86_400_000, panel_grace_ms: 86_400_000 }
    await at.person.setPolicy(asked, { toolset: 'runsheet', review: true, assessor: false, gate: false, ...patient })
    const pending = await at.ask('POST', '/api/toolsets/runsheet/tools/plan', {
      body: { session_id: asked, turn_id: 't', arguments: { tasks: [{ title: 'One' }, { title: 'Two' }] } },
    })
    return { review: ((await pending.json()) as { review_id: string }).review_id }
  }

  async function newMessage(): Promise<Pick<World, 'steered' | 'message'>> {
    made += 1
    const steered = `steered-${made}`
    const request = { message_id: 'm', message: 'Do it', model: 'demo' }
    await at.door.run({ tenant: 'local', conversation: steered }, { type: 'start_turn', turn_id: 't', ...request })
    const { message } = await at.person.sendMessage(steered, 'And that')
    return { steered, message: message.message_id }
  }

  async function newApproval(): Promise<Pick<World, 'guarded' | 'approval'>> {
    made += 1
    const guarded = `guarded-${made}`
    const approval = { approval_id: `approval-${made}`, tool_call_id: 'c', tool: 'files__write', arguments: {} }
    await at.door.run(
      { tenant: 'local', conversation: guarded },
      { type: 'start_turn', turn_id: 't', message_id: 'm', message: 'Do it', model: 'demo' },
      { type: 'ask_approval', turn_id: 't', approval },
    )
    return { guarded, approval: approval.approval_id }
  }

  const saveTemplate = (): Promise<unknown> =>
    at.ask('PUT', '/api/task-manager/templates/saved', { body: { tasks: [{ title: 'Saved' }] } })

  /** Replaces what an accepted request may have used up. */
  async function renew({ path }: Route): Promise<void> {
    if (path.includes(':task_id')) world = { ...world, ...(await newTask()) }
    if (path.endsWith('/insist')) world = { ...world, ...(await newDispute()) }
    if (path.includes(':review_id')) world = { ...world, ...(await newReview()) }
    if (path.includes('/messages')) world = { ...world, ...(await newMessage()) }
    if (path.includes('/approvals/')) world = { ...world, ...(await newApproval()) }
    if (path.includes('/templates/')) await saveTemplate()
    await lookAround()
  }

  /** Remembers the state. Blocking a task may have made another one current. */
  async function lookAround(): Promise<void> {
    const { tasks } = await at.door.read({ tenant: 'local', conversation: 'work' })
    world = { ...world, settings: at.settings.view().version, version: tasks.get(world.task)?.version ?? 0 }
    before = await fingerprint()
  }

  function sessionFor(path: string): string {
    if (path.endsWith('/policy')) return 'bare'
    if (path.includes('/approvals/')) return world.guarded
    return path.includes('/messages') ? world.steered : 'work'
  }

  /** A valid request with every field. */
  function fine({ path, method }: Route): Request {
    const params: Record<string, string> = {
      session_id: sessionFor(path),
      turn_id: 't',
      task_id: path.endsWith('/insist') ? world.disputed : world.task,
      check_id: world.check,
      review_id: world.review,
      message_id: world.message,
      approval_id: world.approval,
      server: 'files',
      panel: 'panel-1',
      name: path.includes('/templates/') ? 'saved' : 'runsheet',
      tool: 'plan',
      seq: '1',
    }
    const checks = { checks: CHECKS, scope: ['test/**'] }
    const row = { title: 'Row', details: 'd', criteria: 'c', priority: 'high', status: 'todo', tags: ['t'], ...checks }
    const fields = { title: 'T', details: 'd', criteria: 'c', priority: 'high', tags: ['t'], position: 1, ...checks }
    const bodies: Readonly<Record<string, Record<string, unknown>>> = {
      'POST /api/chat': {
        session_id: 'work',
        turn_id: 'chat',
        message: 'Hello',
        model: 'demo',
        toolset: 'runsheet',
        review: true,
        assessor: true,
        gate: true,
      },
      'PATCH /api/sessions/:session_id': { title: 'T', pinned: true, archived: false },
      'PUT /api/sessions/:session_id/policy': {
        toolset: 'runsheet',
        review: true,
        assessor: true,
        gate: true,
        review_timeout_ms: 5_000,
        panel_grace_ms: 1,
        max_steps: 1,
        max_steps_with_plan: 1,
        max_advances: 1,
        history_limit: 1,
      },
      'POST /api/sessions/:session_id/messages': { text: 'And that' },
      'PATCH /api/sessions/:session_id/messages/:message_id': { text: 'And this' },
      'POST /api/sessions/:session_id/tasks': { ...fields, status: 'pending' },
      'PATCH /api/sessions/:session_id/tasks/:task_id': { ...fields, status: 'blocked', outcome: 'o' },
      'POST /api/sessions/:session_id/tasks/:task_id/insist': { comment: 'c' },
      'POST /api/sessions/:session_id/tasks/:task_id/undo': { version: world.version },
      'POST /api/sessions/:session_id/tasks/:task_id/changes/accept': { paths: ['package.json'] },
      'POST /api/sessions/:session_id/evidence': {
        tool: 'Bash',
        arguments: { command: 'npm test' },
        answer: 'ok',
        ok: true,
        task_id: world.task,
      },
      'POST /api/task-manager/reviews/:review_id/decision': {
        action: 'confirm',
        tasks: [{ ...row, draft_index: 0 }],
        comment: 'c',
        row_comments: [{ draft_index: 1, comment: 'r' }],
      },
      'POST /api/task-manager/reviews/:review_id/extend': { ms: 172_800_000 },
      'POST /api/task-manager/templates/:name/rename': { name: 'saved' },
      'PUT /api/task-manager/templates/:name': { name: 'saved', tasks: [row] },
      'POST /api/toolsets/:name/tools/:tool': {
        session_id: 'work',
        turn_id: 't',
        arguments: { tasks: [{ title: 'x' }] },
        source_user_message_id: 'u',
        source_assistant_message_id: 'a',
      },
      'PATCH /api/settings': {
        model: 'demo',
        base_url: 'http://127.0.0.1:1/v1',
        key: 'a-key-of-mine',
        assessor_model: 'demo',
        review: true,
        review_timeout_ms: 5_000,
        gate: true,
        unset: [],
      },
      'POST /api/settings/try': { which: 'model' },
      'PUT /api/tools/rules': { server: 'files', rule: 'always', tools: [{ name: 'write', fingerprint: 'a.b' }] },
      'POST /api/sessions/:session_id/approvals/:approval_id': { decision: 'deny', comment: 'c' },
      'POST /api/login': { code: 'x' },
    }
    const version = path.endsWith(':message_id') ? 1 : path.endsWith(':task_id') ? world.version : undefined
    const settingsVersion = path === '/api/settings' ? { 'if-match': world.settings } : {}
    return {
      params,
      query: QUERIES[path] ?? {},
      headers: version === undefined ? settingsVersion : { 'if-match': String(version) },
      body: bodies[nameOf({ path, method })],
    }
  }

  /** Sends a request and checks the rule of this file: an answer in our form, no 5xx, and no change if it is refused. */
  async function asked(
    route: Route,
    change: Partial<Request> & { rawBody?: string | Uint8Array } = {},
  ): Promise<Answered> {
    const request = { ...fine(route), ...change }
    const query = Object.entries(request.query).map(([name, value]) => `${name}=${value}`)
    const path =
      filled(route.path, name => request.params[name] ?? '') + (query.length === 0 ? '' : `?${query.join('&')}`)
    const body = change.rawBody ?? (request.body === undefined ? undefined : written(request.body))
    const answer = await send(at.url.port, route.method.toUpperCase(), path, {
      headers: { ...bearer('person'), ...(body === undefined ? {} : JSON_TYPE), ...request.headers },
      ...(body === undefined ? {} : { body }),
    })
    const what = `${route.method} ${path.slice(0, 300)} ${String(body).slice(0, 300)} → ${answer.status} ${answer.text.slice(0, 300)}`
    // 501 says that this server runs no turns.
    if (answer.code !== 'not_implemented') expect(answer.status, what).toBeLessThan(500)
    expect(answer.status, what).toBeGreaterThanOrEqual(200)
    if (answer.status >= 400) {
      expect(answer.code, what).toBeDefined()
      expect(answer.text, what).not.toMatch(/\n {4}at |node_modules|\.ts:\d|SELECT |INSERT |SQLITE|ZodError/)
      if (route.method !== 'get') expect(await fingerprint(), what).toBe(before)
    } else if (route.method !== 'get') await renew(route)
    return answer
  }

  /** Everything that a request could change: `seq` covers tasks and reviews. */
  async function fingerprint(): Promise<string> {
    const { conversations, templates } = at.door
    const lists = [conversations.list('local', { limit: 20 }), templates.list('local')]
    return JSON.stringify([at.settings.view().version, ...(await Promise.all(lists))])
  }

  const paramsOf = ({ path }: Route): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const isId = (name: string): boolean => !['name', 'tool', 'seq'].includes(name)

  test('every route with a body is in the table, and what the table says is accepted', async () => {
    for (const route of WITH_BODY) {
      expect(fine(route).body, nameOf(route)).toBeDefined()
      const { status } = await asked(route)
      // No changes wait to be accepted.
      const fits = nameOf(route).endsWith('/changes/accept') ? [422] : [401, 501]
      expect([nameOf(route), status < 300 || fits.includes(status)]).toEqual([nameOf(route), true])
    }
  })

  test.each(atTheEdge(EVERY_ROUTE.filter(({ path }) => path.includes(':'))))(
    '$method $path: an invalid id in the path is refused',
    async route => {
      const first = EVERY_ROUTE.indexOf(route)
      for (const [index, name] of paramsOf(route).entries()) {
        for (const segment of some(ODD_SEGMENTS, first + index)) {
          const answer = await asked(route, { params: { ...fine(route).params, [name]: segment } })
          if (isId(name)) {
            expect([segment, answer.status, answer.code, answer.field]).toEqual([segment, 400, 'invalid_id', name])
          }
        }
        // A policy creates its conversation, and such names are valid.
        const valid = [...DOTS, ...(route.path.endsWith('/policy') ? [] : PROTOTYPES)]
        for (const segment of some(valid, first + index)) {
          const answer = await asked(route, { params: { ...fine(route).params, [name]: segment } })
          if (route.method === 'get') expect([segment, answer.status >= 400]).toEqual([segment, true])
        }
      }
    },
  )

  test.each(atTheEdge(EVERY_ROUTE.filter(({ query }) => query !== undefined)))(
    '$method $path: an invalid query is refused',
    async route => {
      const names = Object.keys((route.query as z.ZodObject).shape)
      for (const name of names) {
        const isOfId = ID_QUERIES.has(name)
        const bad = isOfId ? ['', ...ODD_SEGMENTS.filter(each => !each.includes('&'))] : BAD_QUERIES[name]
        expect(bad, `no bad values for ${name}`).toBeDefined()
        for (const value of some(bad ?? [], EVERY_ROUTE.indexOf(route))) {
          const answer = await asked(route, { query: { ...fine(route).query, [name]: value } })
          const refusal = [400, isOfId ? 'invalid_id' : 'invalid_request', name]
          expect([value, answer.status, answer.code, answer.field]).toEqual([value, ...refusal])
        }
      }
      const { status } = await asked(route, {
        query: { ...fine(route).query, __proto__: 'x', constructor: 'x', 'a[b]': 'x', '%00': '%00' },
      })
      // A call that waits for a person is 202.
      expect([200, 202]).toContain(status)
    },
  )

  test('a well-formed cursor that points nowhere is accepted', async () => {
    const list = EVERY_ROUTE.find(each => nameOf(each) === 'GET /api/sessions/:session_id/tasks')
    const sessions = EVERY_ROUTE.find(each => nameOf(each) === 'GET /api/sessions')
    if (!list || !sessions) throw new Error('no such routes')
    for (const place of ['[1e400,1e400]', '[-1e400,0]', '[1e308,5e-324]', '[-0,-0]', '[9007199254740993,0.5]']) {
      expect((await asked(list, { query: { cursor: b64(place) } })).status).toBe(200)
    }
    for (const place of ['"",""', `"'; --","x"`, `"${'9'.repeat(300)}","~"`]) {
      expect((await asked(sessions, { query: { list: 'all', cursor: b64(`[${place}]`) } })).status).toBe(200)
      for (const pinned of ['0', '-1', '0.5', '1e400', '9007199254740993']) {
        const answer = await asked(sessions, { query: { cursor: b64(`[${pinned},${place}]`) } })
        expect([pinned, answer.status]).toEqual([pinned, 200])
      }
    }
  })

  test('a search takes signs for what they are', async () => {
    for (const q of ["'", '%25', '_', '%5C', '%3Cscript%3E', '%ED%A0%80', '%F0%9F%92%A9', '%E2%80%AE', '*', '%22']) {
      const answer = await send(at.url.port, 'GET', `/api/tasks?q=${q}`, { headers: bearer('person') })
      expect([q, answer.status, JSON.parse(answer.text)]).toEqual([q, 200, { tasks: [], next_cursor: null }])
    }
  })

  test('[HT6] an invalid version or key in a header is refused', async () => {
    const versions: readonly (readonly [string, number, string])[] = [
      ['', 428, 'version_required'],
      ...['*', 'W/"1"', '"1", "2"', '1e3', '-1', '0x1', '"', 'NaN', '9'.repeat(20), '__proto__', "1' OR 1=1"].map(
        each => [each, 400, 'invalid_request'] as const,
      ),
      ...['0', '999', '"999999999999999"'].map(each => [each, 412, 'stale'] as const),
    ]
    for (const route of EVERY_ROUTE.filter(({ path }) => /:(task|message)_id$/.test(path))) {
      const stale = route.path.endsWith(':task_id') ? 'version_mismatch' : 'message_changed'
      for (const [version, status, code] of versions) {
        const answer = await asked(route, { headers: { 'if-match': version } })
        expect([version, answer.status, answer.code]).toEqual([version, status, code === 'stale' ? stale : code])
      }
      expect((await asked(route, { headers: {} })).code).toBe('version_required')
    }
    const adding = EVERY_ROUTE.filter(({ method, path }) => method === 'post' && path.endsWith('/tasks'))
    expect(adding).toHaveLength(1)
    for (const key of ['', 'a b', '../x', 'x'.repeat(129), 'x'.repeat(5_000), 'é', '*']) {
      for (const route of adding) {
        const { status, code } = await asked(route, { headers: { 'idempotency-key': key } })
        expect([key, status, code]).toEqual([key, 400, 'invalid_id'])
      }
    }
    const following = EVERY_ROUTE.find(({ path }) => path.endsWith('/events'))
    for (const place of ['-1', 'abc', '1.5', '9'.repeat(16), '*']) {
      if (!following) throw new Error('no such route')
      const { status, code } = await asked(following, { headers: { 'last-event-id': place } })
      expect([place, status, code]).toEqual([place, 400, 'invalid_request'])
    }
  })

  const stored = WITH_BODY.filter(({ path }) => isFirst || !STORELESS.has(path))
  describe.each(stored)('$method $path', route => {
    testOnce('takes JSON and nothing else', async () => {
      for (const type of CONTENT_TYPES) {
        const headers = { ...fine(route).headers, 'content-type': type } as Record<string, string>
        if (type === undefined) delete headers['content-type']
        const { status, code } = await send(at.url.port, route.method.toUpperCase(), pathOf(route), {
          headers: { ...bearer('person'), ...headers },
          body: written(fine(route).body),
        })
        expect([type, status, code]).toEqual([type, 415, 'unsupported_media_type'])
      }
    })

    testOnce('what is not JSON, too deep, or holds a prototype is malformed', async () => {
      for (const [what, rawBody] of MALFORMED.filter(([, body]) => body.length < mostBytes(route))) {
        const { status, code } = await asked(route, { rawBody })
        expect([what, status, code]).toEqual([what, 400, 'malformed_json'])
      }
    })

    testOnce('[HT6] a body that is not an object is refused', async () => {
      for (const rawBody of NOT_OBJECTS.filter(body => body.length < mostBytes(route))) {
        const { status, code } = await asked(route, { rawBody })
        expect([rawBody, status, [422, 400].includes(status)]).toEqual([rawBody, status, true])
        expect(['invalid_field', 'invalid_id']).toContain(code)
      }
    })

    testOnce('[HT6] an unknown key is refused by name', async () => {
      for (const key of [
        'unexpected',
        'tenant',
        'role',
        'by',
        ...PROTOTYPES.slice(1),
        '',
        '\0',
        '\ud800',
        'x'.repeat(Math.min(9_000, mostBytes(route) / 2)),
      ]) {
        const answer = await asked(route, { body: { ...fine(route).body, [key]: { title: 'x' } } })
        const named = key.slice(0, 64).toWellFormed()
        expect([answer.status, answer.code, answer.field]).toEqual([422, 'invalid_field', named])
      }
    })

    test('[HT6] a field of another type is refused, with its row', async () => {
      for (const [place, path] of leaves(fine(route).body).entries()) {
        const [top] = path
        if (ANY_JSON.has(top)) continue
        const field = fieldAt(path)
        const usual = valueAt(fine(route).body, path)
        for (const value of some([...KINDS, ...NUMBERS], place)) {
          // A command may be sent as one line.
          const isLine = typeof value === 'string' && value !== '' && field.endsWith('.run')
          const isUsual = kindOf(value) === kindOf(usual) || (value === null && NULLABLE.has(field)) || isLine
          if (!isUsual && !isFirst) continue
          const answer = await asked(route, { body: withValue(fine(route).body, path, value) })
          if (isUsual) continue
          const says = { value, status: answer.status, code: answer.code, field: answer.field, row: answer.row }
          const row = rowAt(path)
          if (answer.code === 'invalid_id') expect(says).toEqual({ ...says, status: 400, field })
          else expect(says).toEqual({ value, status: 422, code: 'invalid_field', field, row })
        }
      }
    })

    test('[HT6] a field with odd text is refused, or keeps what is left of it once it is clean', async () => {
      for (const [place, path] of leaves(fine(route).body).entries()) {
        if (typeof valueAt(fine(route).body, path) !== 'string') continue
        const field = String(path.findLast(step => typeof step === 'string'))
        const named = path[0] === 'row_comments' ? fieldAt(path) : field
        for (const text of some(TEXTS, place)) {
          const clean = route.operationId === 'fileSession' ? line(text, LIMITS.name) : CLEANED[field]?.(text)
          const answer = await asked(route, { body: withValue(fine(route).body, path, text) })
          // A blocked task needs an outcome: another rule refuses an empty one.
          if (clean === undefined || path[0] === 'arguments' || (field === 'outcome' && clean === '')) continue
          if (clean instanceof Problem) {
            const row = path[0] === 'tasks' ? 0 : undefined
            expect([text, answer.code, answer.field, row === undefined ? row : answer.row]).toEqual([
              text,
              'invalid_field',
              named,
              row,
            ])
          } else {
            expect([text, answer.status]).toEqual([text, answer.status === 201 ? 201 : 200])
            // What was said with a decision on a call is in the log.
            if (route.operationId === 'decideApproval') continue
            expect(textsIn(await outcomeOf(JSON.parse(answer.text)))).toContain(clean)
          }
        }
      }
    })

    test('whatever JSON comes, it is answered in our form, and refused means untouched', async () => {
      const usual = fine(route).body ?? {}
      const anything = fc.jsonValue({ maxDepth: 4 })
      const close = fc
        .dictionary(fc.constantFrom(...Object.keys(usual)), anything, { maxKeys: 3 })
        .map(some => ({ ...fine(route).body, ...some }))
      await fc.assert(
        fc.asyncProperty(fc.oneof(anything, close, close), async value => {
          await asked(route, { rawBody: written(value) })
        }),
        { numRuns: isFirst ? inLongRun(60, 10) : inLongRun(25, 3) },
      )
    })
  })

  test('a conversation may be called like a member of a prototype', async () => {
    for (const session of PROTOTYPES) {
      await at.person.setPolicy(session, { toolset: 'task_list' })
      expect((await at.person.session(session)).session.session_id).toBe(session)
    }
    await lookAround()
  })

  /** The result of a request: a decision's is in the timeline, any other in its answer. */
  async function outcomeOf(answer: { review?: { session_id: string } }): Promise<unknown> {
    return answer.review ? (await at.person.timeline(answer.review.session_id)).events : answer
  }

  test('[HT6] the reason and the comment of a cancel are checked like any text', async () => {
    const route = EVERY_ROUTE.find(({ path }) => path.endsWith('/decision'))
    if (!route) throw new Error('no such route')
    for (const text of TEXTS) {
      for (const [field, clean] of [['reason', line(text, 200)] as const, ['comment', prose(text)] as const]) {
        const answer = await asked(route, { body: { action: 'cancel', [field]: text } })
        if (clean instanceof Problem) {
          expect([text, answer.status, answer.code, answer.field]).toEqual([text, 422, 'invalid_field', field])
        } else {
          expect([text, answer.status]).toEqual([text, 200])
          // An empty comment is dropped.
          if (clean !== '') expect(textsIn(await outcomeOf(JSON.parse(answer.text)))).toContain(clean)
        }
      }
    }
  })

  test('of duplicate keys the last counts', async () => {
    const route = EVERY_ROUTE.find(each => nameOf(each) === 'POST /api/sessions/:session_id/tasks')
    if (!route) throw new Error('no such route')
    const answer = await asked(route, { rawBody: '{"title":1,"title":"first","title":"last"}' })
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([201, { task: { title: 'last' } }])
    expect((await asked(route, { rawBody: '{"title":"first","title":null}' })).field).toBe('title')
  })

  const pathOf = (route: Route): string => filled(route.path, name => fine(route).params[name] ?? '')

  test.each(Object.values(toolsets))(
    'a model that calls the tools of $name with anything is answered',
    async toolset => {
      const session_id = `tools-${toolset.name}`
      const tools = toolset.tools.map(({ name }) => name)
      await at.person.setPolicy(session_id, { toolset: toolset.name, review: false })
      for (const { name, input } of toolset.tools) {
        const shape = Object.keys((z.toJSONSchema(input) as { properties?: object }).properties ?? {})
        const nested = isFirst ? [...KINDS, ...NUMBERS, ...TEXTS] : TEXTS.slice(0, -3)
        const each = [
          ...nested,
          ...shape.flatMap(key => nested.map(value => ({ [key]: value }))),
          ...shape.flatMap(key =>
            TEXTS.map(text => ({ [key]: [{ title: text, content: text, id: text, status: text }] })),
          ),
          { '\0': '\0' },
        ]
        for (const value of some(each, tools.indexOf(name))) {
          const body = written({ session_id, turn_id: 't', arguments: value })
          const answer = await send(at.url.port, 'POST', `/api/toolsets/${toolset.name}/tools/${name}`, {
            headers: { ...bearer('person'), ...JSON_TYPE },
            body,
          })
          expect([body, answer.text, [200, 202].includes(answer.status)]).toEqual([body, answer.text, true])
        }
      }
    },
  )
}

/** A text as each field stores it, or why it is refused. */
const CLEANED: Readonly<Record<string, (text: string) => string | Problem>> = {
  title: text => line(text),
  details: prose,
  criteria: prose,
  outcome: prose,
  comment: prose,
  tags: text => line(text, 64),
  text: messageText,
}

type Path = readonly (string | number)[]

const hasRows = ([list, row]: Path): boolean => (list === 'tasks' || list === 'calls') && typeof row === 'number'
const rowAt = (path: Path): number | undefined => (hasRows(path) ? Number(path[1]) : undefined)

/** How a refusal names the field: by its path in its row. */
function fieldAt(path: Path): string {
  const own = hasRows(path) && path.length > 2 ? path.slice(2) : path
  return z.core.toDotPath(own.slice(0, own.findLastIndex(step => typeof step === 'string') + 1))
}

/** Every path within a value, outermost first. */
function leaves(value: unknown, path: Path = []): Path[] {
  const within = Array.isArray(value)
    ? value.flatMap((each, index) => leaves(each, [...path, index]))
    : typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, each]) => leaves(each, [...path, key]))
      : []
  return path.length === 0 ? within : [path, ...within]
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((within, step) => (within as Record<string | number, unknown>)[step], value)
}

function withValue(value: unknown, [step, ...rest]: Path, put: unknown): Record<string, unknown> {
  if (step === undefined) return put as Record<string, unknown>
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, unknown>
  copy[step] = withValue(copy[step], rest, put)
  return copy
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'string' && value.startsWith('@raw:') ? 'number' : typeof value
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
