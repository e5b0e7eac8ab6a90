import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { openDoor, type Door, type ObservedCall } from '../src/engine/door/door.ts'
import { Metrics } from '../src/server/http/metrics.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import { callTool } from '../src/engine/toolsets/calls.ts'
import { toolsets } from '../src/engine/toolsets/index.ts'
import { CLI, runCli } from './support/children.ts'
import { figuresOf } from './support/figures.ts'
import { hostOf, overStdio } from './support/mcp.ts'
import { scratchFolder } from './support/scratch.ts'
import { startServer } from './support/server.ts'
import { MODEL, confirmAll, confirmed, startTurns } from './support/turns.ts'

const WAIT = { timeout: 20_000, interval: 50 }

function folder(): string {
  const made = scratchFolder()
  onTestFinished(() => rmSync(made, { recursive: true }))
  return made
}

/** A door on the SQLite file of a folder. */
async function doorOn(data: string): Promise<Door> {
  return openDoor({ store: await openSqliteStore({ path: join(data, 'runsheet.db') }) })
}

const add = (door: Door, title: string, conversation = 'c1'): Promise<unknown> =>
  callTool(toolsets.task_list, 'AddTask', { title }, { door, tenant: 'local', conversation, turn: 't1' })

it('a call has a duration; its repetition is not counted, its refusal is', async () => {
  const server = await startServer({ host: { review: false } })
  onTestFinished(server.close)
  const call = (tool: string, args: unknown, tool_call_id = 'call-1'): Promise<Response> =>
    server.ask('POST', `/api/toolsets/turn_todos/tools/${tool}`, {
      as: 'agent',
      body: { session_id: 'c1', turn_id: 't1', tool_call_id, arguments: args },
    })
  const items = [{ title: 'a' }, { title: 'b' }, { title: 'c' }]
  for (let times = 0; times < 3; times += 1) await call('create_todo', { items })
  await call('create_todo', { items: 'a, b' }, 'call-2')
  await call('complete_todo', { todoId: 'nowhere', outcome: 'x' }, 'call-3')
  expect(await figuresOf(server.url, 'runsheet_tool_calls_total')).toEqual({
    'turn_todos create_todo http ok': 1,
    'turn_todos create_todo http refused': 1,
    'turn_todos complete_todo http refused': 1,
  })
  expect(await figuresOf(server.url, 'runsheet_tool_call_duration_seconds_count')).toEqual({
    'turn_todos create_todo http': 2,
    'turn_todos complete_todo http': 1,
  })
  expect(await figuresOf(server.url, 'runsheet_turns_started_total')).toEqual({ outside: 1 })
})

it('an invented tool is counted as unknown, one from outside as outside', async () => {
  const look = {
    name: 'look',
    description: '',
    inputSchema: { type: 'object' },
    isRepeatable: true,
    call: async () => 'seen',
  }
  const calls = [
    { tool: 'Invented_1', args: {} },
    { tool: 'look', args: {} },
    { tool: 'AddTask', args: {} },
  ]
  const turns = await startTurns({ answers: [{ calls }, 'Done.'], outside: [look] })
  onTestFinished(turns.close)
  const context = { door: turns.door, tenant: 'local', conversation: 'c2', turn: 't1' }
  await callTool(toolsets.task_list, 'Invented_2', {}, context)
  await turns.chat({ toolset: 'task_list' })
  expect(await figuresOf(turns.url, 'runsheet_tool_calls_total')).toEqual({
    'task_list unknown library refused': 1,
    'unknown unknown turn refused': 1,
    'outside outside turn ok': 1,
    'task_list AddTask turn refused': 1,
  })
})

