import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type McpServer, mcpTools } from '../../src/engine/turn/mcp-tools.ts'
import { configuredModels } from '../../src/models/models.ts'
import { type CallIds, givenTools, type OutsideTool, type OutsideTools } from '../../src/engine/worker/outside.ts'
import { Worker } from '../../src/engine/worker/worker.ts'
import type { Json } from '../../src/core/model/event.ts'
import { type Child, programOf, runProcess } from '../support/children.ts'
import { type CliOptions, type CliTurns, startCli } from '../support/cli-turns.ts'
import { type Answers, Provider, type ScriptedCall } from '../support/provider.ts'
import { type ChatReader, MODEL, startTurns, type TestTurns, type TurnsOptions } from '../support/turns.ts'

const FIXTURE = programOf(new URL('../support/mcp-fixture.ts', import.meta.url))

const open: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'runsheet-tools-'))
  open.push(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const journalIn = (path: string): string => join(path, 'journal')
const lines = (path: string): string[] => readFileSync(journalIn(path), 'utf8').split('\n').filter(Boolean)

const onStdio = (path: string, env: Record<string, string> = {}): McpServer => ({
  command: process.execPath,
  args: [FIXTURE],
  env: { FIXTURE_JOURNAL: journalIn(path), ...env },
})

/** The same over HTTP; answers where it is once it listens. */
async function overHttp(path: string, port = 0): Promise<{ url: string; child: Child }> {
  const child = runProcess([process.execPath, FIXTURE, '--http', String(port)], {
    env: { ...process.env, FIXTURE_JOURNAL: journalIn(path) },
  })
  open.push(async () => {
    child.process.kill()
    await child.ended
  })
  return { url: await child.line(line => line.startsWith('http')), child }
}

/** Each answer makes one call; then a text. */
const calling = (...calls: readonly (ScriptedCall | readonly ScriptedCall[])[]): Answers => [
  ...calls.map(call => ({ calls: 'tool' in call ? [call] : call })),
  'So it is.',
]

async function turns(options: TurnsOptions): Promise<TestTurns> {
  const server = await startTurns({ host: { review: false, assessor: false, gate: false }, ...options })
  open.push(server.close)
  return server
}

async function cli(options: Omit<CliOptions, 'data'>, answers: Answers) {
  const data = folder()
  const provider = await Provider.start(answers)
  open.push(() => provider.close())
  const policy = { review: false, assessor: false, gate: false }
  const env = {
    RUNSHEET_MODEL: MODEL,
    RUNSHEET_MODEL_URL: provider.url,
    RUNSHEET_MODEL_KEY: 'key-of-ours',
    ...options.env,
  }
  const config = { policy, ...(options.config as object) }
  const server: CliTurns = await startCli({ ...options, data, config, env })
  open.push(server.end)
  return { ...server, provider }
}

const results = (reader: ChatReader): Json[] => reader.of('tool_answered').map(({ data }) => data.result)
const status = (reader: ChatReader): unknown => reader.of('turn_finished')[0]?.data.status

function given(name: string, call: OutsideTool['call'], isRepeatable = false): OutsideTool {
  return { name, description: `What ${name} does.`, inputSchema: { type: 'object' }, isRepeatable, call }
}

describe('tools of MCP servers', () => {
  it('servers in runsheet.json, on stdio and over HTTP, offer server__tool; one that does not start is reported and left out', async () => {
    const path = folder()
    const { url } = await overHttp(path)
    const mcpServers = {
      near: onStdio(path),
      far: { url, headers: { authorization: 'Bearer theirs' } },
      gone: { command: '/nowhere/to/be/found' },
      closed: { url: 'http://127.0.0.1:9/mcp' },
      mute: { command: process.execPath, args: ['-e', 'process.exit(3)'] },
    }
    const answers = calling(
      { tool: 'near__echo', args: { text: 'good morning' } },
      [
        { tool: 'far__add', args: { a: 2, b: 3 } },
        { tool: 'near__fail' },
        { tool: 'near__picture' },
        { tool: 'far__add', args: { a: 'two' } },
        { tool: 'gone__echo', args: { text: 'x' } },
      ],
      { tool: 'near__flood' },
    )
    const server = await cli({ config: { mcpServers } }, answers)
    const reader = await server.chat({})
    const [echo, sum, failed, picture, invalid, unknown, flood] = results(reader)
    expect([echo, sum, failed, picture]).toEqual(['good morning', { sum: 5 }, 'Error: the disk is full', '[image]'])
    expect(invalid).toMatch(/^Error: .*a\b/s)
    expect(unknown).toMatch(/^Error: There is no tool gone__echo\. Available: .*near__echo/)
    expect(flood).toBe(`${'x'.repeat(20_000)}\n[460000 characters left out]\n${'x'.repeat(20_000)}`)
    expect(reader.of('tool_answered').map(({ data }) => data.ok)).toEqual([true, true, false, true, false, false, true])
    expect(status(reader)).toBe('done')
    const offered = server.provider.tools(0)
    for (const name of ['plan', 'update', 'tasks', 'near__echo', 'near__add', 'far__echo', 'far__add']) {
      expect(offered).toContain(name)
    }
    expect(offered.filter(name => /^(gone|closed|mute)__/.test(name))).toEqual([])
    expect(lines(path)).toContain('authorization Bearer theirs')
    const stderr = await server.end()
    for (const name of ['gone', 'closed', 'mute']) {
      expect(
        stderr.match(new RegExp(`^MCP server ${name} is unavailable, its tools are skipped: `, 'gm')),
      ).toHaveLength(1)
    }
  })

  it('what is called is in the log before it runs, and calls of one step run one after the other', async () => {
    const path = folder()
    const server = await cli(
      { config: { mcpServers: { near: onStdio(path) } } },
      calling(['a', 'b', 'c'].map(text => ({ tool: 'near__note', args: { text } }))),
    )
    const reader = await server.chat({})
    expect(lines(path).slice(1)).toEqual(['note a', 'note b', 'note c'])
    const order = reader.events.filter(({ type }) => type === 'tool_called' || type === 'tool_answered')
    expect(order.map(({ type }) => type)).toEqual(
      Array.from({ length: 3 }, () => ['tool_called', 'tool_answered']).flat(),
    )
  })

  it('[TG13] a server gets its own variables and none of ours: no token, no key', async () => {
    const path = folder()
    const env = { OPENAI_API_KEY: 'another-key', SOME_SECRET: 'a-secret', LANG: 'C.UTF-8' }
    const server = await cli(
      { config: { mcpServers: { near: onStdio(path, { OWN: 'its own' }) } }, env },
      calling({ tool: 'near__environment' }),
    )
    const [variables] = results(await server.chat({}))
    expect(variables).toContain('OWN=its own')
    expect(variables).toContain('LANG=C.UTF-8')
    expect(variables).not.toMatch(/RUNSHEET|OPENAI|SECRET|key-of-ours|a-token-of/)
  })

  it('a tool that hangs is an answer, and the turn goes on', async () => {
    const path = folder()
    const outside = connected({ near: onStdio(path) })
    const server = await turns({
      answers: calling({ tool: 'near__hang' }, { tool: 'near__echo', args: { text: 'still here' } }),
      outside,
      limits: { timeoutMs: 300, maxCharacters: 1_000 },
    })
    const reader = await server.chat()
    expect(results(reader)).toEqual(['Error: no answer within 0.3 s', 'still here'])
    expect(status(reader)).toBe('done')
  })

  it('[TU4] a stop ends the turn while a tool hangs', async () => {
    const path = folder()
    const server = await turns({
      answers: calling({ tool: 'near__hang' }),
      outside: connected({ near: onStdio(path) }),
    })
    const reader = await server.open()
    await reader.reached('tool_called')
    await server.ask('POST', '/api/sessions/c1/turns/t1/stop', { body: {} })
    await reader.over
    expect(status(reader)).toBe('stopped')
    expect(results(reader)).toEqual([])
  })

  it('a server that dies during a call is an answer, and is started again for the next one', async () => {
    const path = folder()
    const server = await turns({
      answers: calling({ tool: 'near__die' }, { tool: 'near__echo', args: { text: 'back' } }),
      outside: connected({ near: onStdio(path) }),
    })
    const reader = await server.chat()
    const [died, back] = results(reader)
    expect(died).toMatch(/^Error: /)
    expect(back).toBe('back')
    expect(lines(path).filter(line => line.startsWith('started'))).toHaveLength(2)
    expect(status(reader)).toBe('done')
  })

  it('a restarted HTTP server that lost our session is reconnected', async () => {
    const path = folder()
    const first = await overHttp(path)
    const server = await turns({ outside: connected({ far: { url: first.url } }) })
    const said = async (turn_id: string, text: string): Promise<Json[]> => {
      server.provider.script(calling({ tool: 'far__echo', args: { text } }, { tool: 'far__echo', args: { text } }))
      const reader = await server.chat({ turn_id })
      expect(status(reader)).toBe('done')
      return results(reader)
    }
    expect(await said('t1', 'one')).toEqual(['one', 'one'])
    first.child.process.kill()
    await first.child.ended
    await overHttp(path, Number(new URL(first.url).port))
    const [lost, found] = await said('t2', 'two')
    expect(lost).toMatch(/^Error: |^two$/)
    expect(found).toBe('two')
  })

  it('a server that could not be reached is retried after a while, and reported each time', async () => {
    const path = folder()
    const first = await overHttp(path)
    first.child.process.kill()
    await first.child.ended
    const reports: string[] = []
    const outside = connected({ far: { url: first.url } }, name => reports.push(name), 1)
    expect(await outside.list()).toEqual([])
    await overHttp(path, Number(new URL(first.url).port))
    const names = (await outside.list()).map(({ name }) => name)
    expect(names).toContain('far__echo')
    expect(reports).toEqual(['far'])
  })

  it('[TR22] a tool says by its hints whether it may be repeated', async () => {
    const outside = connected({ near: onStdio(folder()) })
    const tools = await outside.list()
    const repeatable = tools.filter(({ isRepeatable }) => isRepeatable).map(({ name }) => name)
    expect(repeatable).toEqual(['near__echo', 'near__add', 'near__recount'])
  })

  it('names are what every provider takes, whatever the server calls its tools', async () => {
    const names = (await connected({ near: onStdio(folder()) }).list()).map(({ name }) => name)
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
  })
})

describe('tools that a program passes in', () => {
  it('are offered beside the plan, and called with what the model sent', async () => {
    const heard: unknown[] = []
    const weather = given('weather', async input => {
      heard.push(input)
      return { degrees: 21 }
    })
    const server = await turns({ answers: calling({ tool: 'weather', args: { city: 'Rome' } }), outside: [weather] })
    const reader = await server.chat()
    expect([heard, results(reader)]).toEqual([[{ city: 'Rome' }], [{ degrees: 21 }]])
    expect(server.provider.tools(0)).toContain('weather')
    expect(reader.of('tool_called')[0]?.data).toMatchObject({ tool: 'weather', arguments: { city: 'Rome' } })
  })

  it("a tool named like a tool of the plan is never called: the plan's own takes precedence", async () => {
    let calls = 0
    const plan = given('plan', async () => (calls += 1))
    const server = await turns({
      answers: calling({ tool: 'plan', args: { tasks: [{ title: 'A' }] } }),
      outside: [plan],
    })
    await server.chat()
    expect(calls).toBe(0)
    expect((await server.tasks()).map(({ title }) => title)).toEqual(['A'])
    expect(server.provider.tools(0).filter(name => name === 'plan')).toHaveLength(1)
    const definition = server.provider.asked[0]?.request.tools?.find(tool => tool.function.name === 'plan')
    expect(JSON.stringify(definition)).not.toContain('What plan does.')
  })

  it('a server whose tools cannot be listed does not end the turn', async () => {
    let asked = 0
    const outside: OutsideTools = {
      list: async () => {
        asked += 1
        throw new Error('the registry is down')
      },
      close: async () => {},
    }
    const server = await turns({ answers: ['Without tools, then.'], outside })
    const reader = await server.chat()
    expect(server.complaints).toHaveLength(1)
    expect([status(reader), asked > 0]).toEqual(['done', true])
  })

  it('[JU1] neither they nor the plan reach the assessor, which has no tools; what they answered does', async () => {
    const weather = given('weather', async () => ({ degrees: 21 }))
    const server = await turns({
      host: { review: false },
      answers: calling(
        { tool: 'plan', args: { tasks: [{ title: 'Look outside', done_when: 'degrees are known' }] } },
        { tool: 'weather' },
        { tool: 'update', args: { id: 1, outcome: '21 degrees' } },
      ),
      outside: [weather],
    })
    const reader = await server.chat()
    expect(status(reader)).toBe('done')
    expect(server.provider.judged).toHaveLength(1)
    expect(server.provider.judged[0]?.request.tools).toBeUndefined()
    expect(server.provider.case(0).evidence).toEqual([
      { id: 'e1', source: 'runsheet', tool: 'weather', arguments: {}, answer: { degrees: 21 }, ok: true },
    ])
  })

  it('an MCP server gets its own calls only, not the plan', async () => {
    const path = folder()
    const server = await turns({
      answers: calling(
        { tool: 'plan', args: { tasks: [{ title: 'A secret plan' }] } },
        { tool: 'near__note', args: { text: 'hi' } },
        { tool: 'update', args: { id: 1, outcome: 'done' } },
      ),
      outside: connected({ near: onStdio(path) }),
    })
    expect(status(await server.chat())).toBe('done')
    expect(lines(path).slice(1)).toEqual(['note hi'])
  })
})

describe('a call of an outside tool', () => {
  it('[TR22] has a key of its own, also where models number their calls anew in each turn', async () => {
    const heard: CallIds[] = []
    const weather = given('weather', async (_, __, ids) => {
      heard.push(ids)
      return 'fine'
    })
    const server = await turns({ outside: [weather] })
    for (const [session_id, turn_id] of [
      ['c1', 't1'],
      ['c1', 't2'],
      ['c2', 't1'],
    ] as const) {
      server.provider.script(calling({ tool: 'weather', id: 'call_1' }))
      await server.chat({ session_id, turn_id })
    }
    expect(heard.map(({ toolCallId }) => toolCallId)).toEqual(['call_1', 'call_1', 'call_1'])
    expect(new Set(heard.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3)
  })

  it('[TR22] has another key in another installation with the same names', async () => {
    const heard: CallIds[] = []
    const weather = given('weather', async (_, __, ids) => {
      heard.push(ids)
      return 'fine'
    })
    for (let times = 0; times < 2; times += 1) {
      const server = await turns({ outside: [weather] })
      server.provider.script(calling({ tool: 'weather', id: 'call_1' }))
      await server.chat({ session_id: 'c1', turn_id: 't1' })
    }
    expect(new Set(heard.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2)
  })

  it('[TR22] tells an MCP server its key in _meta, and a repeated call has the same', async () => {
    const path = folder()
    const near = connected({ near: onStdio(path) })
    const server = await turns({ answers: calling({ tool: 'near__recount', id: 'call_1' }), outside: slowly(near) })
    const reader = await server.open()
    await reader.reached('tool_called')
    await expect.poll(() => counted(path)).toHaveLength(1)
    await server.stopRunner()
    const models = await configuredModels({ model: MODEL, url: server.provider.url, key: 'k' })
    const next = new Worker({ door: server.door, models, outside: connected({ near: onStdio(path) }) })
    next.start()
    open.push(() => next.close())
    await reader.over
    const [first, second] = counted(path)
    expect(first).toMatch(/^recount [\w-]{43}$/)
    expect(second).toBe(first)
  })
})

const counted = (path: string): string[] => lines(path).filter(line => line.startsWith('recount '))

/** The same tools, whose answers never arrive. */
const slowly = (tools: OutsideTools): OutsideTools => ({
  ...tools,
  list: async () =>
    (await tools.list()).map(tool => ({
      ...tool,
      call: async (...args) => {
        await tool.call(...args)
        return new Promise<never>(() => {})
      },
    })),
})

describe('a tool that was called and not answered', () => {
  it.each([
    [true, ['answered again'], 2],
    [false, ['Error: The call was interrupted and may have run. Check before you repeat it.'], 1],
  ] as const)('[TR22] is repeated only if it may be: %s', async (isRepeatable, answers, times) => {
    let calls = 0
    const called = Promise.withResolvers<void>()
    const slow = given(
      'slow',
      () => {
        calls += 1
        called.resolve()
        return calls === 1 ? new Promise(() => {}) : Promise.resolve('answered again')
      },
      isRepeatable,
    )
    const server = await turns({ answers: calling({ tool: 'slow' }), outside: [slow] })
    const reader = await server.open()
    await called.promise
    await server.stopRunner()
    const models = await configuredModels({ model: MODEL, url: server.provider.url, key: 'k' })
    const next = new Worker({ door: server.door, models, outside: givenTools([slow]) })
    next.start()
    open.push(() => next.close())
    await reader.over
    expect([results(reader), calls, status(reader)]).toEqual([answers, times, 'done'])
    expect(reader.of('tool_called')).toHaveLength(1)
  })
})

function connected(
  servers: Record<string, McpServer>,
  onError: (name: string) => void = () => {},
  retryAfterMs?: number,
): OutsideTools {
  const outside = mcpTools({
    servers,
    version: '0.0.0',
    onError,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
  open.push(() => outside.close())
  return outside
}

describe('a plan in the wrong form', () => {
  it('is refused, and the next model call carries the guidance for a retry, once', async () => {
    const server = await turns({
      answers: calling(
        { tool: 'create_todo', args: { items: 'Look, leap' } },
        { tool: 'create_todo', args: { items: [{ title: 'Look' }] } },
      ),
    })
    await server.chat({ toolset: 'turn_todos', assessor: false, gate: false })
    const guidance = 'create_todo takes {"items":[{"title":"…"}]}, an array even for one item.'
    expect([0, 1, 2].map(count => server.provider.system(count).includes(guidance))).toEqual([false, true, false])
  })

  it('a plan that a person turned down is not one', async () => {
    const server = await turns({ answers: calling({ tool: 'plan', args: { tasks: [{ title: 'Look' }] } }) })
    await server.chat({ toolset: 'runsheet', review: true, assessor: false, gate: false }, () => ({ action: 'cancel' }))
    expect(server.provider.system(1)).not.toContain('plan takes')
  })
})
