import type { EndpointOptions } from '../../src/server/mcp/http.ts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hostOf, type McpTestServer, overHttp, startMcpServer } from '../support/mcp.ts'

type Who = 'person' | 'agent'

const ACCEPT = { accept: 'application/json, text/event-stream' }
const CLIENT = { name: 'leaves', version: '1' }
const initialize = (protocolVersion = '2025-11-25', more: object = {}) => ({
  jsonrpc: '2.0',
  id: 'first',
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: CLIENT, ...more },
})
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' }
const PING = { jsonrpc: '2.0', id: 2, method: 'ping' }

async function started(options: Partial<EndpointOptions> = {}): Promise<McpTestServer> {
  const server = await startMcpServer(options)
  onTestFinished(server.close)
  return server
}

/** Opens a session as clients do; returns its id. */
async function opened(server: McpTestServer, as: Who): Promise<string> {
  const answer = await server.ask('POST', '/mcp', { as, body: initialize(), headers: ACCEPT })
  expect(answer.status).toBe(200)
  await answer.text()
  const id = answer.headers.get('mcp-session-id') ?? ''
  expect((await inSession(server, as, id, INITIALIZED)).status).toBe(202)
  return id
}

const inSession = (server: McpTestServer, as: Who, id: string, body: unknown): Promise<Response> =>
  server.ask('POST', '/mcp', { as, body, headers: { ...ACCEPT, 'mcp-session-id': id } })

describe('a session of the older era', () => {
  it('has a server of its own, which knows the client', async () => {
    const server = await started()
    const ids = await Promise.all(Array.from({ length: 5 }, () => opened(server, 'agent')))
    expect(server.mcp.sessions).toBe(5)
    const call = { name: 'plan', arguments: { tasks: [{ title: 'Look' }] } }
    const [id = ''] = ids
    const pings = Array.from({ length: 5 }, () => inSession(server, 'agent', id, PING))
    for (const ping of await Promise.all(pings)) expect(await ping.text()).toContain('"result":{}')
    const planned = inSession(server, 'agent', id, { jsonrpc: '2.0', id: 3, method: 'tools/call', params: call })
    await expect.poll(async () => (await server.person.sessions()).sessions[0]?.title).toContain('leaves')
    const [review] = (await server.person.pendingReviews()).reviews
    await server.person.decide(review?.review_id ?? '', { action: 'cancel' })
    expect(await (await planned).text()).toContain('"confirmed\\":false')
  })

  it('is greeted in the version that it asks for, or in the newest, with its own request id', async () => {
    const server = await started()
    const versions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '1999-01-01']
    const greeted = versions.map(async version => {
      const answer = await server.ask('POST', '/mcp', { body: initialize(version), headers: ACCEPT })
      const [, data = ''] = /^event: message\ndata: (.*)\n\n$/.exec(await answer.text()) ?? []
      return JSON.parse(data) as { id: string; result: { protocolVersion: string } }
    })
    expect((await Promise.all(greeted)).map(({ id, result }) => [id, result.protocolVersion])).toEqual(
      [...versions.slice(0, 4), '2025-11-25'].map(version => ['first', version]),
    )
    const host = await overHttp(server, hostOf({ era: '2025' }))
    onTestFinished(() => host.client.close())
    expect(host.client.getServerCapabilities()).toMatchObject({ tools: {}, resources: {} })
    expect(host.client.getInstructions()).toContain('pending_review')
  })

  it('ends with DELETE', async () => {
    const server = await started()
    for (const isUsed of [false, true]) {
      const id = await opened(server, 'agent')
      if (isUsed) await (await inSession(server, 'agent', id, PING)).text()
      const headers = { ...ACCEPT, 'mcp-session-id': id }
      expect((await server.ask('DELETE', '/mcp', { as: 'agent', headers })).status).toBe(200)
      expect((await inSession(server, 'agent', id, PING)).status).toBe(404)
    }
    expect(server.mcp.sessions).toBe(0)
  })

  it('is not opened by a client that cannot read the answer', async () => {
    const server = await started()
    const deaf = await server.ask('POST', '/mcp', { body: initialize(), headers: { accept: 'application/json' } })
    expect(deaf.status).toBe(406)
    expect(server.mcp.sessions).toBe(0)
  })

  it("is not ended by another credential's: an agent that opens many loses only its own", async () => {
    const server = await started({ maxSessions: 3 })
    const persons = await opened(server, 'person')
    const first = await opened(server, 'agent')
    for (let more = 0; more < 10; more += 1) await opened(server, 'agent')
    expect(server.mcp.sessions).toBe(4)
    expect((await inSession(server, 'agent', first, PING)).status).toBe(404)
    const answer = await inSession(server, 'person', persons, PING)
    expect(await answer.text()).toContain('"result":{}')
  })
})