it('turns, verdicts and tokens of worker and judge are counted', async () => {
  const turns = await startTurns({
    assessorModel: 'openai-compatible:judge',
    answers: [
      { calls: [{ tool: 'plan', args: { tasks: [{ title: 'Look' }] } }] },
      { calls: [{ tool: 'update', args: { id: 1, outcome: 'Glanced.' } }] },
      { calls: [{ tool: 'update', args: { id: 1, outcome: 'Looked.' } }] },
      'Done.',
    ],
    assessor: ['NOT_OK: look closer', 'OK'],
  })
  onTestFinished(turns.close)
  const metrics = async (name: string): Promise<Record<string, number>> => figuresOf(turns.url, name)
  const [finished] = (await turns.chat({}, confirmAll)).of('turn_finished')
  expect(await metrics('runsheet_turns_started_total')).toEqual({ driven: 1 })
  expect(await metrics('runsheet_turns_finished_total')).toEqual({ 'done answered': 1 })
  expect(await metrics('runsheet_verdicts_total')).toEqual({
    'not_ok openai-compatible:judge': 1,
    'ok openai-compatible:judge': 1,
  })
  const used = await metrics('runsheet_tokens_total')
  expect(Object.keys(used).toSorted()).toEqual([
    'openai-compatible:judge judge input',
    'openai-compatible:judge judge output',
    `${MODEL} worker input`,
    `${MODEL} worker output`,
  ])
  const sum = (direction: string): number =>
    Object.entries(used).reduce((all, [labels, value]) => all + (labels.endsWith(direction) ? value : 0), 0)
  expect({ input_tokens: sum('input'), output_tokens: sum('output') }).toMatchObject({
    input_tokens: finished?.data.usage['input_tokens'],
    output_tokens: finished?.data.usage['output_tokens'],
  })
  expect(await metrics('runsheet_tool_calls_total')).toEqual({
    'runsheet plan turn ok': 1,
    'runsheet update turn ok': 1,
    'runsheet update turn refused': 1,
  })
})

it('reviews are counted as opened, pending, resolved and waited for', async () => {
  const server = await startServer({ reviewWaitMs: 1 })
  onTestFinished(server.close)
  const metrics = (name: string): Promise<Record<string, number>> => figuresOf(server.url, name)
  const ids: string[] = []
  for (const turn_id of ['t1', 't2', 't3']) {
    const args = { tasks: [{ title: 'Look' }] }
    const answer = await server.agent.call('runsheet', 'plan', { session_id: turn_id, turn_id, arguments: args })
    if ('review_id' in answer) ids.push(answer.review_id)
  }
  expect(await metrics('runsheet_reviews_opened_total')).toEqual({ runsheet: 3 })
  expect(await metrics('runsheet_reviews_pending')).toEqual({ '': 3 })
  const [first = '', second = '', third = ''] = ids
  const { review } = await server.person.review(first)
  for (let times = 0; times < 2; times += 1) await server.person.decide(first, confirmed(review))
  await server.person.decide(second, { action: 'cancel' })
  await server.person.decide(third, { action: 'cancel', reason: 'the moon is full' })
  expect(await metrics('runsheet_reviews_resolved_total')).toEqual({
    'confirm none': 1,
    'cancel user_cancelled': 1,
    'cancel other': 1,
  })
  expect(await metrics('runsheet_review_wait_seconds_count')).toEqual({ confirm: 1, cancel: 2 })
  expect(await metrics('runsheet_reviews_pending')).toEqual({ '': 0 })
})

it('a wait that began before the server started is counted from the log', async () => {
  const data = folder()
  const before = await doorOn(data)
  const plan = { tasks: [{ title: 'Look' }] }
  const context = { door: before, tenant: 'local', conversation: 'c1', turn: 't1' }
  void callTool(toolsets.runsheet, 'plan', plan, context)
  const id = await vi.waitFor(async () => {
    const [review] = (await before.reviews.waiting('local', undefined, { limit: 1 })).items
    expect(review).toBeDefined()
    return review?.review_id ?? ''
  }, WAIT)
  await before.close()
  const server = await startServer({ door: await doorOn(data) })
  onTestFinished(server.close)
  await server.person.decide(id, { action: 'cancel' })
  await vi.waitFor(async () => {
    expect(await figuresOf(server.url, 'runsheet_review_wait_seconds_count')).toEqual({ cancel: 1 })
  }, WAIT)
  expect(await figuresOf(server.url, 'runsheet_reviews_opened_total')).toEqual({})
})

