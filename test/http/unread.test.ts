import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { fault } from '../support/faults.ts'
import { startServer, type TestServer, TOKENS } from '../support/server.ts'

type Who = keyof typeof TOKENS

const MB = 1024 * 1024
/** Plans in the conversation, each with a draft of 160 kB: more than the system buffers for a client that does not read. */
const PLANS = 50
const ANSWER = '/api/sessions/large'
const STREAM = '/api/sessions/large/events'

/** A server with a conversation whose answer has 8 MB, and its log 16. */
async function served(options: Parameters<typeof startServer>[0] = {}): Promise<TestServer> {
  const server = await startServer({ reviewWaitMs: 0, ...options })
  onTestFinished(server.close)
  const done_when = 'x'.repeat(7_900)
  for (let turn = 0; turn < PLANS; turn += 1) {
    const tasks = Array.from({ length: 20 }, (_, row) => ({ title: `${turn}.${row}`, done_when }))
    await server.agent.call('runsheet', 'plan', { session_id: 'large', turn_id: `t${turn}`, arguments: { tasks } })
  }
  return server
}

/** A client that does not read beyond the start of its answer. */
async function unread({ url }: TestServer, path: string, as: Who = 'agent'): Promise<Socket> {
  const socket = connect(Number(url.port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${TOKENS[as]}\r\n\r\n`)
  await once(socket, 'readable')
  return socket
}

/** Reads a whole answer. */
async function read(server: TestServer, as: Who): Promise<{ status: number; text: string }> {
  const response = await server.ask('GET', ANSWER, { as })
  return { status: response.status, text: await response.text() }
}

fault('answers and streams that are not read')

it('a client that takes nothing of its answer for a while is cut off', async () => {
  const server = await served({ maxRequests: 1, stallMs: 200 })
  const socket = await unread(server, ANSWER)
  // Another request gets through only once this one was cut off.
  await expect.poll(async () => (await read(server, 'agent')).status).toBe(200)
  socket.resume()
  if (!socket.closed) await once(socket, 'close')
  expect(socket.bytesRead).toBeLessThan(7 * MB)
})

it('one that reads slowly gets all of it', async () => {
  const server = await served({ stallMs: 1_500 })
  const socket = await unread(server, ANSWER)
  let size = 0
  const started = performance.now()
  while (size < 7 * MB && !socket.destroyed) {
    const chunk = socket.read() as Buffer | null
    size += chunk?.length ?? 0
    // Longer in all than it may take nothing.
    if (performance.now() - started < 2_000) await delay(50)
    else await new Promise(setImmediate)
  }
  expect([size >= 7 * MB, socket.destroyed]).toEqual([true, false])
})

it('[SS6] a stream that takes nothing for a while is cut off, and a silent one is not', async () => {
  const server = await served({ maxRequests: 2, stallMs: 200, heartbeatMs: 3_600_000 })
  const stalled = await unread(server, STREAM)
  const silent = await unread(server, STREAM)
  await expect
    .poll(async () => {
      silent.read()
      return (await read(server, 'agent')).status
    })
    .toBe(200)
  stalled.resume()
  if (!stalled.closed) await once(stalled, 'close')
  expect(silent.closed).toBe(false)
})
