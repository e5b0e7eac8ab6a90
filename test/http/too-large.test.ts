import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createRunsheet, openMemoryStore } from '../../src/index.ts'
import { createHandler, toNodeHandler } from '../../src/library/http.ts'
import { fault } from '../support/faults.ts'
import { statusesIn } from '../support/requests.ts'
import { type Served, serveProcess } from '../support/served.ts'

const LIMIT = 256 * 1024

let served: Served
beforeAll(async () => {
  served = await serveProcess()
})
afterAll(() => served.close())

/** Sends so many bytes, by their length or in chunks. */
function send(url: URL, path: string, size: number, isChunked: boolean, token = served.tokens.person) {
  const bytes = new Uint8Array(size).fill(120)
  const pieces = (function* () {
    for (let from = 0; from < size; from += 65_536) yield bytes.subarray(from, from + 65_536)
  })()
  return fetch(new URL(path, url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    ...(isChunked ? { body: ReadableStream.from(pieces), duplex: 'half' } : { body: bytes }),
  })
}

const tooLarge = { error: { code: 'body_too_large', message: 'The body must be at most 256 kB.' } }

describe('a body over the limit', () => {
  fault('bodies over the limit')

  it.each([false, true])('is 413, over HTTP and MCP, and the server goes on (chunked: %s)', async isChunked => {
    for (const path of ['/api/chat', '/mcp'])
      for (const size of [LIMIT + 1, 1_000_000]) {
        const refused = await send(served.url, path, size, isChunked)
        expect([refused.status, await refused.json()]).toEqual([413, tooLarge])
      }
    // Refused for another reason, it is not read either.
    expect((await send(served.url, '/api/chat', 1_000_000, isChunked, 'of-somebody-else')).status).toBe(401)
    expect((await served.person.sessions()).sessions).toEqual([])
  })

  it('is refused by its length alone', async () => {
    const socket = connect(Number(served.url.port), '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    const lines = [
      'POST /api/chat HTTP/1.1',
      `Host: ${served.url.host}`,
      `Authorization: Bearer ${served.tokens.person}`,
      'Content-Type: application/json',
      'Content-Length: 300000',
    ]
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    expect(statusesIn(String(await new Promise(resolve => socket.once('data', resolve))))).toEqual([413])
  })

  it.each([false, true])('[HA1] is refused behind `toNodeHandler` as well (chunked: %s)', async isChunked => {
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
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    expect((await send(url, '/api/chat', 1_000_000, isChunked)).status).toBe(413)
  })
})
