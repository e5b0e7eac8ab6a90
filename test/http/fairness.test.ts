import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { type Served, serveProcess } from '../support/served.ts'

const AGENTS = 30
const HEAVY = '/api/sessions/heavy'

/** A client with a connection of its own. */
function asking({ url, tokens }: Served, who: 'agent' | 'person', path: string): Socket {
  const socket = connect(Number(url.port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${tokens[who]}\r\n\r\n`)
  return socket
}

it('a person is answered while agents ask for more than the server can make', async () => {
  const at = await serveProcess()
  onTestFinished(at.close)
  const done_when = 'x'.repeat(7_900)
  // Held until a person decides, which nobody does.
  const left = new AbortController()
  for (let turn = 0; turn < 25; turn += 1) {
    const tasks = Array.from({ length: 20 }, (_, row) => ({ title: `${row}`, done_when }))
    const call = { session_id: 'heavy', turn_id: `t${turn}`, arguments: { tasks } }
    at.agent.call('runsheet', 'plan', call, left.signal).catch(() => {})
  }
  await expect.poll(async () => (await at.person.sessions({ limit: 1 })).sessions[0]?.seq).toBeGreaterThan(75)
  const agents = Array.from({ length: AGENTS }, () => asking(at, 'agent', HEAVY))
  let answered = 0
  for (const socket of agents) socket.once('data', () => void (answered += 1))
  await Promise.all(agents.map(socket => once(socket, 'connect')))
  await once(asking(at, 'person', '/api/sessions?limit=1'), 'data')
  expect(answered).toBeLessThan(AGENTS / 2)
  left.abort()
})
