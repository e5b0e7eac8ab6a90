import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hostOf, type McpTestServer, overHttp, startMcpServer } from '../support/mcp.ts'
import { TOKENS } from '../support/server.ts'

let server: McpTestServer

beforeAll(async () => {
  server = await startMcpServer()
})
afterAll(() => server.close())

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}
const ACCEPT = { accept: 'application/json, text/event-stream' }

/** Sends any Host and Origin, which `fetch` does not allow. */
function raw(headers: Record<string, string>, method = 'POST', body: unknown = INITIALIZE): Promise<number> {
  return new Promise((resolve, reject) => {
    const json = { 'content-type': 'application/json', ...ACCEPT, ...headers }
    const asked = request(new URL('/mcp', server.url), { method, headers: json }, response => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    asked.on('error', reject).end(method === 'POST' ? JSON.stringify(body) : undefined)
  })
}

const TOKEN = { authorization: `Bearer ${TOKENS.agent}` }

describe('/mcp', () => {
  it.each(['POST', 'GET', 'DELETE'])('%s needs a token', async method => {
    expect(await raw({}, method)).toBe(401)
    expect(await raw({ authorization: 'Bearer of-somebody-else' }, method)).toBe(401)
  })

  it.each(['POST', 'GET', 'DELETE'])('%s rejects other origins and unexpected Host headers', async method => {
    const { port } = server.url
    expect(await raw({ ...TOKEN, origin: 'https://evil.example' }, method)).toBe(403)
    expect(await raw({ ...TOKEN, origin: `http://localhost:${Number(port) + 1}` }, method)).toBe(403)
    expect(await raw({ ...TOKEN, host: `evil.example:${port}` }, method)).toBe(403)
  })

  it("accepts an agent's token, also from the page's origin", async () => {
    expect(await raw(TOKEN)).toBe(200)
    expect(await raw({ ...TOKEN, origin: server.url.origin })).toBe(200)
  })

  it('a session belongs to the role that opened it', async () => {
    const begun = await server.ask('POST', '/mcp', { as: 'person', body: INITIALIZE, headers: ACCEPT })
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' }
    await begun.body?.cancel()
    const ask = (as: 'person' | 'agent') =>
      server.ask('POST', '/mcp', {
        as,
        body: { jsonrpc: '2.0', id: 2, method: 'ping' },
        headers: { ...ACCEPT, ...session },
      })
    expect((await ask('agent')).status).toBe(404)
    expect((await ask('person')).status).toBe(200)
  })

  it('rejects invalid JSON and bodies that are too large', async () => {
    const send = (body: string): Promise<Response> =>
      fetch(new URL('/mcp', server.url), {
        method: 'POST',
        headers: { ...TOKEN, ...ACCEPT, 'content-type': 'application/json' },
        body,
      })
    expect((await send('{')).status).toBe(400)
    const put = await server.ask('PUT', '/mcp', { body: INITIALIZE })
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'POST, GET, DELETE'])
    expect((await send(JSON.stringify({ ...INITIALIZE, more: 'x'.repeat(300_000) }))).status).toBe(413)
    expect(
      (await server.ask('POST', '/mcp', { body: { jsonrpc: '2.0', id: 1, method: 'ping' }, headers: ACCEPT })).status,
    ).toBe(400)
  })

  it("limits the rate of an agent's writes", async () => {
    const busy = await startMcpServer({ agentWritesPerMinute: 3 })
    const host = await overHttp(busy, hostOf({ era: '2026' }), { as: 'agent' })
    await expect(Promise.all([1, 2, 3, 4].map(() => host.call('tasks')))).rejects.toThrow('rate_limited')
    await host.client.close()
    await busy.close()
  })

  it('sends the security headers with every response', async () => {
    const answer = await server.ask('POST', '/mcp', { body: INITIALIZE, headers: ACCEPT })
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('content-type')).toBe('text/event-stream')
    await answer.body?.cancel()
  })
})
