import { rmSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import type { StoredEvent } from '../src/core/model/event.ts'
import type { ReviewRequest } from '../src/core/model/review.ts'
import { CLI, runCli } from './support/children.ts'
import { type Host, hostOf, overStdio, personAt } from './support/mcp.ts'
import { scratchFolder } from './support/scratch.ts'
import { startServer } from './support/server.ts'
import { confirmAll, confirmed, type Decision, startTurns } from './support/turns.ts'

const PLAN = { tasks: [{ title: 'Look' }, { title: 'Leap' }, { title: 'Land' }] }

it('[PL7] over HTTP, a new turn id goes on with the open tasks', async () => {
  const server = await startServer({ host: { review: false } })
  onTestFinished(server.close)
  const call = (turn_id: string, tool: string, args: unknown): Promise<unknown> =>
    server.agent.call('runsheet', tool, { session_id: 'c1', turn_id, arguments: args })
  await call('t1', 'plan', PLAN)
  await call('t1', 'update', { id: 1, outcome: 'Looked.' })
  expect(await call('t2', 'tasks', {})).toMatchObject({
    result: { tasks: [{ id: 2, status: 'doing' }, { id: 3 }], next: '2 Leap', remaining: 2 },
  })
  const plan = async () => (await server.agent.session('c1')).turns.find(({ turn_id }) => turn_id === 't2')?.plan_id
  expect(await plan()).toBe('t2')
  expect(await call('t2', 'update', { id: 2, outcome: 'Leapt.' })).toEqual({ result: { next: '3 Land', remaining: 1 } })
  const { tasks } = await server.agent.session('c1')
  expect(await plan()).toBe('t1')
  expect(tasks.map(({ plan_id }) => plan_id)).toEqual(['t1', 't1', 't1'])
  expect(tasks.map(({ conversation_turn_id }) => conversation_turn_id)).toEqual(['t1', 't1', 't1'])
})

it('[PL7] over MCP, a host that starts anew goes on with the open tasks', async () => {
  const data = scratchFolder()
  onTestFinished(() => rmSync(data, { recursive: true }))
  const page = runCli(['serve', '--port', '0', '--data', data])
  onTestFinished(async () => {
    page.process.kill()
    await page.ended
  })
  await page.line(line => line.startsWith('Runsheet is ready'))
  const join = async (): Promise<Host> => {
    const args = ['--session', 'c1', '--review', 'off']
    const host = await overStdio(data, hostOf({ era: '2025' }), args, CLI)
    onTestFinished(() => host.client.close())
    return host
  }
  const call = async ({ client }: Host, turn: string, name: string, args: Record<string, unknown>): Promise<unknown> =>
    (await client.callTool({ name, arguments: args, _meta: { 'runsheet/turn_id': turn } })).structuredContent
  const before = await join()
  await call(before, 't1', 'plan', PLAN)
  await call(before, 't1', 'update', { id: 1, outcome: 'Looked.' })
  await before.client.close()
  const after = await join()
  expect(await call(after, 't2', 'update', { id: 2, outcome: 'Leapt.' })).toEqual({ next: '3 Land', remaining: 1 })
  expect(await call(after, 't2', 'tasks', {})).toMatchObject({ next: '3 Land', remaining: 1 })
  let joined: StoredEvent | undefined
  for (let seq = 1; joined?.type !== 'plan_joined'; seq += 1) joined = await personAt(data).event('c1', seq)
  expect(joined.data).toEqual({ turn_id: 't2', plan_id: 't1', task_ids: [] })
})

it('[PL7] over HTTP, a turn whose plan was rejected goes on with the open tasks', async () => {
  const server = await startServer({ reviewWaitMs: 10 })
  onTestFinished(server.close)
  const call = (turn_id: string, tool: string, args: unknown): Promise<unknown> =>
    server.agent.call('runsheet', tool, { session_id: 'c1', turn_id, arguments: args })
  const decided = async (turn: string, plan: unknown, decision: (review: ReviewRequest) => Decision): Promise<void> => {
    await call(turn, 'plan', plan)
    const [review] = (await server.person.pendingReviews('c1')).reviews
    if (review) await server.person.decide(review.review_id, decision(review))
    await call(turn, 'plan', plan)
  }
  await decided('t1', PLAN, confirmed)
  await decided('t2', { tasks: [{ title: 'Rest' }] }, () => ({ action: 'cancel' }))
  expect(await call('t2', 'tasks', {})).toMatchObject({ result: { next: '1 Look', remaining: 3 } })
  expect(await call('t2', 'update', { id: 1, outcome: 'Looked.' })).toEqual({
    result: { next: '2 Leap', remaining: 2 },
  })
})

it('[PL7] over HTTP, two turns that take turns each hear what is open', async () => {
  const server = await startServer({ host: { review: false } })
  onTestFinished(server.close)
  const call = (turn_id: string, tool: string, args: unknown): Promise<unknown> =>
    server.agent.call('runsheet', tool, { session_id: 'c1', turn_id, arguments: args })
  await call('t1', 'plan', PLAN)
  expect(await call('t2', 'tasks', {})).toMatchObject({ result: { next: '1 Look', remaining: 3 } })
  expect(await call('t1', 'update', { id: 1, outcome: 'x' })).toEqual({ result: { next: '2 Leap', remaining: 2 } })
  expect(await call('t2', 'update', { id: 2, outcome: 'x' })).toEqual({ result: { next: '3 Land', remaining: 1 } })
})

it('[PL3] a turn of ours that is continued gets back what an agent elsewhere took over', async () => {
  const turns = await startTurns({
    answers: [{ calls: [{ tool: 'plan', args: PLAN }] }, 'Later.'],
    host: { assessor: false, gate: false },
  })
  onTestFinished(turns.close)
  await turns.chat({ turn_id: 't1' }, confirmAll)
  await turns.agent.call('runsheet', 'tasks', { session_id: 'c1', turn_id: 'elsewhere', arguments: {} })
  const update = { tool: 'update', args: { id: 1, outcome: 'Looked.' } }
  turns.provider.script([{ calls: [update] }, 'Still two to go.'])
  const again = await turns.chat({ turn_id: 't2', continue_turn_id: 't1', gate: false })
  expect(turns.provider.system(0)).toMatch(/Now:\n- 1 Look\nNext:\n- 2 Leap\n- 3 Land\n3 remaining/)
  expect(again.of('turn_finished')[0]?.data.counts).toMatchObject({ completed: 1, open: 2 })
})
