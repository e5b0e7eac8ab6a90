import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { NodeConnection } from '../node-connection.ts'
import { Reader } from './reader.ts'

/** A response over a real socket, and its client, which reads nothing until it is told to. */
async function line(): Promise<{ response: ServerResponse; client: Promise<IncomingMessage> }> {
  const opened = Promise.withResolvers<ServerResponse>()
  const server = createServer((_, response) => opened.resolve(response))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const request = get({ port: (server.address() as AddressInfo).port, agent: false })
  const client = new Promise<IncomingMessage>((resolve, reject) => request.on('response', resolve).on('error', reject))
  // A test that ignores it must not fail by it.
  client.catch(() => {})
  onTestFinished(() => {
    request.destroy()
    server.closeAllConnections()
    server.close()
  })
  return { response: await opened.promise, client }
}

const FREELY = { backlog: () => true, turn: async () => {} }
const PAGE = Buffer.alloc(16 * 1024 * 1024, ' ')

describe('a reader that catches up', () => {
  afterEach(() => void vi.useRealTimers())

  it('[SS6] has 30 s for a page, then it is disconnected', async () => {
    const { response } = await line()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const cut = vi.fn<() => void>()
    const reader = new Reader(new NodeConnection(response), 0, FREELY, cut)
    reader.open()
    reader.write(PAGE)
    const drained = reader.drained()
    vi.advanceTimersByTime(29_999)
    expect([cut.mock.calls.length, reader.gone]).toEqual([0, false])
    vi.advanceTimersByTime(1)
    expect([cut.mock.calls.length, reader.gone]).toEqual([1, true])
    await drained
  })

  it('[SS6] has 30 s for each part of a page: a slow line gets all of a long event', async () => {
    const { response, client } = await line()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const cut = vi.fn<() => void>()
    const reader = new Reader(new NodeConnection(response), 0, FREELY, cut)
    reader.open()
    const written = reader.writeAll(PAGE.toString())
    let taken = 0
    for await (const chunk of await client) {
      taken += (chunk as Buffer).length
      // So long for every part of it, and over 30 s for all.
      vi.advanceTimersByTime(100)
      if (taken === PAGE.length) break
    }
    await written
    expect([cut.mock.calls.length, taken]).toEqual([0, PAGE.length])
  })

  it('[SS6] keeps its connection once it has read the page', async () => {
    const { response, client } = await line()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const cut = vi.fn<() => void>()
    const reader = new Reader(new NodeConnection(response), 0, FREELY, cut)
    reader.open()
    reader.write(PAGE)
    const drained = reader.drained()
    void (await client).resume()
    await drained
    vi.advanceTimersByTime(60_000)
    expect([cut.mock.calls.length, reader.gone]).toEqual([0, false])
  })
})
