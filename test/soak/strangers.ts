import { connect } from 'node:net'
import type { Node } from './nodes.ts'
import { pick, type World } from './world.ts'

interface Bad {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly token?: string
}

const TOO_LARGE = JSON.stringify({ title: 'x'.repeat(300_000) })
const TASKS = '/api/sessions/soak-1/tasks'

/** Requests that must be refused, with a status below 500. */
const BAD: readonly Bad[] = [
  { method: 'GET', path: '/api/sessions', token: 'wrong' },
  { method: 'GET', path: '/api/sessions', token: '' },
  { method: 'GET', path: '/api/nowhere' },
  { method: 'GET', path: '/api/sessions/%00' },
  { method: 'GET', path: `/api/sessions/${'x'.repeat(300)}` },
  { method: 'GET', path: '/api/sessions?cursor=zzz' },
  { method: 'GET', path: '/api/sessions/none-of-this-name/events' },
  { method: 'POST', path: TASKS, body: '{"title":' },
  { method: 'POST', path: TASKS, body: '[]' },
  { method: 'POST', path: TASKS, body: '{"title":""}' },
  { method: 'POST', path: TASKS, body: '{"__proto__":{"title":"x"}}' },
  { method: 'POST', path: TASKS, body: TOO_LARGE },
  { method: 'POST', path: '/api/chat', body: '{"session_id":"../x"}' },
  { method: 'POST', path: '/mcp', body: '{"jsonrpc":"1.0"}' },
  { method: 'DELETE', path: '/mcp' },
]

export async function misuse(world: World): Promise<void> {
  const { url, tokens } = world.node()
  const { method, path, body, token = tokens.person } = pick(BAD)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const asked = fetch(new URL(path, url), { method, headers, ...(body === undefined ? {} : { body }) })
  const response = await world.latencies.of('bad input', asked)
  await response.text()
  if (response.status < 400 || response.status >= 500)
    throw new Error(`${method} ${path.slice(0, 60)}: ${response.status}`)
}

/** Sends half a request, or noise, and leaves. */
export async function cutOff(world: World): Promise<void> {
  const node = world.node()
  const socket = connect(Number(node.url.port), '127.0.0.1')
  socket.on('error', () => {})
  socket.resume()
  socket.write(pick([half(node), 'NOISE\r\n\r\n', '\u0000\u0001\u0002']))
  await world.wait(Math.random() * 2_000)
  socket.destroy()
}

const half = ({ url, tokens }: Node): string =>
  `POST ${TASKS} HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${tokens.person}\r\n` +
  'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"title":"'
