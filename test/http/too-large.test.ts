import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createRunsheet, openMemoryStore } from '../../src/index.ts'
import { MAX_LINGER_MS } from '../../src/http/linger.ts'
import { NodeConnection } from '../../src/http/node-connection.ts'
import { createHandler, toNodeHandler } from '../../src/library/http.ts'
import { fault } from '../support/faults.ts'
import { statusesIn } from '../support/requests.ts'
import { type Served, serveProcess } from '../support/served.ts'

const LIMIT = 256 * 1024
const PIECE = 64 * 1024

let served: Served
beforeAll(async () => {
  served = await serveProcess()
})
afterAll(() => served.close())

const PUT_TEMPLATE = 'PUT /api/task-manager/templates/mine'
const TEMPLATE = JSON.stringify({ tasks: [{ title: 'a' }] })

interface Target {
  readonly port: number
  readonly token: string
}
const ours = (): Target => ({ port: Number(served.url.port), token: served.tokens.person })

/** The head of a request, up to its body. */
function head({ port, token }: Target, lines: readonly string[], start = 'POST /api/chat'): string {
  return [
    `${start} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    ...lines,
    '\r\n',
  ].join('\r\n')
}

type Framing = 'length' | 'chunked'

function framed(framing: Framing, size: number): { lines: string[]; pieces: Buffer[] } {
  const body = Buffer.alloc(size, 'x')
  const pieces: Buffer[] = []
  for (let from = 0; from < size; from += PIECE) pieces.push(body.subarray(from, from + PIECE))
  if (framing === 'length') return { lines: [`Content-Length: ${size}`], pieces }
  return { lines: ['Transfer-Encoding: chunked'], pieces: [...pieces.map(chunked), Buffer.from('0\r\n\r\n')] }
}

const chunked = (piece: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')])

interface Seen {
  readonly statuses: number[]
  readonly answer: string
  /** The first error of the socket, such as a reset. */
  readonly error: string | undefined
}

/** A raw client, which reads only when it is told to. */
class Raw {
  readonly #socket: Socket
  readonly #chunks: Buffer[] = []
  #error: string | undefined

  constructor({ port }: Target) {
    this.#socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).pause()
    this.#socket.on('error', ({ message }) => (this.#error ??= message))
    this.#socket.on('data', chunk => this.#chunks.push(chunk))
    this.#socket.pause()
  }

  get isClosed(): boolean {
    return this.#socket.destroyed
  }

  get received(): string {
    return Buffer.concat(this.#chunks).toString()
  }

  /** Resolves once the socket has taken the bytes, or is gone. */
  write(bytes: string | Buffer): Promise<void> {
    return new Promise(resolve => {
      if (this.#socket.destroyed) return resolve()
      this.#socket.once('close', resolve)
      this.#socket.write(bytes, () => {
        this.#socket.off('close', resolve)
        resolve()
      })
    })
  }

  /** Reads until this much is there. */
  async until(fits: (received: string) => boolean): Promise<string> {
    this.#socket.resume()
    await expect.poll(() => fits(this.received) || this.#socket.destroyed, { interval: 5 }).toBe(true)
    return this.received
  }

  /** Reads until the server closes its side, then closes its own. */
  async toEnd(): Promise<Seen> {
    this.#socket.resume()
    if (!this.#socket.destroyed && !this.#socket.readableEnded)
      await new Promise(resolve => this.#socket.once('end', resolve).once('close', resolve))
    this.#socket.destroy()
    return { statuses: statusesIn(this.received), answer: this.received, error: this.#error }
  }
}

/** How a client that reads only at the end writes its body. */
const PATTERNS: Readonly<Record<string, (raw: Raw, pieces: readonly Buffer[]) => Promise<void>>> = {
  'at once': (raw, pieces) => raw.write(Buffer.concat(pieces)),
  'as the socket takes it': async (raw, pieces) => {
    for (const piece of pieces) await raw.write(piece)
  },
  'with pauses': async (raw, pieces) => {
    for (const piece of pieces) {
      await raw.write(piece)
      await delay(1)
    }
  },
}

const CLIENTS = (['length', 'chunked'] as const).flatMap(framing =>
  [LIMIT + 1, 1_000_000, 4_000_000, 10_000_000].flatMap(size =>
    Object.keys(PATTERNS).map(pattern => ({ framing, size, pattern })),
  ),
)

async function writesFirst(at: Target, { framing, size, pattern }: (typeof CLIENTS)[number]): Promise<Seen> {
  const raw = new Raw(at)
  const { lines, pieces } = framed(framing, size)
  await raw.write(head(at, lines))
  await PATTERNS[pattern]?.(raw, pieces)
  return raw.toEnd()
}

fault('bodies over the limit')

describe('a body over the limit', () => {
  it('24 raw clients that write all of it before they read get 413, not a reset', async () => {
    expect(CLIENTS).toHaveLength(24)
    const seen = await Promise.all(CLIENTS.map(client => writesFirst(ours(), client)))
    expect(seen.map(({ statuses, error }, place) => ({ ...CLIENTS[place], statuses, error }))).toEqual(
      CLIENTS.map(client => ({ ...client, statuses: [413], error: undefined })),
    )
    for (const { answer } of seen) expect(answer).toMatch(/connection: close\r\n[\s\S]*"body_too_large"/i)
  })

  it('is answered by its length alone, and the connection ends without a byte of it', async () => {
    const raw = new Raw(ours())
    await raw.write(head(ours(), ['Content-Length: 300000']))
    expect(await raw.toEnd()).toMatchObject({ statuses: [413], error: undefined })
  })

  it('in chunks it is answered once the limit is passed, while the client goes on sending', async () => {
    const raw = new Raw(ours())
    await raw.write(head(ours(), ['Transfer-Encoding: chunked']))
    const piece = chunked(Buffer.alloc(PIECE, 'x'))
    for (let sent = 0; sent <= LIMIT; sent += PIECE) await raw.write(piece)
    expect(statusesIn(await raw.until(received => received.includes('body_too_large')))).toEqual([413])
    for (let more = 0; more < 40; more += 1) await raw.write(piece)
    await raw.write('0\r\n\r\n')
    expect(await raw.toEnd()).toMatchObject({ statuses: [413], error: undefined })
  })

  it('is not read without end: a client that never stops is cut off', async () => {
    const raw = new Raw(ours())
    await raw.write(head(ours(), ['Transfer-Encoding: chunked']))
    const piece = chunked(Buffer.alloc(16 * PIECE, 'x'))
    await raw.write(piece)
    await raw.until(received => received.includes('body_too_large'))
    for (let sent = 0; sent < 200 && !raw.isClosed; sent += 1) await raw.write(piece)
    expect(raw.isClosed).toBe(true)
    expect((await raw.toEnd()).statuses).toEqual([413])
  })

  it('a request behind it on the same connection is not run', async () => {
    const raw = new Raw(ours())
    await raw.write(head(ours(), [`Content-Length: ${LIMIT + 1}`]))
    await raw.write(Buffer.alloc(LIMIT + 1, 'x'))
    await raw.write(head(ours(), [`Content-Length: ${TEMPLATE.length}`], PUT_TEMPLATE) + TEMPLATE)
    expect((await raw.toEnd()).statuses).toEqual([413])
    expect(await served.person.templates()).toEqual({ templates: [] })
  })

  it.each(['length', 'chunked'] as const)(
    'behind pipelined requests every one of them is answered, in turn (%s)',
    async framing => {
      const { lines, pieces } = framed(framing, 10_000_000)
      const asked = head(ours(), [], 'GET /api/sessions').repeat(3)
      const together = Buffer.concat([Buffer.from(asked + head(ours(), lines)), ...pieces])
      const seen = await Promise.all(
        Array.from({ length: 12 }, async () => {
          const raw = new Raw(ours())
          await raw.write(together)
          return raw.toEnd()
        }),
      )
      for (const each of seen) expect(each).toMatchObject({ statuses: [200, 200, 200, 413], error: undefined })
    },
  )

  it('behind a pipelined request that takes its time, neither answer is cut off', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const refused = Promise.withResolvers<ServerResponse>()
    let slow: ServerResponse | undefined
    const server = createServer((request, response) => {
      if (request.url === '/slow') return void (slow = response)
      new NodeConnection(response).send({ status: 413, headers: {}, body: 'too large' })
      refused.resolve(response)
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const at = { port: (server.address() as AddressInfo).port, token: '' }
    const { lines, pieces } = framed('length', 10_000_000)
    const raw = new Raw(at)
    const written = raw.write(Buffer.concat([Buffer.from(head(at, [], 'GET /slow') + head(at, lines)), ...pieces]))
    await refused.promise
    vi.advanceTimersByTime(2 * MAX_LINGER_MS)
    slow?.end('slow')
    await written
    expect(await raw.toEnd()).toMatchObject({ statuses: [200, 413], error: undefined })
  })

  it('a HEAD with a body gets its head, alone and behind a pipelined request', async () => {
    for (const before of ['', head(ours(), [], 'GET /api/sessions')]) {
      const { lines, pieces } = framed('length', 4_000_000)
      const raw = new Raw(ours())
      await raw.write(Buffer.concat([Buffer.from(before + head(ours(), lines, 'HEAD /api/nowhere')), ...pieces]))
      const { statuses, answer, error } = await raw.toEnd()
      expect({ statuses, error }).toEqual({ statuses: before === '' ? [404] : [200, 404], error: undefined })
      expect(answer).toMatch(/connection: close\r\n.*\r\n\r\n$/is)
    }
  })

  it('is answered just as well where it is refused for another reason', async () => {
    const nobody = { ...ours(), token: 'of-somebody-else' }
    for (const framing of ['length', 'chunked'] as const) {
      const client = { framing, size: 4_000_000, pattern: 'as the socket takes it' }
      expect(await writesFirst(nobody, client)).toMatchObject({ statuses: [401], error: undefined })
    }
  })

  it('is answered over MCP as well', async () => {
    const raw = new Raw(ours())
    const { lines, pieces } = framed('chunked', 1_000_000)
    await raw.write(head(ours(), [...lines, 'Accept: application/json, text/event-stream'], 'POST /mcp'))
    for (const piece of pieces) await raw.write(piece)
    expect(await raw.toEnd()).toMatchObject({ statuses: [413], error: undefined })
  })

  it('[HA1] is answered behind `toNodeHandler` as well', async () => {
    const runsheet = createRunsheet({ store: openMemoryStore() })
    const handler = createHandler({ runsheet, authenticate: () => ({ role: 'person' }) })
    const server = createServer((request, response) => void toNodeHandler(handler)(request, response))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(async () => {
      server.closeAllConnections()
      server.close()
      await handler.close()
      await runsheet.close()
    })
    const at = { port: (server.address() as AddressInfo).port, token: '' }
    const seen = await Promise.all(
      CLIENTS.map(async ({ framing, size, pattern }) => {
        const raw = new Raw(at)
        const { lines, pieces } = framed(framing, size)
        await raw.write(head(at, lines))
        await PATTERNS[pattern]?.(raw, pieces)
        await raw.until(received => received.includes('body_too_large'))
        return statusesIn(raw.received)
      }),
    )
    expect(seen).toEqual(CLIENTS.map(() => [413]))
  })
})

describe('`Expect: 100-continue`', () => {
  const EXPECT = 'Expect: 100-continue'

  it('a body that is wanted is asked for, and answered', async () => {
    const raw = new Raw(ours())
    const lines = [`Content-Length: ${TEMPLATE.length}`, EXPECT, 'Connection: close']
    await raw.write(head(ours(), lines, PUT_TEMPLATE))
    await raw.until(received => received.includes('100 Continue'))
    await raw.write(TEMPLATE)
    expect((await raw.toEnd()).statuses).toEqual([100, 200])
  })

  it.each([
    [413, 'it is too large', (): string => head(ours(), [`Content-Length: ${LIMIT + 1}`, EXPECT])],
    [401, 'the token is wrong', (): string => head({ ...ours(), token: 'x' }, ['Content-Length: 1000', EXPECT])],
    [415, 'it is not JSON', (): string => head(ours(), ['Content-Length: 1000', EXPECT]).replace('json', 'xml')],
  ])('a body is not asked for, and %i answered, where %s', async (status, _, request) => {
    const raw = new Raw(ours())
    await raw.write(request())
    expect(await raw.toEnd()).toMatchObject({ statuses: [status], error: undefined })
  })
})
