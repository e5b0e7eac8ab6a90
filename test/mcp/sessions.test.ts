import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { hostOf, type McpTestServer, overHttp, startMcpServer } from '../support/mcp.ts'

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'leaves', version: '1' } },
}
const ACCEPT = { accept: 'application/json, text/event-stream' }

/** Opens a session, hears that it is open, and never comes back. */
async function abandoned(server: McpTestServer): Promise<number> {
  const answer = await server.ask('POST', '/mcp', { as: 'agent', body: INITIALIZE, headers: ACCEPT })
  await answer.text()
  return answer.status
}

async function manyAbandoned(server: McpTestServer, count: number): Promise<void> {
  for (let done = 0; done < count; done += 50) {
    const statuses = await Promise.all(Array.from({ length: 50 }, () => abandoned(server)))
    expect(new Set(statuses)).toEqual(new Set([200]))
  }
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
function heapUsed(): number {
  collect()
  return process.memoryUsage().heapUsed
}

describe('sessions of the older era', () => {
  it('[MC26] of 10,000 that are opened and abandoned no more are kept than fit, and the memory comes back', async () => {
    const server = await startMcpServer({ mostSessions: 200, sessionIdleMs: 200 })
    await manyAbandoned(server, 500)
    await expect.poll(() => server.mcp.sessions, { timeout: 10_000 }).toBe(0)
    const before = heapUsed()
    await manyAbandoned(server, 10_000)
    expect(server.mcp.sessions).toBeLessThanOrEqual(200)
    await expect.poll(() => server.mcp.sessions, { timeout: 10_000 }).toBe(0)
    // Ten thousand that stayed would be hundreds of megabytes.
    expect(heapUsed() - before).toBeLessThan(10 * 1024 * 1024)
    await server.close()
  })

  it('[MC26] one in which somebody listens stays, and one that went can be begun anew', async () => {
    const server = await startMcpServer({ mostSessions: 2 })
    const listening = await overHttp(server, hostOf({ era: '2025' }), { as: 'agent' })
    await expect.poll(() => server.server.activity().underWay).toBe(1)
    await manyAbandoned(server, 50)
    expect((await listening.call('tasks')).isError).toBe(false)
    await listening.client.close()
    await server.close()
  })

  it('[MC26] where everybody is still there, the next is told to come back', async () => {
    const server = await startMcpServer({ mostSessions: 1 })
    const listening = await overHttp(server, hostOf({ era: '2025' }), { as: 'agent' })
    await expect.poll(() => server.server.activity().underWay).toBe(1)
    expect(await abandoned(server)).toBe(503)
    await listening.client.close()
    await server.close()
  })
})
