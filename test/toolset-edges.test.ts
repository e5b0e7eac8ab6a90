import { generateText, isStepCount } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createRunsheet, openMemoryStore } from '../src/index.ts'
import { aiSdkTools } from '../src/library/ai-sdk.ts'
import type { ToolsetAnswer } from '../src/core/views/wire.ts'
import { type ObservedCall, openDoor } from '../src/engine/door/door.ts'
import { openMemoryStore as memory } from '../src/store/memory.ts'
import { hostOf, overHttp, startMcpServer } from './support/mcp.ts'
import { startServer, type TestServer } from './support/server.ts'
import { startTurns } from './support/turns.ts'

async function served(options: Parameters<typeof startServer>[0] = {}): Promise<TestServer> {
  const server = await startServer(options)
  onTestFinished(server.close)
  return server
}

type Answer = Partial<ToolsetAnswer> & {
  readonly guidance?: string
  readonly result?: unknown
  readonly error?: { readonly code: string; readonly message: string }
}

/** An agent's request. */
async function asked(
  server: TestServer,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ readonly status: number; readonly body: Answer }> {
  const response = await server.ask(method, path, { as: 'agent', ...(body === undefined ? {} : { body }) })
  return { status: response.status, body: (await response.json()) as Answer }
}

function program(policy = { review: false }) {
  const runsheet = createRunsheet({ store: openMemoryStore(), policy })
  onTestFinished(() => runsheet.close())
  return runsheet.conversation('c1')
}

const IN = { session_id: 'c1', turn_id: 't1' }
const PROMISES = /judged|NEXT_TODO|assess/
const PERSON = /A person, or a judge if there is one, decides what is done/

describe('manage_todos elsewhere', () => {
  it('over HTTP its prompt says who decides, and promises no judge', async () => {
    const { body } = await asked(await served(), 'GET', '/api/toolsets/manage_todos')
    expect(JSON.stringify(body)).not.toMatch(PROMISES)
    expect(body.prompt).toMatch(PERSON)
  })

  it.each(['2025', '2026'] as const)('over MCP (%s), too', async era => {
    const server = await startMcpServer()
    onTestFinished(server.close)
    const { client } = await overHttp(server, hostOf({ era }), { headers: { 'runsheet-toolset': 'manage_todos' } })
    const told = `${client.getInstructions()} ${JSON.stringify((await client.listTools()).tools)}`
    await client.close()
    expect(told).toMatch(PERSON)
    expect(told).not.toMatch(PROMISES)
  })

  it('in a program, too', async () => {
    const turn = program().turn('t1', { toolset: 'manage_todos' })
    const told = `${await turn.prompt()} ${JSON.stringify(turn.tools())} ${await turn.retryGuidance()}`
    expect(told).toMatch(PERSON)
    expect(told).not.toMatch(PROMISES)
  })

  it('in a turn of ours, which is judged, it says so', async () => {
    const turns = await startTurns({ answers: ['Well.'] })
    onTestFinished(turns.close)
    await turns.chat({ toolset: 'manage_todos' })
    expect(turns.provider.system(0)).toMatch(/Your answer is judged, and the next step comes as NEXT_TODO/)
    expect(turns.provider.system(0)).not.toMatch(PERSON)
  })
})

describe('guidance for a retry', () => {
  it('is served for an agent elsewhere: the form, and what exists in its turn', async () => {
    const server = await served()
    const retry = (toolset: string) => asked(server, 'GET', `/api/toolsets/${toolset}/retry?session_id=c1&turn_id=t1`)
    const before = await retry('checklist')
    expect(before.status).toBe(200)
    expect(before.body.guidance).toMatch(/^add_multiple_checklist_items takes a JSON array .* already done\.$/)
    const args = { items: [{ title: 'Milk' }] }
    await server.agent.call('checklist', 'add_multiple_checklist_items', { ...IN, arguments: args })
    expect((await retry('checklist')).body.guidance).toContain(
      'Already on the checklist: Milk. Do not create these again.',
    )
    expect(await server.agent.retryGuidance('checklist', IN)).toEqual((await retry('checklist')).body)
    expect((await retry('nothing')).status).toBe(404)
  })

  it.each(['turn_id=t1', 'session_id=c1', 'session_id=..&turn_id=t1'])(
    'without its ids it is refused: %s',
    async query => {
      const server = await served()
      expect((await server.ask('GET', `/api/toolsets/checklist/retry?${query}`, { as: 'agent' })).status).toBe(400)
    },
  )
})

