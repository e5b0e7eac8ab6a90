import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { configuredModels } from '../../src/models/models.ts'
import { BUILT, type Child, runCli } from '../support/children.ts'
import { Provider } from '../support/provider.ts'
import { scratchFolder } from '../support/scratch.ts'
import { ChatReader, startTurns } from '../support/turns.ts'

/** What a model says in one answer; `thinks` comes with a signature that its provider wants back. */
interface Said {
  readonly thinks?: string
  readonly text?: string
  readonly call?: { readonly tool: string; readonly args: unknown }
  /** Ends the stream before it says why. */
  readonly breaksOff?: boolean
}
interface Body {
  readonly [key: string]: unknown
}
interface Asked {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Body
}

/** How one provider puts it on the line. */
interface Wire {
  readonly model: string
  readonly base: string
  readonly streamPath: string
  readonly wholePath: string
  readonly key: (headers: IncomingHttpHeaders) => unknown
  readonly system: (body: Body) => unknown
  readonly tools: (body: Body) => readonly unknown[]
  readonly isStream: (asked: Asked) => boolean
  readonly stream: (said: Said, count: number) => unknown[]
  readonly whole: (text: string) => unknown
  /** The last call and its answer, as they are told again. */
  readonly told: (body: Body) => unknown
  readonly expected: unknown
}

const PLAN = { tasks: [{ title: 'Dig', done_when: 'there is a hole' }] }
const ANSWER = '{"ids":[1],"next":"1 Dig","remaining":1}'

const openai: Wire = {
  model: 'openai:gpt-5',
  base: '/v1',
  streamPath: '/v1/chat/completions',
  wholePath: '/v1/chat/completions',
  key: headers => headers.authorization,
  system: body => (body['messages'] as Body[])[0]?.['content'],
  tools: body => (body['tools'] as unknown[] | undefined) ?? [],
  isStream: ({ body }) => body['stream'] === true,
  stream: ({ text = '', call, breaksOff }, count) => {
    const base = { id: `chatcmpl-${count}`, object: 'chat.completion.chunk', created: 0, model: 'gpt-5' }
    const chunk = (delta: unknown, finish_reason: string | null = null): unknown => ({
      ...base,
      choices: [{ index: 0, delta, finish_reason }],
    })
    const name = { id: `call_${count}`, type: 'function', function: { name: call?.tool, arguments: '' } }
    return [
      chunk({ role: 'assistant', content: '' }),
      ...words(text).map(content => chunk({ content })),
      ...(call
        ? [
            chunk({ tool_calls: [{ index: 0, ...name }] }),
            chunk({ tool_calls: [{ index: 0, function: { arguments: JSON.stringify(call.args) } }] }),
          ]
        : []),
      ...(breaksOff
        ? []
        : [
            chunk({}, call ? 'tool_calls' : 'stop'),
            { ...base, choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } },
          ]),
    ]
  },
  whole: content => ({
    id: 'chatcmpl-x',
    object: 'chat.completion',
    created: 0,
    model: 'gpt-5',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  }),
  told: body => (body['messages'] as Body[]).slice(-2),
  expected: [
    {
      role: 'assistant',
      content: 'I make a plan.',
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'plan', arguments: JSON.stringify(PLAN) } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: ANSWER },
  ],
}

const anthropic: Wire = {
  model: 'anthropic:claude-sonnet-4-5',
  base: '/v1',
  streamPath: '/v1/messages',
  wholePath: '/v1/messages',
  key: headers => headers['x-api-key'],
  system: body => (body['system'] as Body[])[0]?.['text'],
  tools: body => (body['tools'] as unknown[] | undefined) ?? [],
  isStream: ({ body }) => body['stream'] === true,
  stream: ({ thinks, text, call, breaksOff }, count) => {
    const blocks: [unknown, unknown[]][] = []
    if (thinks !== undefined) {
      const deltas = [
        { type: 'thinking_delta', thinking: thinks },
        { type: 'signature_delta', signature: 'signed' },
      ]
      blocks.push([{ type: 'thinking', thinking: '', signature: '' }, deltas])
    }
    if (text !== undefined) {
      blocks.push([{ type: 'text', text: '' }, words(text).map(each => ({ type: 'text_delta', text: each }))])
    }
    if (call) {
      const delta = { type: 'input_json_delta', partial_json: JSON.stringify(call.args) }
      blocks.push([{ type: 'tool_use', id: `toolu_${count}`, name: call.tool, input: {} }, [delta]])
    }
    const message = { id: `msg_${count}`, type: 'message', role: 'assistant', model: 'claude', content: [] }
    const usage = { input_tokens: 10, output_tokens: 1 }
    return [
      { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null, usage } },
      ...blocks.flatMap(([content_block, deltas], index) => [
        { type: 'content_block_start', index, content_block },
        ...deltas.map(delta => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]),
      ...(breaksOff
        ? []
        : [
            {
              type: 'message_delta',
              delta: { stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null },
              usage: { output_tokens: 5 },
            },
            { type: 'message_stop' },
          ]),
    ]
  },
  whole: text => ({
    id: 'msg_x',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
  }),
  told: body => (body['messages'] as Body[]).slice(-2),
  expected: [
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'A hole, then.', signature: 'signed' },
        { type: 'text', text: 'I make a plan.' },
        { type: 'tool_use', id: 'toolu_1', name: 'plan', input: PLAN },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: ANSWER }] },
  ],
}