it('the server counts the calls of `runsheet mcp` on its folder, each once', async () => {
  const data = folder()
  const start = async (): Promise<{ url: URL; end: () => Promise<void> }> => {
    const child = runCli(['serve', '--port', '0', '--data', data, '--review', 'off'])
    const [url = ''] = /http:\S+\//.exec(await child.line(line => line.startsWith('Runsheet is ready'))) ?? []
    const end = async (): Promise<void> => {
      child.process.kill()
      await child.ended
    }
    return { url: new URL(url), end }
  }
  const server = await start()
  const connect = () => overStdio(data, hostOf({ era: '2025' }), ['--session', 'c1', '--review', 'off'], CLI)
  const host = await connect()
  await host.call('plan', { tasks: [{ title: 'a' }, { title: 'b' }] })
  await host.call('update', { id: 1, outcome: 'x' })
  const expected = { 'runsheet plan mcp ok': 1, 'runsheet update mcp ok': 1 }
  await vi.waitFor(async () => {
    expect(await figuresOf(server.url, 'runsheet_tool_calls_total')).toEqual(expected)
  }, WAIT)
  // Without a server, a `runsheet mcp` would start one.
  await host.client.close()
  await server.end()
  const again = await start()
  onTestFinished(again.end)
  const next = await connect()
  onTestFinished(() => next.client.close())
  await next.call('update', { id: 2, outcome: 'y' })
  await vi.waitFor(async () => {
    expect(await figuresOf(again.url, 'runsheet_tool_calls_total')).toEqual({ 'runsheet update mcp ok': 1 })
  }, WAIT)
})

it('commits of several processes that write to the same conversation are counted once each', async () => {
  const data = folder()
  const other = await doorOn(data)
  await add(other, 'before')
  const door = await doorOn(data)
  const server = await startServer({ door, metrics: new Metrics(door, { others: true }) })
  onTestFinished(async () => {
    await server.close()
    await other.close()
  })
  const doors = [server.door, other, server.door, other]
  for (let times = 0; times < 10; times += 1)
    await Promise.all(doors.map((door, n) => add(door, `${times}`, `c${n % 3}`)))
  await vi.waitFor(async () => {
    expect(await figuresOf(server.url, 'runsheet_tool_calls_total')).toEqual({ 'task_list AddTask library ok': 40 })
  }, WAIT)
  await add(other, 'one more')
  await add(server.door, 'and one here')
  await vi.waitFor(async () => {
    expect(await figuresOf(server.url, 'runsheet_tool_calls_total')).toEqual({ 'task_list AddTask library ok': 42 })
  }, WAIT)
})

it('a node of several counts its own commits only', async () => {
  const data = folder()
  const [door, other] = [await doorOn(data), await doorOn(data)]
  const server = await startServer({ door, metrics: new Metrics(door) })
  onTestFinished(async () => {
    await server.close()
    await other.close()
  })
  await add(other, 'a')
  await add(door, 'b')
  await add(other, 'c')
  await add(door, 'd')
  expect(await figuresOf(server.url, 'runsheet_tool_calls_total')).toEqual({ 'task_list AddTask library ok': 2 })
})

it('an unknown tool over HTTP is counted as unknown', async () => {
  const server = await startServer()
  onTestFinished(server.close)
  const body = { session_id: 'c1', turn_id: 't1', arguments: {} }
  const answer = await server.ask('POST', '/api/toolsets/runsheet/tools/invented', { as: 'agent', body })
  expect(answer.status).toBe(404)
  expect(await figuresOf(server.url, 'runsheet_tool_calls_total')).toEqual({ 'runsheet unknown http refused': 1 })
})

it('invented tools and malformed arguments in a turn of ours are observed, and counted once', async () => {
  const calls = [
    { tool: 'Invented', args: {} },
    { tool: 'AddTask', args: '{"title":' },
  ]
  const turns = await startTurns({ answers: [{ calls }, 'Done.'] })
  onTestFinished(turns.close)
  const seen: ObservedCall[] = []
  turns.door.observe(call => void seen.push(call))
  await turns.chat({ toolset: 'task_list' })
  const common = { edge: 'turn', outcome: 'refused', session_id: 'c1', turn_id: 't1', model: MODEL }
  expect(seen).toMatchObject([
    { ...common, toolset: 'unknown', tool: 'unknown', tool_call_id: expect.any(String) },
    { ...common, toolset: 'task_list', tool: 'AddTask', tool_call_id: expect.any(String) },
  ])
  expect(await figuresOf(turns.url, 'runsheet_tool_calls_total')).toEqual({
    'unknown unknown turn refused': 1,
    'task_list AddTask turn refused': 1,
  })
})
