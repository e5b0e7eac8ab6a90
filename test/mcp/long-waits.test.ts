import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as passed } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, vi } from 'vitest'
import type { Client as Person } from '../../src/client/client.ts'
import { inLongRun } from '../support/children.ts'
import { fault, held } from '../support/faults.ts'
import {
  type Era,
  type Host,
  hostOf,
  type McpTestServer,
  overHttp,
  overStdio,
  personAt,
  PLAN,
  serveFolder,
  startMcpServer,
  type ToolResult,
} from '../support/mcp.ts'
import { scratchFolder } from '../support/scratch.ts'

/** Longer than the default timeout of a client. */
const REVIEW_MS = 75_000

/** `expect.poll` does not work in concurrent tests. */
const until = <T>(look: () => Promise<T | undefined> | T): Promise<NonNullable<T>> =>
  vi.waitFor(
    async () => {
      const seen = await look()
      if (!seen) throw new Error('not yet')
      return seen
    },
    { timeout: 20_000, interval: 20 },
  )

/** Plans, and calls `await_review` as often as the answer says so, like a model. */
async function planned({ call }: Host): Promise<ToolResult & { calls: string[] }> {
  const calls = ['plan']
  let answer = await call('plan', PLAN)
  while (answer.data?.['status'] === 'pending_review') {
    calls.push('await_review')
    answer = await call('await_review', { review_id: answer.data['review_id'] })
  }
  return { ...answer, calls }
}

async function decideLate(person: Person, session: string): Promise<void> {
  const asked = await until(async () => {
    const { reviews } = await person.pendingReviews(session)
    return reviews[0]
  })
  await passed(REVIEW_MS)
  await person.decide(asked.review_id, { action: 'confirm', tasks: [{ title: 'Thought over' }] })
}

// Concurrent with the tests below: this one only waits. The short run has shorter limits (MC22).
describe
  .runIf(process.env['LONG'])
  .concurrent('a slow reviewer (75 s), and clients with their default timeouts', () => {
    fault('a reviewer who is slower than the timeout of MCP clients')
    it('the plan arrives as decided, over every transport and in both eras', async () => {
      const scratch = scratchFolder()
      const data = join(scratch, 'data')
      const [page, server] = await Promise.all([serveFolder(data), startMcpServer()])
      const ways = (['2025', '2026'] as const).flatMap((era: Era) => [
        {
          era,
          session: `stdio-${era}`,
          person: personAt(data),
          join: (host: Host) => overStdio(data, host, ['--session', `stdio-${era}`]),
        },
        {
          era,
          session: `http-${era}`,
          person: server.person,
          join: (host: Host) => overHttp(server, host, { headers: { 'runsheet-session': `http-${era}` } }),
        },
      ])
      const answers = await Promise.all(
        ways.map(async ({ era, session, person, join: joins }) => {
          const host = await joins(hostOf({ era }))
          const [answer] = await Promise.all([planned(host), decideLate(person, session)])
          await host.client.close()
          return answer
        }),
      )
      for (const answer of answers) {
        expect(answer).toMatchObject({ isError: false, data: { ids: [1], next: '1 Thought over' } })
      }
      // In 2025 the model asks again; in 2026 the client repeats the call.
      expect(answers.map(({ calls }) => calls.length)).toEqual([2, 2, 1, 1])
      held(answers.length)
      page.process.kill()
      await Promise.all([page.ended, server.close()])
      rmSync(scratch, { recursive: true })
    }, 150_000)
  })

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'leaves', version: '1' } },
}
const ACCEPT = { accept: 'application/json, text/event-stream' }

/** Opens a session and abandons it. */
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

const MANY = inLongRun(10_000, 1_000)

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
function heapUsed(): number {
  collect()
  return process.memoryUsage().heapUsed
}

describe.concurrent('sessions of the older era', () => {
  fault('MCP sessions that are opened and abandoned')
  it(`keeps at most the limit of ${MANY} abandoned sessions, and frees their memory`, async () => {
    const server = await startMcpServer({ maxSessions: 200, sessionIdleMs: 200 })
    await manyAbandoned(server, 500)
    await until(() => server.mcp.sessions === 0)
    const before = heapUsed()
    await manyAbandoned(server, MANY)
    expect(server.mcp.sessions).toBeLessThanOrEqual(200)
    await until(() => server.mcp.sessions === 0)
    // A leaked session would hold tens of kilobytes.
    expect(heapUsed() - before).toBeLessThan(10 * 1024 * 1024)
    held(MANY)
    await server.close()
  })

  it('keeps a session with an open stream, and lets a client of a closed one start again', async () => {
    const server = await startMcpServer({ maxSessions: 2 })
    const listening = await overHttp(server, hostOf({ era: '2025' }), { as: 'agent' })
    await until(() => server.server.activity().underWay === 1)
    await manyAbandoned(server, 50)
    expect((await listening.call('tasks')).isError).toBe(false)
    await listening.client.close()
    await server.close()
  })

  it('answers 503 when all sessions are in use', async () => {
    const server = await startMcpServer({ maxSessions: 1 })
    const listening = await overHttp(server, hostOf({ era: '2025' }), { as: 'agent' })
    await until(() => server.server.activity().underWay === 1)
    expect(await abandoned(server)).toBe(503)
    await listening.client.close()
    await server.close()
  })
})
