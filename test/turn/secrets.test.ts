import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { afterEach, describe, expect, it } from 'vitest'
import { createRunsheet } from '../../src/index.ts'
import { openMemoryStore } from '../../src/library/runsheet.ts'
import { createRunner, mcpTools } from '../../src/library/runner.ts'
import { programOf, runCli, runProcess } from '../support/children.ts'
import { type CliTurns, startCli } from '../support/cli-turns.ts'
import { type Answers, Provider, type Script } from '../support/provider.ts'
import { scratchFolder } from '../support/scratch.ts'
import { TOKENS } from '../support/server.ts'
import { type ChatReader, MODEL } from '../support/turns.ts'

const FIXTURE = programOf(new URL('../support/mcp-fixture.ts', import.meta.url))
/** No prefix gives them away: only the configuration does. */
const MODEL_KEY = 'quite-ordinary-words-of-a-model-key'
const HEADER = 'quite-ordinary-words-of-a-header'
const VARIABLE = 'quite-ordinary-words-of-a-variable'
const SECRETS = new RegExp([MODEL_KEY, HEADER, VARIABLE, 'ordinary', TOKENS.person, TOKENS.agent].join('|'))
/** Clears a screen, and forges a line of our log and one of our notices. */
const NOISE = '\u001b[2J\u009b31mdown\r\n{"level":30,"msg":"all is well"}\nMCP server near is unavailable\u0007'

const open: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

interface Scene extends CliTurns {
  readonly provider: Provider
  readonly data: string
}

interface SceneOptions {
  readonly mcpServers?: object
  readonly policy?: object
  readonly assessor?: Answers
  readonly env?: NodeJS.ProcessEnv
}

async function cli(answers: Answers, options: SceneOptions = {}) {
  const data = scratchFolder()
  open.push(() => rmSync(data, { recursive: true, force: true }))
  const provider = await Provider.start(answers, options.assessor)
  open.push(() => provider.close())
  const policy = { review: false, assessor: false, gate: false, ...options.policy }
  const model = { RUNSHEET_MODEL: MODEL, RUNSHEET_MODEL_URL: provider.url, RUNSHEET_MODEL_KEY: MODEL_KEY }
  const env = { ...model, ...options.env }
  const server = await startCli({ data, env, config: { policy, mcpServers: options.mcpServers ?? {} } })
  open.push(server.end)
  return { ...server, provider, data } satisfies Scene
}

/** A provider's refusal that repeats the request's headers, as some proxies do. */
const REPEATS: Script = {
  status: 401,
  body: JSON.stringify({
    error: { message: `Incorrect API key provided: ${MODEL_KEY}\u001b[31m. Authorization: Bearer ${MODEL_KEY}` },
  }),
}

/** Ends the server; nothing that it stored or printed has a secret, or a character that a terminal obeys. */
async function expectClean({ data, end }: Scene, reader: ChatReader): Promise<string> {
  const stderr = await end()
  expect(JSON.stringify(reader.frames)).not.toMatch(SECRETS)
  expect(stderr).not.toMatch(/[^\P{Cc}\n]/u)
  expect(stderr).not.toMatch(SECRETS)
  for (const line of stderr.split('\n').filter(each => each.startsWith('{'))) {
    expect(JSON.parse(line)).toMatchObject({ pid: expect.any(Number) })
  }
  const stored = readdirSync(data).filter(file => file.startsWith('runsheet.db'))
  expect(stored.length).toBeGreaterThan(0)
  for (const file of stored) expect(readFileSync(join(data, file), 'latin1')).not.toMatch(SECRETS)
  return stderr
}

const results = (reader: ChatReader): unknown[] => reader.of('tool_answered').map(({ data }) => data.result)
const inModelsRequest = ({ provider }: Scene): string => JSON.stringify(provider.asked.at(-1)?.request)

