import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { badInput, mostBytes } from '../support/bad-input.ts'
import { inLongRun } from '../support/children.ts'
import { fault } from '../support/faults.ts'
import { type Answered, bearer, EVERY_ROUTE, filled, send, sendRaw, statusesIn } from '../support/requests.ts'
import { startServer, type TestServer } from '../support/server.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const WITH_BODY = EVERY_ROUTE.filter(({ body }) => body !== undefined)
/** Every body is read by the same function; only its limit differs. */
const EACH_LIMIT = inLongRun(
  WITH_BODY,
  WITH_BODY.filter((route, place, all) => all.findIndex(each => mostBytes(each) === mostBytes(route)) === place),
)

describe('on SQLite', () => badInput('sqlite'))

describe('what is not about storage', () => {
  fault('requests with bad input')
  let at: TestServer
  beforeAll(async () => {
    at = await startServer()
  })
  afterAll(() => at.close())

  const padded = (bytes: number): string => `{"code":"x"${' '.repeat(bytes - 12)}}`

  describe.each(EACH_LIMIT)('$method $path', route => {
    const { method, path } = route
    const most = mostBytes(route)
    const sent = (body: string, chunked: boolean): Promise<Answered> =>
      send(
        at.url.port,
        method.toUpperCase(),
        filled(path, () => 'x'),
        {
          headers: { ...bearer('person'), ...JSON_TYPE, ...(chunked ? { 'transfer-encoding': 'chunked' } : {}) },
          body,
          chunked,
        },
      )

    const title = `takes ${most / 1024} kB and not a byte more (without a length: %s)`
    test.each([false, true])(title, async chunked => {
      const { code } = await sent(padded(most), chunked)
      expect(['invalid_field', 'invalid_id', 'invalid_code']).toContain(code)
      const over = await sent(padded(most + 1), chunked)
      expect([over.status, over.code]).toEqual([413, 'body_too_large'])
    })
  })

  test.each([
    ['with its length', ['Content-Length: 10000000'], (body: string) => body],
    [
      'in chunks',
      ['Transfer-Encoding: chunked'],
      (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    ],
  ])('a body of 10 MB, %s, is refused', async (_, headers, framed) => {
    // The line stays open for the next request, so one is enough.
    for (const { method, path } of WITH_BODY.slice(0, 1)) {
      const head = headOf(`${method.toUpperCase()} ${filled(path, () => 'x')}`, [
        'Content-Type: application/json',
        ...headers,
      ])
      const answer = await sendRaw(at.url.port, head + framed('x'.repeat(10_000_000)))
      expect([path, statusesIn(answer)]).toEqual([path, [413]])
      expect(answer).toContain('body_too_large')
    }
  })

  test('a body that no route expects must be JSON and not too large', async () => {
    const post = (type: string, body: string) =>
      send(at.url.port, 'POST', '/api/login/codes', { headers: { ...bearer('person'), 'content-type': type }, body })
    expect((await post('text/plain', '{}')).status).toBe(415)
    expect((await post('application/json', '['.repeat(1_000))).status).toBe(400)
    expect((await post('application/json', ' '.repeat(300_000))).status).toBe(413)
    expect((await post('application/json', '{}')).status).toBe(201)
  })

  const headOf = (start: string, lines: readonly string[], version = '1.1'): string =>
    [
      `${start} HTTP/${version}`,
      `Host: 127.0.0.1:${at.url.port}`,
      `Authorization: ${bearer('person').authorization}`,
      ...lines,
      '\r\n',
    ].join('\r\n')
  const plain = (start: string, ...lines: string[]): string => `${[start, ...lines].join('\r\n')}\r\n\r\n`
  const close = 'Connection: close'
  const token = `Authorization: ${bearer('person').authorization}`

  const RAW: readonly (readonly [string, (host: string) => string, readonly number[]])[] = [
    ['no Host at all', () => plain('GET /api/models HTTP/1.1', token, close), [400]],
    ['an empty Host', () => plain('GET /api/models HTTP/1.1', 'Host:', token, close), [400]],
    [
      'two Hosts, ours first',
      host => plain('GET /api/models HTTP/1.1', host, 'Host: evil.example', token, close),
      [400, 403],
    ],
    [
      'two Hosts, ours last',
      host => plain('GET /api/models HTTP/1.1', 'Host: evil.example', host, token, close),
      [400, 403],
    ],
    ['HTTP/1.0 without a Host', () => plain('GET /api/models HTTP/1.0', token), [400, 403]],
    ['HTTP/1.0 with our Host', host => plain('GET /api/models HTTP/1.0', host, token), [200]],
    ['HTTP/1.0 with a foreign Host', () => plain('GET /api/models HTTP/1.0', 'Host: evil.example', token), [403]],
    ['HTTP/9.9', host => plain('GET /api/models HTTP/9.9', host, token), [400, 505]],
    [
      'a foreign absolute target',
      () => plain('GET http://evil.example/api/models HTTP/1.1', 'Host: evil.example', token, close),
      [403],
    ],
    [
      'an absolute target without a token',
      host => plain('GET http://evil.example/api/models HTTP/1.1', host, close),
      [401, 403],
    ],
    ['a target that is no URL', host => plain('GET http://[ HTTP/1.1', host, token, close), [400]],
    ['a target without a slash', host => plain('GET api/models HTTP/1.1', host, token, close), [400]],
    ['a star', host => plain('OPTIONS * HTTP/1.1', host, token, close), [400, 404, 405]],
    ['a backslash', host => plain('GET /api\\models HTTP/1.1', host, token, close), [400, 404]],
    ['a fragment', host => plain('GET /api/models#x HTTP/1.1', host, token, close), [200, 400, 404]],
    [
      'a header of 20 kB',
      host => plain('GET /api/models HTTP/1.1', host, token, `X: ${'x'.repeat(20_000)}`, close),
      [431],
    ],
    ['a path of 20 kB', host => plain(`GET /${'x'.repeat(20_000)} HTTP/1.1`, host, token, close), [431]],
    ['a method that is none', host => plain('STEAL /api/models HTTP/1.1', host, token, close), [400]],
    ['a header that is none', host => plain('GET /api/models HTTP/1.1', host, token, 'no header', close), [400]],
    ['a NUL in a header', host => plain('GET /api/models HTTP/1.1', host, token, 'X: a\0b', close), [400]],
    ['a length that is none', host => plain('POST /api/login HTTP/1.1', host, 'Content-Length: x', close), [400]],
    ['a negative length', host => plain('POST /api/login HTTP/1.1', host, 'Content-Length: -1', close), [400]],
    [
      'a length and chunks',
      host => plain('POST /api/login HTTP/1.1', host, 'Content-Length: 3', 'Transfer-Encoding: chunked', close),
      [400],
    ],
    ['TLS to a port without', () => '\u0016\u0003\u0001\u0002\0\u0001\0\u0001\r\n\r\n', [400]],
    [
      'a wish for another protocol',
      host => plain('GET /api/models HTTP/1.1', host, token, 'Upgrade: websocket', 'Connection: Upgrade, close'),
      [200, 400],
    ],
  ]

  test.each(RAW)('[HT1] bytes on the line: %s', async (_, bytes, statuses) => {
    const answer = await sendRaw(at.url.port, bytes(`Host: 127.0.0.1:${at.url.port}`))
    const [status, ...more] = statusesIn(answer)
    expect(more).toEqual([])
    expect(statuses).toContain(status)
    expect(answer).not.toMatch(/\n {4}at |node_modules|\.ts:\d/)
  })

  test('[HT1] requests that come at once over one line are each answered for themselves, in order', async () => {
    const body = '{"code":"x"}'
    const host = `Host: 127.0.0.1:${at.url.port}`
    const pipelined = [
      plain('GET /healthz HTTP/1.1', host),
      plain('GET /api/models HTTP/1.1', host),
      plain('GET /api/models HTTP/1.1', host, token),
      plain('POST /api/login HTTP/1.1', host, 'Content-Type: application/json', `Content-Length: ${body.length}`) +
        body,
      plain('GET /api/models HTTP/1.1', 'Host: evil.example', token),
      plain('GET /nothing HTTP/1.1', host),
      plain('GET /api/models HTTP/1.1', host, token, close),
    ]
    expect(statusesIn(await sendRaw(at.url.port, pipelined.join('')))).toEqual([200, 401, 200, 401, 403, 404, 200])
  })

  test('[HT1] what is refused before its body was read leaves nothing of it for the next request', async () => {
    const hidden = plain('POST /api/login/codes HTTP/1.1', `Host: 127.0.0.1:${at.url.port}`, token)
    const type = 'Content-Type: text/plain'
    const refused = headOf('POST /api/login', [type, `Content-Length: ${hidden.length}`]) + hidden
    const last = headOf('GET /api/models', [close])
    expect(statusesIn(await sendRaw(at.url.port, refused + last))).toEqual([415, 200])
  })

  test('after all that the server is there as before', async () => {
    expect((await at.ask('GET', '/readyz')).status).toBe(200)
    expect(at.logged()).not.toContain('a request failed')
  })
})
