import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { NodeConnection } from './node-connection.ts'
import { relay } from './relay.ts'

const CHUNK = Buffer.alloc(16 * 1024 * 1024, ' ')

/** A response over a real socket, and its client, which reads nothing until it is told to. */
async function line(): Promise<{ connection: NodeConnection; client: Promise<IncomingMessage> }> {
  const opened = Promise.withResolvers<ServerResponse>()
  const server = createServer((_, response) => opened.resolve(response))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const request = get({ port: (server.address() as AddressInfo).port, agent: false })
  const client = new Promise<IncomingMessage>((resolve, reject) => request.on('response', resolve).on('error', reject))
  client.catch(() => {})
  onTestFinished(() => {
    request.destroy()
    server.closeAllConnections()
    server.close()
  })
  const connection = new NodeConnection(await opened.promise)
  connection.open({ 'content-type': 'text/event-stream' })
  return { connection, client }
}

const chunks = (...list: readonly Uint8Array[]): ReadableStream<Uint8Array> => ReadableStream.from(list)

afterEach(() => void vi.useRealTimers())

it('[SS6] what is relayed arrives, and counts only while it is not read', async () => {
  const { connection, client } = await line()
  const backlog = vi.fn<(bytes: number) => boolean>(() => true)
  const relayed = relay(chunks(CHUNK, Buffer.from('end')), connection, backlog)
  await vi.waitFor(() => expect(backlog.mock.lastCall?.[0]).toBeGreaterThan(0))
  let size = 0
  for await (const chunk of await client) size += (chunk as Buffer).length
  await relayed
  expect([size, backlog.mock.lastCall]).toEqual([CHUNK.length + 3, [0]])
})

it('[SS6] a client that does not read for 30 s is cut off, and the sender is told', async () => {
  const { connection } = await line()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const cancelled = vi.fn<() => void>()
  const body = new ReadableStream<Uint8Array>({ start: each => each.enqueue(CHUNK), cancel: () => cancelled() })
  const relayed = relay(body, connection, () => true)
  while (!connection.needsDrain) await new Promise(setImmediate)
  vi.advanceTimersByTime(29_999)
  expect(connection.isClosed).toBe(false)
  vi.advanceTimersByTime(1)
  await relayed
  expect([connection.isClosed, cancelled.mock.calls.length]).toEqual([true, 1])
})

it('[SS6] a client that there is no room for is cut off at once', async () => {
  const { connection } = await line()
  await relay(chunks(CHUNK, CHUNK), connection, bytes => bytes === 0)
  expect(connection.isClosed).toBe(true)
})

it('[SS6] a sender that breaks off breaks the answer off', async () => {
  const { connection, client } = await line()
  const broken = new ReadableStream<Uint8Array>({ pull: () => Promise.reject(new Error('broken')) })
  await relay(broken, connection, () => true)
  await expect(async () => {
    for await (const _ of await client) continue
  }).rejects.toThrow('aborted')
})