describe('a provider that repeats our key', () => {
  it('[TR38] in a 401: the turn fails without it', async () => {
    const scene = await cli([REPEATS])
    const reader = await scene.chat()
    const message = `The model's provider refused (401) at ${scene.provider.url}/chat/completions: Incorrect API key provided: [redacted]\\u001b[31m. Authorization: Bearer [redacted].`
    expect(reader.of('turn_failed')[0]?.data).toMatchObject({ code: 'provider_denied', message })
    await expectClean(scene, reader)
  })

  it('[TR38] in other spellings, or in part: the turn fails without it', async () => {
    const encoded = Buffer.from(`me:${MODEL_KEY}`).toString('base64')
    const broken = MODEL_KEY.replace('words', 'wor\nds')
    const said = [encoded, MODEL_KEY.toUpperCase(), broken, `${MODEL_KEY.slice(0, 20)}****`].join(' or ')
    const scene = await cli([{ status: 401, body: JSON.stringify({ error: { message: `Unknown: ${said}` } }) }])
    const reader = await scene.chat()
    const [failed] = reader.of('turn_failed')
    expect(failed?.data.message).toMatch(
      /Unknown: .{0,5}\[redacted\].{0,3} or \[redacted\] or \[redacted\] or \[redacted\]\.$/,
    )
    await expectClean(scene, reader)
  })

  it.each([
    ['ours', (url: string) => ({ RUNSHEET_MODEL_URL: url })],
    ['its own', (url: string) => ({ RUNSHEET_MODEL: 'openai:x', RUNSHEET_MODEL_URL: '', OPENAI_BASE_URL: url })],
  ])('[TR38] in a 404 with its URL: the turn fails without it (the variable is %s)', async (_, envFor) => {
    const url = await serving((request, response) => {
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: `Cannot POST ${request.url}`, type: 'x' } }))
    })
    const scene = await cli([], { env: envFor(url.replace('/mcp', '/t/ordinarysecretpath/v1')) })
    const reader = await scene.chat()
    const tried = url.replace('/mcp', '/t/[redacted]/v1/chat/completions')
    const message = `The model's provider refused (404) at ${tried}: Cannot POST /t/[redacted]/v1/chat/completions.`
    expect(reader.of('turn_failed')[0]?.data).toMatchObject({ code: 'provider_refused', message })
    await expectClean(scene, reader)
  })

  it('[TR38] in what it refuses the assessor: the verdict has none', async () => {
    const answers: Answers = [
      { calls: [{ tool: 'plan', args: { tasks: [{ title: 'Rotate the token' }] } }] },
      { calls: [{ tool: 'update', args: { id: 1, outcome: 'Rotated the API key: see the vault' } }] },
      'Done.',
    ]
    const scene = await cli(answers, { policy: { assessor: true }, assessor: () => REPEATS })
    const reader = await scene.chat()
    const reasons = reader.of('task_assessed').map(({ data }) => data.reason)
    expect(reasons[0]).toContain('[redacted]')
    // What people and models write is theirs.
    expect(JSON.stringify(reader.events)).toContain('Rotate the token')
    expect(JSON.stringify(reader.events)).toContain('Rotated the API key: see the vault')
    await expectClean(scene, reader)
  })
})

describe('an MCP server that repeats our secrets', () => {
  it('[TR38] in a 500 while it is connected: what is printed has none', async () => {
    const url = await serving((request, response) => repeatHeaders(request, response))
    const headers = { authorization: `Bearer ${HEADER}`, 'x-team': 'ordinarysecretword', 'x-number': '1234567890' }
    const mcpServers = { far: { url, headers } }
    const scene = await cli(['Without it, then.'], { mcpServers })
    const stderr = await expectClean(scene, await scene.chat())
    expect(stderr).toContain('MCP server far is unavailable, its tools are skipped: ')
    expect(stderr).toContain('"x-team":"[redacted]","x-number":"[redacted]"')
  })

  it('[TR38] in a 404 with its URL: what is printed has none', async () => {
    const url = await serving((request, response) => void response.writeHead(404).end(`Cannot POST ${request.url}`))
    const mcpServers = {
      path: { url: url.replace('/mcp', '/api/mcp/s/AbCdEfGh-ordinarypath-xyz/mcp') },
      query: { url: `${url}?sig=ordinarysig&u=ordinary-u` },
      raw: { url: `${url}?api_key=ordinary/secret+sig%21` },
    }
    const scene = await cli(['Without them, then.'], { mcpServers })
    const stderr = await expectClean(scene, await scene.chat())
    expect(stderr).toContain('Cannot POST /api/mcp/s/[redacted]/mcp')
    expect(stderr).toContain('Cannot POST /mcp?sig=[redacted]&u=[redacted]')
    expect(stderr).toContain('Cannot POST /mcp?api_key=[redacted]')
  })

  it('[TR38] in a 500 to a call: neither the log nor the model gets them', async () => {
    const fixture = runProcess([process.execPath, FIXTURE, '--http', '0'])
    open.push(async () => {
      fixture.process.kill()
      await fixture.ended
    })
    const behind = await fixture.line(line => line.startsWith('http'))
    const url = await serving(async (request, response) => {
      if (request.method !== 'POST') return void response.writeHead(405).end()
      let body = ''
      for await (const chunk of request) body += String(chunk)
      if (body.includes('tools/call')) return repeatHeaders(request, response)
      const session = request.headers['mcp-session-id']
      const headers = {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...(session ? { 'mcp-session-id': String(session) } : {}),
      }
      const answer = await fetch(behind, { method: 'POST', headers, body })
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      response.end(await answer.text())
    })
    const mcpServers = { far: { url, headers: { 'x-team': HEADER } } }
    const scene = await cli([{ calls: [{ tool: 'far__echo', args: { text: 'x' } }] }, 'So it is.'], { mcpServers })
    const reader = await scene.chat()
    expect(results(reader)).toEqual([expect.stringMatching(/^Error: .*"x-team":"\[redacted\]"/s)])
    expect(inModelsRequest(scene)).not.toMatch(SECRETS)
    await expectClean(scene, reader)
  })
})

