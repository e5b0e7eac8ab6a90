import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { fault } from '../support/faults.ts'
import { figuresOf } from '../support/figures.ts'
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

it('answers that an agent does not read keep out its further ones, not those of people', async () => {
  const server = await served({ maxBytesInFlight: 24 * MB })
  const [first] = [await unread(server, ANSWER), await unread(server, ANSWER)]
  const refused = await server.ask('GET', ANSWER, { as: 'agent' })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
  const message = 'Agents are sending and reading too much at once (limit 18 MB). Try again in a moment.'
  expect(await refused.json()).toEqual({ error: { code: 'too_many_bytes', message } })
  // A small answer needs no room.
  expect((await server.ask('GET', '/api/models', { as: 'agent' })).status).toBe(200)
  expect((await read(server, 'person')).text.length).toBeGreaterThan(7 * MB)
  expect(await figuresOf(server.url, 'runsheet_limit_refusals_total')).toEqual({ 'bytes agent': 1 })
  first.destroy()
  await expect.poll(async () => (await read(server, 'agent')).status).toBe(200)
})

it('an answer that is larger than all that agents may read at once is refused to them, not to people', async () => {
  const server = await served({ maxBytesInFlight: 8 * MB })
  const refused = await server.ask('GET', ANSWER, { as: 'agent' })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([403, null])
  expect(await refused.json()).toMatchObject({ error: { code: 'answer_too_large' } })
  expect((await read(server, 'person')).status).toBe(200)
})

it('a client that takes nothing of its answer for a while is cut off', async () => {
  const server = await served({ maxBytesInFlight: 16 * MB, stallMs: 200 })
  const socket = await unread(server, ANSWER)
  // Agents have room for one such answer: another gets through only once this one was cut off.
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

it('[SS6] streams that an agent does not read count as well: beyond its share they are cut off, those of people are not', async () => {
  const server = await served({ maxBytesInFlight: 2 * MB })
  const cuts = async (): Promise<number | undefined> => (await figuresOf(server.url, 'runsheet_stream_cuts'))['']
  const readers = await Promise.all(Array.from({ length: 3 }, () => unread(server, STREAM, 'person')))
  const agents = await Promise.all(Array.from({ length: 12 }, () => unread(server, STREAM)))
  await expect.poll(cuts).toBeGreaterThan(0)
  expect((await figuresOf(server.url, 'runsheet_limit_refusals_total'))['bytes agent']).toBe(await cuts())
  for (const socket of agents) socket.destroy()
  for (const socket of readers) expect(socket.closed).toBe(false)
})
