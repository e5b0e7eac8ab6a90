import { Agent, request } from 'node:http'
import { type Memory, startWorker } from './server-process.ts'
import { type Line, printTable } from './table.ts'

const WARM_UP = 20
const ABANDONED = 10_000
const AT_ONCE = 20
const MOST_MB = 50

interface Host {
  readonly port: number
  readonly token: string
}

/** Memory left by clients that initialize a 2025 session and never return. */
export async function benchSessions(): Promise<Line[]> {
  const host = startWorker('server-sessions-host.ts', {})
  const lines = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  try {
    const at = await host.ask<Host>('listening')
    // Warms up with a few sessions, so that code loaded on demand does not count.
    await many(WARM_UP, () => post(at, lines, INITIALIZE))
    const before = await host.ask<Memory>('memory')
    await many(ABANDONED, () => post(at, lines, INITIALIZE))
    const after = await host.ask<Memory>('memory')
    const kept = await host.ask<number>('sessions')
    const more = (after.rss - before.rss) / 1e6
    const result: Line[] = [
      {
        what: 'memory (RSS)',
        ours: megabytes(after.rss),
        beside: `${megabytes(before.rss)} without`,
        ratio: `+${more.toFixed(0)} MB`,
        goal: `at most +${MOST_MB} MB`,
        met: more <= MOST_MB,
      },
      {
        what: `heap and buffers after a collection, ${kept.toLocaleString('en')} sessions kept`,
        ours: megabytes(after.heap),
        beside: `${megabytes(before.heap)} without`,
        ratio: `+${((after.heap - before.heap) / 1e6).toFixed(0)} MB`,
        goal: '',
        met: undefined,
      },
    ]
    printTable(`${ABANDONED.toLocaleString('en')} abandoned MCP sessions, beside the same process before them`, result)
    return result
  } finally {
    lines.destroy()
    await host.end()
  }
}

async function many(count: number, work: () => Promise<void>): Promise<void> {
  let left = count
  const worker = async (): Promise<void> => {
    while (left-- > 0) await work()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

function post({ port, token }: Host, agent: Agent, body: unknown): Promise<void> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', agent, headers }, response => {
      if (response.statusCode !== 200) reject(new Error(`/mcp answered ${response.statusCode}`))
      response.resume().on('end', resolve)
    })
    asked.on('error', reject).end(JSON.stringify(body))
  })
}

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'leaves', version: '1' } },
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`
