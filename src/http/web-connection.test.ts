import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { Reader } from './sse/reader.ts'
import { toResponse, WebConnection } from './web-connection.ts'

const FREELY = { backlog: () => true, turn: async () => {} }
const KB = Buffer.alloc(1024, ' ')

/** A stream with its reader at both ends: ours, and the client's. */
function stream() {
  const left = new AbortController()
  const cut = vi.fn<() => void>()
  const connection = new WebConnection(left.signal)
  const reader = new Reader(connection, 0, FREELY, cut)
  reader.open()
  const client = connection.response.body?.getReader()
  if (!client) throw new Error('the response has no body')
  return { connection, reader, client, cut, left }
}

describe('a stream over a web Response', () => {
  afterEach(() => void vi.useRealTimers())

  it('[SS6] disconnects a client that leaves more than 256 kB unread, and drops what it has not read', async () => {
    const { reader, client, cut } = stream()
    for (let count = 0; count <= 256; count += 1) reader.write(KB)
    expect([cut.mock.calls.length, reader.gone]).toEqual([0, false])
    reader.write(KB)
    expect([cut.mock.calls.length, reader.gone]).toEqual([1, true])
    await expect(client.read()).rejects.toThrow('does not read')
  })

  it('[SS6] waits for a client that reads on, and disconnects one that takes half a minute', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { reader, client, cut } = stream()
    reader.write(Buffer.alloc(100 * 1024, ' '))
    const taken = reader.drained()
    await client.read()
    await taken
    reader.write(Buffer.alloc(100 * 1024, ' '))
    const late = reader.drained()
    vi.advanceTimersByTime(30_000)
    await late
    expect([cut.mock.calls.length, reader.gone]).toEqual([1, true])
  })

  it('sends heartbeats, but none while a client catches up', async () => {
    const { connection, reader } = stream()
    reader.beat(KB)
    expect(connection.buffered).toBe(1024)
    reader.write(Buffer.alloc(100 * 1024, ' '))
    void reader.drained()
    reader.beat(KB)
    expect(connection.buffered).toBe(101 * 1024)
    reader.cut()
  })

  it('is closed when the client cancels it, when its request is aborted, and when it ends', async () => {
    const cancelled = stream()
    const aborted = stream()
    const ended = stream()
    const closed = [cancelled, aborted, ended].map(({ connection }) => {
      const listener = vi.fn<() => void>()
      connection.onClose(listener)
      return listener
    })
    await cancelled.client.cancel()
    aborted.left.abort()
    ended.reader.write('last')
    ended.reader.end()
    for (const listener of closed) expect(listener).toHaveBeenCalledOnce()
    for (const { reader } of [cancelled, aborted, ended]) {
      expect(reader.gone).toBe(true)
      reader.write('late')
      reader.end()
    }
    expect(Buffer.from((await ended.client.read()).value ?? []).toString()).toBe('last')
    expect((await ended.client.read()).done).toBe(true)
    expect((await aborted.client.read()).done).toBe(true)
    const late = vi.fn<() => void>()
    ended.connection.onClose(late)
    expect(late).toHaveBeenCalledOnce()
  })

  it('gives each client chunks of its own, since it may detach them', async () => {
    const shared = Buffer.from('event')
    const [one, other] = [stream(), stream()]
    for (const { reader } of [one, other]) reader.write(shared)
    const { value } = await one.client.read()
    if (value) structuredClone(value, { transfer: [value.buffer] })
    expect(Buffer.from((await other.client.read()).value ?? []).toString()).toBe('event')
    expect(shared.toString()).toBe('event')
    onTestFinished(() => {
      one.reader.end()
      other.reader.end()
    })
  })
})

describe('a whole answer over a web Response', () => {
  afterEach(() => void vi.useRealTimers())

  const BODY = 'x'.repeat(1024 * 1024)
  function answer(body: string) {
    const closed = vi.fn<() => void>()
    const connection = new WebConnection(new AbortController().signal)
    connection.onClose(closed)
    return { closed, response: connection.send({ status: 200, headers: { etag: '"1"' }, body }) }
  }

  it('is over once the client has read it; a small one at once', async () => {
    expect(answer('{}').closed).toHaveBeenCalledOnce()
    const { closed, response } = answer(BODY)
    expect([response.status, response.headers.get('etag')]).toEqual([200, '"1"'])
    expect(closed).not.toHaveBeenCalled()
    expect(await response.text()).toBe(BODY)
    expect(closed).toHaveBeenCalledOnce()
  })

  it('is over when the client leaves, and when it takes nothing for 30 s', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const left = answer(BODY)
    await left.response.body?.cancel()
    expect(left.closed).toHaveBeenCalledOnce()
    const { closed, response } = answer(BODY)
    const reader = response.body?.getReader()
    vi.advanceTimersByTime(29_000)
    await reader?.read()
    vi.advanceTimersByTime(29_000)
    expect(closed).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1_000)
    expect(closed).toHaveBeenCalledOnce()
    await expect(reader?.read()).rejects.toThrow('does not read')
  })
})

it('a client that left before the stream began gets none', () => {
  const connection = new WebConnection(AbortSignal.abort())
  expect([connection.isClosed, connection.headersSent, connection.response.status]).toEqual([true, false, 499])
})

it('a web Response has no hop-by-hop header', () => {
  const { headers } = toResponse({ status: 413, headers: { connection: 'close', etag: '"1"' }, body: '{}' })
  expect([headers.get('connection'), headers.get('etag')]).toEqual([null, '"1"'])
})