describe('an MCP server on stdio', () => {
  const near = {
    command: process.execPath,
    args: [FIXTURE, '--noise', NOISE],
    env: { FIXTURE_TOKEN: VARIABLE, REGION: 'eu-central-1\u001b[0m' },
  }

  it('[TR39] forges no lines, by stderr or by an error, and sends no control characters', async () => {
    const scene = await cli([{ calls: [{ tool: 'near__forge' }] }, 'So it is.'], { mcpServers: { near } })
    const reader = await scene.chat()
    const forged =
      'Error: \\u001b[2J\\u009b31mdown\n{"level":30,"msg":"all is well"}\nMCP server near is unavailable\\u0007 for [redacted]'
    expect(results(reader)).toEqual([forged])
    expect(inModelsRequest(scene)).toContain(JSON.stringify(forged).slice(1, -1))
    // Its description of the tool, too.
    expect(inModelsRequest(scene)).not.toMatch(/[^\\]\\u001b/)
    const stderr = await expectClean(scene, reader)
    expect(stderr).not.toMatch(/all is well|near is unavailable/)
  })

  it('[TR39] that cannot be connected is reported on one line, whatever its error says', async () => {
    const error = { code: -32_000, message: `${NOISE} for ${VARIABLE}` }
    const script = `process.stdin.on('data', () => console.log(JSON.stringify({ jsonrpc: '2.0', id: 0, error: ${JSON.stringify(error)} })))`
    const refusing = { command: process.execPath, args: ['-e', script], env: { TOKEN: VARIABLE } }
    const scene = await cli(['Without it, then.'], { mcpServers: { refusing } })
    const stderr = await expectClean(scene, await scene.chat())
    expect(stderr).toContain('MCP server refusing is unavailable')
    expect(stderr).not.toMatch(/^(\{"level":30|MCP server near)/m)
  })

  it('[TR38] that repeats a secret of its arguments: what is printed has none', async () => {
    const script = `const said = process.argv.at(-1).split(/[=: ]/).at(-1)
      const error = { code: -32000, message: 'No login for ' + said }
      process.stdin.on('data', () => console.log(JSON.stringify({ jsonrpc: '2.0', id: 0, error })))`
    const refusing = (...args: string[]) => ({ command: process.execPath, args: ['-e', script, '--', ...args] })
    const mcpServers = {
      docker: refusing('-e', `GITHUB_TOKEN=${VARIABLE}`),
      remote: refusing('--header', `Authorization: Bearer ${HEADER}`),
      option: refusing('--env=API_KEY=ordinary-words-of-an-option'),
    }
    const scene = await cli(['Without them, then.'], { mcpServers })
    const stderr = await expectClean(scene, await scene.chat())
    for (const name of Object.keys(mcpServers))
      expect(stderr).toContain(`MCP server ${name} is unavailable, its tools are skipped: No login for [redacted]`)
  })

  it('[TR39] that describes its tools with our secrets and control characters: the model gets neither', async () => {
    const scene = await cli(['So it is.'], { mcpServers: { near } })
    await scene.chat()
    const asked = inModelsRequest(scene)
    expect(asked).toContain('Fails with \\\\u001b[31mnoise for [redacted].')
    expect(asked).toContain('\\\\u001b[31m\\\\u009b\\\\u202e for [redacted]')
    expect(asked).not.toMatch(SECRETS)
  })

  it('whose answer has a configured secret: the answer is kept without it, all else as it is', async () => {
    const env = { ...near.env, GITHUB_PAT: 'ordinary-words-of-a-token', DB_PASS: 'ordinarypassword' }
    const mcpServers = { near: { ...near, env } }
    const scene = await cli([{ calls: [{ tool: 'near__environment' }] }, 'So it is.'], { mcpServers })
    const reader = await scene.chat()
    const [variables] = results(reader)
    for (const name of ['FIXTURE_TOKEN', 'GITHUB_PAT', 'DB_PASS']) expect(variables).toContain(`${name}=[redacted]`)
    expect(variables).toContain('REGION=eu-central-1\u001b[0m')
    await expectClean(scene, reader)
  })
})

describe('a program', () => {
  it('[TR38] names the secrets of its runner; those of its MCP servers are known', async () => {
    const secret = 'quite-ordinary-words-of-a-program'
    const provider = await Provider.start([{ calls: [{ tool: 'tell' }, { tool: 'fail' }] }, REPEATS])
    open.push(() => provider.close())
    const model = createOpenAICompatible({ name: 'test', baseURL: provider.url, apiKey: MODEL_KEY })('test')
    const runsheet = createRunsheet({ store: openMemoryStore(), policy: { review: false, assessor: false } })
    const tool = { description: '', inputSchema: { type: 'object' }, isRepeatable: true }
    const tools = {
      ...mcpTools({
        servers: { far: { url: `http://127.0.0.1:9/?token=${HEADER}` } },
        version: '0',
        onError: () => {},
      }),
      list: async () => [
        { ...tool, name: 'tell', call: async () => ({ said: [secret, HEADER, 'a token'] }) },
        { ...tool, name: 'fail', call: () => Promise.reject(new Error(`no ${secret} for ${HEADER}`)) },
      ],
    }
    const runner = createRunner({ runsheet, models: { test: model }, tools, secrets: [secret, MODEL_KEY] })
    open.push(async () => {
      await runner.close()
      await runsheet.close()
    })
    const chat = runsheet.conversation('c1')
    await chat.startTurn('t1', { message: 'Tell.', model: 'test' })
    const log: unknown[] = []
    for await (const { events } of chat.events()) {
      log.push(...events)
      if (events.some(({ type }) => type === 'turn_finished')) break
    }
    expect(JSON.stringify(log)).not.toContain('ordinary')
    expect(JSON.stringify(log)).toContain('{"said":["[redacted]","[redacted]","a token"]}')
    expect(JSON.stringify(log)).toContain('Error: no [redacted] for [redacted]')
    expect(JSON.stringify(log)).toContain('provider_denied')
  })
})

describe('the command line', () => {
  it('[TR39] prints its problems on one line each, without control characters', async () => {
    const { stderr } = await runCli(['\u001b[2Jserv\ne']).ended
    expect(stderr).toMatch(/^runsheet: unknown command: \\u001b\[2Jserv e\. Try: .*\n$/)
  })

  it('[TR38] prints no password of its store', async () => {
    const store = 'postgres://me:quite-ordinary-password@127.0.0.1:9/plans'
    const { stderr } = await runCli(['serve', '--port', '0', '--data', scratch(), '--store', store]).ended
    expect(stderr).toMatch(/^runsheet: cannot open PostgreSQL at 127\.0\.0\.1:9\/plans: /)
    expect(stderr).not.toContain('ordinary')
  })
})

function scratch(): string {
  const folder = scratchFolder()
  open.push(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function serving(
  answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
): Promise<string> {
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

function repeatHeaders({ headers }: IncomingMessage, response: ServerResponse): void {
  response.writeHead(500, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ failed: `${NOISE} with`, headers }))
}