describe('a prefix', () => {
  it('holds over HTTP in definitions, prompt, guidance, calls and refusals; the log keeps the bare names', async () => {
    const server = await served({ host: { review: false } })
    const { body } = await asked(server, 'GET', '/api/toolsets/runsheet?prefix=my_')
    expect(body.tools).toMatchObject([
      { function: { name: 'my_plan' } },
      { function: { name: 'my_update' } },
      { function: { name: 'my_tasks' } },
    ])
    expect(body.prompt).toMatch(/call my_plan once[^]*settle each with my_update/)
    const call = (tool: string, args: unknown) =>
      asked(server, 'POST', `/api/toolsets/runsheet/tools/${tool}?prefix=my_`, { ...IN, arguments: args })
    expect((await call('my_plan', { tasks: [{ title: 'Look' }] })).body.result).toMatchObject({ ids: [1] })
    expect((await call('my_update', { id: 1, outcome: 'Looked' })).body.result).toMatchObject({ remaining: 0 })
    const unknown = await call('update', { id: 1 })
    expect([unknown.status, unknown.body.error?.code]).toEqual([404, 'tool_not_found'])
    expect(unknown.body.error?.message).toContain('Available: my_plan, my_update, my_tasks.')
    const retry = await asked(server, 'GET', '/api/toolsets/runsheet/retry?session_id=c1&turn_id=t1&prefix=my_')
    expect(retry.body.guidance).toMatch(/^my_plan takes /)
    const events = await server.door.conversations.eventsAfter({ tenant: 'local', conversation: 'c1' }, 0, 100)
    expect(events.flatMap(event => (event.type === 'tool_answered' ? [event.data.tool] : []))).toEqual([
      'plan',
      'update',
    ])
  })

  it.each(['with space', 'x'.repeat(33), 'ä', '%22'])('%s is refused over HTTP', async prefix => {
    const server = await served()
    const { status } = await server.ask('GET', `/api/toolsets/runsheet?prefix=${prefix}`, { as: 'agent' })
    expect(status).toBe(400)
  })

  it('holds in a program: bare names are not known there, and a plan waits and is answered as ever', async () => {
    const chat = program({ review: true })
    const turn = chat.turn('t1', { prefix: 'my_' })
    expect(await turn.call('plan', {})).toMatchObject({
      error: 'There is no tool plan. Available: my_plan, my_update, my_tasks.',
    })
    const call = turn.call('my_plan', { tasks: [{ title: 'Look' }] })
    await expect.poll(async () => (await chat.reviews()).length).toBe(1)
    const [review] = await chat.reviews()
    await chat.decide(review?.review_id ?? '', { action: 'confirm', tasks: [{ draft_index: 0 }] })
    expect(await call).toMatchObject({ ids: [1], changes: 'none' })
    expect(await turn.retryGuidance()).toMatch(/^my_plan takes .* Planned already: 1 Look\./)
    expect(() => chat.turn('t1', { prefix: 'a b' })).toThrow(/prefix must be at most 32 characters/)
  })

  it("holds in AI SDK's own loop", async () => {
    const chat = program()
    const turn = chat.turn('t1', { prefix: 'my_', toolset: 'turn_todos' })
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } } as never
    const calling = (toolName: string, input: unknown) => ({
      content: [{ type: 'tool-call' as const, toolCallId: toolName, toolName, input: JSON.stringify(input) }],
      finishReason: { unified: 'tool-calls' as const, raw: undefined },
      usage,
      warnings: [],
    })
    const model = new MockLanguageModelV4({
      doGenerate: [calling('my_create_todo', { items: [{ title: 'Look' }] }), calling('my_list_todo', {})],
    })
    const { steps } = await generateText({ model, tools: aiSdkTools(turn), prompt: 'Go.', stopWhen: isStepCount(2) })
    expect(steps.map(({ toolResults }) => toolResults.map(({ toolName }) => toolName))).toEqual([
      ['my_create_todo'],
      ['my_list_todo'],
    ])
    expect((await chat.tasks()).map(({ title }) => title)).toEqual(['Look'])
  })
})

describe('who called', () => {
  const observing = () => {
    const calls: ObservedCall[] = []
    return { calls, door: openDoor({ store: memory(), observe: call => calls.push(call) }) }
  }

  it('over HTTP the call may name its provider and model', async () => {
    const { calls, door } = observing()
    const server = await served({ door })
    const call = (more = {}) =>
      server.agent.call('task_list', 'AddTask', { ...IN, arguments: { title: 'Look' }, ...more })
    await call({ provider: 'acme', model: 'acme-1' })
    await call()
    expect(calls.map(({ provider, model }) => [provider, model])).toEqual([
      ['acme', 'acme-1'],
      [undefined, undefined],
    ])
  })

  it('in a turn of ours they are those of the turn', async () => {
    const { calls, door } = observing()
    const turns = await startTurns({
      door,
      answers: [{ calls: [{ tool: 'AddTask', args: { title: 'Look' } }] }, 'Done.'],
    })
    onTestFinished(turns.close)
    await turns.chat({ toolset: 'task_list' })
    expect(calls).toMatchObject([
      { provider: 'openai-compatible.chat', model: 'openai-compatible:test', outcome: 'ok' },
    ])
  })
})