const google: Wire = {
  model: 'google:gemini-2.5-flash',
  base: '/v1beta',
  streamPath: '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
  wholePath: '/v1beta/models/gemini-2.5-flash:generateContent',
  key: headers => headers['x-goog-api-key'],
  system: body => (body['systemInstruction'] as { parts: Body[] }).parts[0]?.['text'],
  tools: body => (body['tools'] as { functionDeclarations: unknown[] }[] | undefined)?.[0]?.functionDeclarations ?? [],
  isStream: ({ path }) => path.includes(':streamGenerateContent'),
  stream: ({ text = '', call, breaksOff }) => {
    const part = (parts: unknown[], more: Body = {}): unknown => ({
      candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
    })
    const made = { functionCall: { name: call?.tool, args: call?.args }, thoughtSignature: 'signed' }
    return [
      ...words(text).map(each => part([{ text: each }])),
      ...(call ? [part([made])] : []),
      ...(breaksOff
        ? []
        : [
            {
              candidates: [{ content: { parts: [], role: 'model' }, finishReason: 'STOP', index: 0 }],
              usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
            },
          ]),
    ]
  },
  whole: text => ({
    candidates: [{ content: { parts: [{ text }], role: 'model' }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
  }),
  told: body => (body['contents'] as Body[]).slice(-2),
  expected: [
    {
      role: 'model',
      parts: [{ text: 'I make a plan.' }, { functionCall: { name: 'plan', args: PLAN }, thoughtSignature: 'signed' }],
    },
    {
      role: 'user',
      parts: [{ functionResponse: { name: 'plan', response: { content: JSON.parse(ANSWER) as object } } }],
    },
  ],
}

const words = (text: string): string[] => text.match(/\S+\s*/g) ?? []

/** A server that speaks one wire, and says what is on the list. */
async function standIn(wire: Wire, list: readonly Said[]) {
  const asked: Asked[] = []
  const judged: Asked[] = []
  const server = createServer(async (request, response) => {
    let raw = ''
    for await (const chunk of request) raw += String(chunk)
    const one = { path: request.url ?? '', headers: request.headers, body: JSON.parse(raw) as Body }
    if (!wire.isStream(one)) {
      judged.push(one)
      response.writeHead(200, { 'content-type': 'application/json' })
      return response.end(JSON.stringify(wire.whole('OK')))
    }
    const said = list[asked.push(one) - 1] ?? { text: 'The script is over.' }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of wire.stream(said, asked.length)) {
      const type = (event as { type?: string }).type
      response.write(`${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(event)}\n\n`)
    }
    return response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${wire.base}`,
    asked,
    judged,
    close: async (): Promise<void> => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

describe.each([openai, anthropic, google])('$model', wire => {
  const script: readonly Said[] = [
    { thinks: 'A hole, then.', text: 'I make a plan.', call: { tool: 'plan', args: PLAN } },
    { call: { tool: 'update', args: { id: 1, outcome: 'There is a hole.' } } },
    { text: 'The hole is dug.' },
  ]

  it('[MO1] streams, calls tools, is told what they answered, and judges: in the words of its provider', async () => {
    const there = await standIn(wire, script)
    const models = await configuredModels({ model: wire.model, url: there.url, key: 'the-key' })
    const turns = await startTurns({ models, host: { review: false } })
    try {
      const reader = await turns.chat()
      const [finished] = reader.of('turn_finished')
      expect(finished?.data).toMatchObject({
        status: 'done',
        steps: 3,
        usage: { input_tokens: 40, output_tokens: 20, total_tokens: 60 },
      })
      expect(await turns.statuses()).toEqual([['Dig', 'completed']])
      expect(reader.of('message_added').at(-1)?.data.text).toBe('The hole is dug.')
      const deltas = reader.asides('text_delta').map(({ data }) => data['text'])
      expect(deltas.join('')).toBe('I make a plan.The hole is dug.')
      expect(deltas.length).toBeGreaterThan(2)
      for (const { headers, path, body } of there.asked) {
        expect([path, wire.key(headers)]).toEqual([wire.streamPath, wire === openai ? 'Bearer the-key' : 'the-key'])
        expect(wire.tools(body)).toHaveLength(3)
      }
      expect(wire.system(there.asked[1]?.body ?? {})).toContain('## Where the plan stands')
      expect(wire.told(there.asked[1]?.body ?? {})).toMatchObject(wire.expected as object)
      expect(there.judged.map(({ path, body }) => [path, wire.tools(body).length])).toEqual([[wire.wholePath, 0]])
      expect(wire.system(there.judged[0]?.body ?? {})).toMatch(/^You are the assessor/)
      expect(reader.of('task_assessed')[0]?.data).toMatchObject({ verdict: 'ok', model: wire.model })
      expect(turns.complaints).toEqual([])
    } finally {
      await turns.close()
      await there.close()
    }
  })

  it('[TR15] an answer that breaks off, without a word about why, is asked for again', async () => {
    const there = await standIn(wire, [{ text: 'I have delet', breaksOff: true }, { text: 'I have deleted nothing.' }])
    const models = await configuredModels({ model: wire.model, url: there.url, key: 'the-key' })
    const turns = await startTurns({ models })
    try {
      const reader = await turns.chat()
      expect(reader.of('message_added').at(-1)?.data.text).toBe('I have deleted nothing.')
      expect(reader.of('turn_finished')[0]?.data).toMatchObject({ status: 'done', steps: 1 })
    } finally {
      await turns.close()
      await there.close()
    }
  })
})

describe('the command line', () => {
  let folder: string
  let children: Child[]

  beforeEach(() => {
    folder = scratchFolder()
    children = []
  })
  afterEach(async () => {
    for (const child of children) child.process.kill('SIGKILL')
    await Promise.all(children.map(child => child.ended))
    rmSync(folder, { recursive: true })
  })

  const NO_KEYS = {
    OPENAI_API_KEY: '',
    ANTHROPIC_API_KEY: '',
    ANTHROPIC_AUTH_TOKEN: '',
    GOOGLE_GENERATIVE_AI_API_KEY: '',
  }
  const started = (env: NodeJS.ProcessEnv, args: readonly string[] = []): Child => {
    const all = ['serve', '--port', '0', '--data', join(folder, 'data'), ...args]
    const child = runCli(all, { cwd: folder, file: BUILT, env: { ...NO_KEYS, ...env } })
    children.push(child)
    return child
  }

  const ONE_LINE = 'demo, or openai:NAME, anthropic:NAME, google:NAME, openai-compatible:NAME'
  it.each([
    [{ RUNSHEET_MODEL: 'gpt-5' }, `Unknown model gpt-5. Use ${ONE_LINE}.`],
    [{ RUNSHEET_MODEL: 'openai:' }, `Unknown model openai:. Use ${ONE_LINE}.`],
    [{ RUNSHEET_ASSESSOR_MODEL: 'judge' }, `Unknown model judge. Use ${ONE_LINE}.`],
    [{ RUNSHEET_MODEL: 'openai-compatible:qwen' }, 'openai-compatible needs a URL: set RUNSHEET_MODEL_URL.'],
    [
      { RUNSHEET_MODEL: 'openai-compatible:qwen', RUNSHEET_MODEL_URL: '' },
      'openai-compatible needs a URL: set RUNSHEET_MODEL_URL.',
    ],
    [
      { RUNSHEET_MODEL: 'openai-compatible:qwen', RUNSHEET_MODEL_URL: 'localhost:11434' },
      'RUNSHEET_MODEL_URL must be an http or https URL.',
    ],
    [
      { RUNSHEET_MODEL: 'anthropic:claude', RUNSHEET_MODEL_URL: 'nonsense', RUNSHEET_MODEL_KEY: 'k' },
      'RUNSHEET_MODEL_URL must be an http or https URL.',
    ],
    [{ RUNSHEET_MODEL: 'openai:gpt-5' }, 'openai needs a key: set RUNSHEET_MODEL_KEY or OPENAI_API_KEY.'],
    [{ RUNSHEET_MODEL: 'anthropic:claude' }, 'anthropic needs a key: set RUNSHEET_MODEL_KEY or ANTHROPIC_API_KEY.'],
    [
      { RUNSHEET_ASSESSOR_MODEL: 'google:gemini' },
      'google needs a key: set RUNSHEET_MODEL_KEY or GOOGLE_GENERATIVE_AI_API_KEY.',
    ],
  ])('says at the start, in one line, what is wrong: %j', async (env, line) => {
    const child = started(env)
    const { code, stderr } = await child.ended
    expect({ code, stderr, lines: child.lines }).toEqual({ code: 1, stderr: `runsheet: ${line}\n`, lines: [] })
  })

  it('the key is not taken from the command line', async () => {
    const child = started({}, ['--model-key', 'k'])
    const { code, stderr } = await child.ended
    expect(code).toBe(2)
    expect(stderr).toMatch(/^runsheet: unknown option: --model-key\. Try: [^\n]+ --help\n$/)
  })

  it("a provider's own key will do", async () => {
    const child = started({ RUNSHEET_MODEL: 'openai:gpt-5', OPENAI_API_KEY: 'k' })
    expect(await child.line(() => true)).toMatch(/^Runsheet is ready at /)
  })

  /** One turn of a server that was started with these variables. */
  async function oneTurn(env: NodeJS.ProcessEnv): Promise<{ reader: ChatReader; child: Child }> {
    const child = started(env)
    const [, url = ''] = /at (http:\S+)#/.exec(await child.line(() => true)) ?? []
    const token = readFileSync(join(folder, 'data', 'person-token'), 'utf8').trim()
    const response = await fetch(new URL('/api/chat', url), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ session_id: 'c1', turn_id: 't1', message: 'Dig a hole.', review: false }),
    })
    const reader = new ChatReader(response, new AbortController())
    await reader.over
    return { reader, child }
  }

  it('a local OpenAI-compatible server works by setting two variables', async () => {
    const provider = await Provider.start([
      { text: 'I make a plan.', calls: [{ tool: 'plan', args: PLAN }] },
      { calls: [{ tool: 'update', args: { id: 1, outcome: 'There is a hole.' } }] },
      'The hole is dug.',
    ])
    try {
      const { reader } = await oneTurn({
        RUNSHEET_MODEL: 'openai-compatible:qwen3:8b',
        RUNSHEET_MODEL_URL: provider.url,
      })
      expect(reader.of('turn_finished')[0]?.data).toMatchObject({ status: 'done', counts: { completed: 1 } })
      expect(reader.of('message_added').at(-1)?.data.text).toBe('The hole is dug.')
      expect(provider.asked.map(({ request, path }) => [request.model, path])).toEqual(
        Array.from({ length: 3 }, () => ['qwen3:8b', '/v1/chat/completions']),
      )
      expect(provider.asked[0]?.headers.authorization).toBeUndefined()
      expect(provider.judged).toHaveLength(1)
    } finally {
      await provider.close()
    }
  })

  it('URL and key are those of the variables, for whichever provider; the judge may be another model', async () => {
    const provider = await Provider.start(['Hello.'], () => 'OK')
    try {
      const { reader, child } = await oneTurn({
        RUNSHEET_MODEL: 'openai:gpt-5',
        RUNSHEET_ASSESSOR_MODEL: 'openai:gpt-5-mini',
        RUNSHEET_MODEL_URL: `${provider.url}/`,
        RUNSHEET_MODEL_KEY: 'a-key-of-mine',
        OPENAI_API_KEY: 'another-key',
      })
      expect(reader.of('turn_finished')[0]?.data.status).toBe('done')
      const [asked] = provider.asked
      expect([asked?.path, asked?.headers.authorization]).toEqual(['/v1/chat/completions', 'Bearer a-key-of-mine'])
      child.process.kill('SIGTERM')
      const { stderr } = await child.ended
      expect(`${stderr}${child.lines.join('\n')}${JSON.stringify(reader.frames)}`).not.toContain('a-key-of-mine')
    } finally {
      await provider.close()
    }
  })
})

it.each([
  [{ model: 'openai:gpt-5' }, true],
  [{ model: 'anthropic:claude-sonnet-4-5' }, true],
  [{ model: 'google:gemini-2.5-pro' }, true],
  [{ model: 'openai:gpt-5', url: 'http://127.0.0.1:1/v1' }, false],
  [{ model: 'openai-compatible:llama', url: 'http://127.0.0.1:1/v1' }, false],
  [{ model: 'demo' }, false],
  [{ model: 'demo', assessor: 'openai:gpt-5' }, true],
])('[JU11] %j: is known to answer in a given JSON schema: %s', async (settings, isStructured) => {
  const models = await configuredModels({ ...settings, key: 'k' })
  expect((await models.assessorFor(settings.model)).isStructured).toBe(isStructured)
})
