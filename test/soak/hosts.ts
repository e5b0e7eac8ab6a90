import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Node } from './nodes.ts'
import { chance, type World } from './world.ts'

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'leaves', version: '1' } },
}

/** Opens an MCP session and abandons it; some have their stream open for a moment. */
export async function abandon(world: World): Promise<void> {
  const node = world.node()
  const response = await world.latencies.of('MCP', post(node))
  await response.text()
  const session = response.headers.get('mcp-session-id')
  if (!response.ok || !session) throw new Error(`MCP answered ${response.status}`)
  if (!chance(0.2)) return
  const leaving = new AbortController()
  const headers = { ...headersOf(node), accept: 'text/event-stream', 'mcp-session-id': session }
  const opened = fetch(new URL('/mcp', node.url), { headers, signal: leaving.signal })
  const { body } = await world.latencies.of('MCP', opened)
  await world.wait(1_000)
  leaving.abort()
  await body?.cancel().catch(() => undefined)
}

const headersOf = ({ tokens }: Node): Record<string, string> => ({ authorization: `Bearer ${tokens.agent}` })

const post = (node: Node): Promise<Response> =>
  fetch(new URL('/mcp', node.url), {
    method: 'POST',
    headers: {
      ...headersOf(node),
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    body: JSON.stringify(INITIALIZE),
  })

/** A host that lists the tools, reads the plan and leaves, in either era. */
export async function visit(world: World): Promise<void> {
  const node = world.node()
  const era = chance(0.5) ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {}
  const client = new Client({ name: 'visits', version: '1' }, era)
  const headers = { ...headersOf(node), 'runsheet-session': world.recentSession() }
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', node.url), { requestInit: { headers } }))
  try {
    await world.latencies.of('MCP', client.listTools())
  } finally {
    await client.close()
  }
}
