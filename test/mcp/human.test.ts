import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as passed } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Client as Person } from '../../src/client/client.ts'
import {
  type Era,
  type Host,
  hostOf,
  overHttp,
  overStdio,
  personAt,
  PLAN,
  serveFolder,
  startMcpServer,
  type ToolResult,
} from '../support/mcp.ts'
import { scratchFolder } from '../support/scratch.ts'

/** Longer than a client waits that nobody has told otherwise. */
const THINKS_MS = 75_000

/** What a model does that goes by what it is told. */
async function planned({ call }: Host): Promise<ToolResult & { calls: string[] }> {
  const calls = ['plan']
  let answer = await call('plan', PLAN)
  while (answer.data?.['status'] === 'pending_review') {
    calls.push('await_review')
    answer = await call('await_review', { review_id: answer.data['review_id'] })
  }
  return { ...answer, calls }
}

async function thinking(person: Person, session: string): Promise<void> {
  const asked = await expect
    .poll(async () => (await person.pendingReviews(session)).reviews, { timeout: 20_000 })
    .toHaveLength(1)
    .then(() => person.pendingReviews(session))
  await passed(THINKS_MS)
  const review_id = asked.reviews[0]?.review_id ?? ''
  await person.decide(review_id, { action: 'confirm', tasks: [{ title: 'Thought over' }] })
}

describe('a person who thinks for 75 seconds, and clients with the timeouts that they come with', () => {
  it('[MC28] the plan arrives as decided, over every transport and in both eras', async () => {
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
        const [answer] = await Promise.all([planned(host), thinking(person, session)])
        await host.client.close()
        return answer
      }),
    )
    for (const answer of answers) {
      expect(answer).toMatchObject({ isError: false, data: { ids: [1], next: '1 Thought over' } })
    }
    // The older era asks again; in the newer one the client itself comes back.
    expect(answers.map(({ calls }) => calls.length)).toEqual([2, 2, 1, 1])
    page.process.kill()
    await Promise.all([page.ended, server.close()])
    rmSync(scratch, { recursive: true })
  }, 150_000)
})
