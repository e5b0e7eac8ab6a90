import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SettingsOnDisk } from '../src/cli/server/page-settings.ts'
import type { SettingsChange } from '../src/core/views/wire.ts'
import { BUILT, runCli } from './support/children.ts'
import { type CliTurns, startCli } from './support/cli-turns.ts'
import { hostOf, overStdio, PLAN, waiting } from './support/mcp.ts'
import { describePostgres, ownDatabase } from './support/postgres-store.ts'
import { type Answers, Provider } from './support/provider.ts'
import { scratchFolder } from './support/scratch.ts'
import { TOKENS } from './support/server.ts'
import { confirmed } from './support/turns.ts'

const KEY_A = 'sk-the-key-for-provider-number-a-0001'
const KEY_B = 'sk-the-key-for-provider-number-b-0002'
const MODEL = 'openai-compatible:m'
/** No keys of whoever runs the tests. */
const NO_KEYS = { OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '', GOOGLE_GENERATIVE_AI_API_KEY: '' }

/** Plans one task, does it, and says so. */
const worker: Answers = ({ messages }) => {
  const answered = messages.filter(({ role }) => role === 'tool').length
  if (answered === 0) return { calls: [{ tool: 'plan', args: { tasks: [{ title: 'Dig' }] } }] }
  return answered === 1 ? { calls: [{ tool: 'update', args: { id: 1, outcome: 'Dug.' } }] } : 'The hole is dug.'
}

let data: string
let ends: (() => Promise<unknown>)[]
beforeEach(() => {
  data = scratchFolder()
  ends = []
})
afterEach(async () => {
  for (const end of ends.toReversed()) await end()
  rmSync(data, { recursive: true, force: true })
})

async function provided(answers: Answers = worker): Promise<Provider> {
  const provider = await Provider.start(answers)
  ends.push(() => provider.close())
  return provider
}

/** A server that ends with the test, unless it is ended before. */
async function served(options: Partial<Parameters<typeof startCli>[0]> = {}): Promise<CliTurns> {
  const server = await startCli({ data, ...options, env: { ...NO_KEYS, ...options.env } })
  let ended: Promise<string> | undefined
  const end = (): Promise<string> => (ended ??= server.end())
  ends.push(end)
  return { ...server, end }
}

const change = async ({ person }: CliTurns, what: SettingsChange) =>
  person.changeSettings((await person.settings()).version, what)

/** Starts a turn whose plan waits for a person. */
async function parked(server: CliTurns, session_id: string): Promise<void> {
  const reader = await server.open({ session_id, turn_id: 't' })
  await reader.reached('task_create_review_required')
  reader.leave()
}

/** Confirms the plan of a conversation; how its turn ended, and why if it failed. */
async function decided({ person }: CliTurns, session: string): Promise<readonly unknown[]> {
  const review = await waiting(person, session)
  await person.decide(review.review_id, confirmed(review))
  await expect.poll(async () => (await person.session(session)).turns[0]?.status).toMatch(/done|failed/)
  const { seq, turns } = await person.session(session)
  const events = await Promise.all(Array.from({ length: seq }, (_, index) => person.event(session, index + 1)))
  const failed = events.find(event => event.type === 'turn_failed')
  return [turns[0]?.status, ...(failed?.type === 'turn_failed' ? [failed.data.code, failed.data.message] : [])]
}

const keysOf = ({ asked, judged }: Provider): Set<unknown> =>
  new Set([...asked, ...judged].map(({ headers }) => headers.authorization))

/** Every byte below a folder. */
const bytesIn = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => join(folder, name))
    .filter(path => statSync(path).isFile() && !path.endsWith('settings.json'))
    .map(path => readFileSync(path, 'latin1'))
    .join('\n')

describe('settings of the page', () => {
  it('[SG3] count for new turns at once; turns that wait keep their model and its key, also over a restart', async () => {
    const [a, b] = [await provided(), await provided()]
    let server = await served()
    await change(server, { model: MODEL, base_url: a.url, key: KEY_A })
    await parked(server, 'first')
    await parked(server, 'second')

    await change(server, { base_url: b.url, key: KEY_B })
    const reader = await server.chat({ session_id: 'third', turn_id: 't', review: false })
    expect(reader.of('turn_finished')[0]?.data.status).toBe('done')
    expect(reader.of('turn_started')[0]?.data.endpoint).toMatch(/^openai-compatible@[0-9a-f]{12}$/)
    expect(keysOf(b)).toEqual(new Set([`Bearer ${KEY_B}`]))

    const before = a.asked.length
    expect(await decided(server, 'first')).toEqual(['done'])
    expect(a.asked.length).toBeGreaterThan(before)
    expect(keysOf(a)).toEqual(new Set([`Bearer ${KEY_A}`]))
    await parked(server, 'fourth')
    await server.end()

    server = await served()
    expect((await server.person.models()).models).toEqual([{ name: MODEL, default: true }])
    expect(await decided(server, 'fourth')).toEqual(['done'])
    expect(await decided(server, 'second')).toEqual([
      'failed',
      'model_changed',
      expect.stringContaining(`The model is now ${MODEL}.`),
    ])
    expect(keysOf(b)).toEqual(new Set([`Bearer ${KEY_B}`]))

    const stderr = await server.end()
    for (const text of [bytesIn(data), stderr]) expect(text).not.toMatch(/number-[ab]-000/)
  })

  it('[SG1] options and variables take precedence, and lock; a setting that none gives is the page’s', async () => {
    const env = { RUNSHEET_MODEL: 'demo', RUNSHEET_REVIEW: 'off', RUNSHEET_TOOLSET: 'turn_todos' }
    const policy = { toolset: 'checklist', gate: false, review_timeout_ms: 5_000 }
    const server = await served({ env, config: { policy } })
    const { settings, scope } = await change(server, { review_timeout_ms: 60_000 })
    expect(scope).toBe('server')
    expect(settings).toMatchObject({
      model: { value: 'demo', source: 'environment', locked_by: 'RUNSHEET_MODEL' },
      toolset: { value: 'turn_todos', source: 'environment', locked_by: 'RUNSHEET_TOOLSET' },
      review: { value: false, source: 'environment', locked_by: 'RUNSHEET_REVIEW' },
      review_timeout_ms: { value: 60_000, source: 'page' },
      gate: { value: false, source: 'file' },
    })
    await expect(change(server, { model: MODEL })).rejects.toMatchObject({ code: 'setting_locked' })
    await server.person.setPolicy('c', {})
    expect((await server.person.session('c')).policy).toMatchObject({
      toolset: 'turn_todos',
      review: false,
      gate: false,
      review_timeout_ms: 60_000,
    })
  })

  it('an option is named as it was given', async () => {
    const args = ['serve', '--port', '0', '--data', data, '--model', 'demo', '--review', 'on']
    const child = runCli(args, { file: BUILT, env: { RUNSHEET_TOKEN: TOKENS.person } })
    ends.push(async () => {
      child.process.kill('SIGKILL')
      await child.ended
    })
    const [url = ''] = /http:\S+?(?=#)/.exec(await child.line(line => line.startsWith('Runsheet is ready'))) ?? []
    const headers = { authorization: `Bearer ${TOKENS.person}` }
    expect(await (await fetch(new URL('/api/settings', url), { headers })).json()).toMatchObject({
      settings: { model: { source: 'flag', locked_by: '--model' }, review: { source: 'flag', locked_by: '--review' } },
    })
  })

  it('what an agent writes into the data folder turns no review off', async () => {
    const server = await served()
    writeFileSync(join(data, 'settings.json'), '{"format":1,"settings":{"review":false,"model":"openai:x"}}')
    await server.person.setPolicy('c', {})
    expect((await server.person.session('c')).policy).toMatchObject({ review: true })
    expect((await server.person.models()).models).toEqual([{ name: 'demo', default: true, sandbox: true }])
  })
})

describe('settings of a server that runs', () => {
  let server: CliTurns
  let folder: string
  beforeAll(async () => {
    folder = scratchFolder()
    server = await startCli({ data: folder, env: NO_KEYS })
  })
  afterAll(async () => {
    await server.end()
    rmSync(folder, { recursive: true })
  })

  it('[SG3] a key that the provider repeats is not in the log of the turn that failed', async () => {
    const provider = await provided(() => ({ status: 401, body: `{"error":{"message":"wrong key: ${KEY_A}"}}` }))
    await change(server, { model: MODEL, base_url: provider.url, key: KEY_A })
    const reader = await server.chat({ session_id: 'denied' })
    expect(reader.of('turn_failed')[0]?.data).toMatchObject({
      code: 'provider_denied',
      message: expect.stringContaining('wrong key: [redacted]'),
    })
    expect(bytesIn(folder)).not.toContain(KEY_A)
  })

  it('runsheet mcp follows them while it runs', async () => {
    const env = { RUNSHEET_TOKEN: TOKENS.person, XDG_CONFIG_HOME: folder }
    const host = await overStdio(folder, hostOf({ era: '2025' }), ['--session', 'mcp'], BUILT, { env })
    ends.push(() => host.client.close())
    await change(server, { review: false, gate: false })
    const answer = await host.client.callTool({ name: 'plan', arguments: PLAN })
    expect(answer.structuredContent).toMatchObject({ ids: [1, 2] })
    expect((await server.person.session('mcp')).policy).toMatchObject({ review: false, gate: false })
  })

  it('a judge that the page names judges what agents elsewhere claim, and is announced', async () => {
    const provider = await provided()
    const judges = (): unknown => JSON.parse(readFileSync(join(folder, 'server.json'), 'utf8'))
    expect(judges()).not.toHaveProperty('judges')
    await change(server, { model: 'demo', base_url: provider.url, assessor_model: MODEL })
    expect(judges()).toMatchObject({ judges: true })
    const agent = { session_id: 'c', turn_id: 't' }
    await server.person.setPolicy('c', { review: false })
    await server.person.call('runsheet', 'plan', { ...agent, arguments: { tasks: [{ title: 'Dig' }] } })
    await server.person.call('runsheet', 'update', { ...agent, arguments: { id: 1, outcome: 'Dug.' } })
    expect(provider.judged).toHaveLength(1)
    await change(server, { unset: ['assessor_model'] })
    expect(judges()).not.toHaveProperty('judges')
  })

  it('the sandbox of the demo is for turns of the demo model only', async () => {
    const provider = await provided(() => 'Hello.')
    await change(server, { model: MODEL, base_url: provider.url })
    const reader = await server.chat({ session_id: 'hello' })
    expect(reader.of('turn_started')[0]?.data.workspace).toBeUndefined()
    expect(provider.tools(0).filter(name => name.includes('sandbox'))).toEqual([])
  })
})

describe('a start', () => {
  it.each(['another model', 'a workspace'])(
    'with %s goes on with a plan that waited in the sandbox of the demo',
    async what => {
      const before = await served()
      const reader = await before.open({ session_id: 'c', turn_id: 't', message: 'Compute 1 + 1. Compute 2 + 2.' })
      await reader.reached('task_create_review_required')
      expect(reader.of('turn_started')[0]?.data.workspace).toBeDefined()
      reader.leave()
      if (what === 'another model') await change(before, { model: MODEL, base_url: (await provided()).url })
      await before.end()
      const server = await served(what === 'a workspace' ? { env: { RUNSHEET_WORKSPACE: data } } : {})
      expect(await decided(server, 'c')).toEqual(['done'])
    },
  )

  it('with a model of the page that lacks its key comes up, says so in one line, and a turn says what to do', async () => {
    new SettingsOnDisk(join(data, 'runsheet')).write({ model: 'openai:gpt-5' })
    const server = await served()
    const message = 'openai needs a key: enter it in the settings, or set OPENAI_API_KEY.'
    expect((await server.person.settings()).problems).toEqual([{ field: 'key', message }])
    const reader = await server.chat()
    expect(reader.of('turn_failed')[0]?.data).toMatchObject({ code: 'model_unknown', message })
    expect((await server.end()).split('\n')[0]).toBe(`Runsheet: ${message}`)
  })

  it('with a broken file ends serve in one line; mcp says the same, and goes on for its host', async () => {
    mkdirSync(join(data, 'runsheet'))
    writeFileSync(join(data, 'runsheet/settings.json'), '{"format":1,"settings":{"review":tru')
    for (const args of [['serve', '--port', '0'], ['mcp']]) {
      const child = runCli([...args, '--data', data], { file: BUILT, env: { XDG_CONFIG_HOME: data } })
      child.process.stdin?.end()
      const { code, stderr } = await child.ended
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(/^runsheet: cannot use .*settings\.json: it is not valid JSON[^\n]*\n$/),
      })
    }
  })
})

describePostgres('on PostgreSQL', () => {
  it('settings are those of the node, which the answer says; a node without the model fails its turn with a code', async () => {
    const provider = await provided()
    const store = await ownDatabase()
    const node = await served({ store })
    const { scope } = await change(node, { model: MODEL, base_url: provider.url, key: KEY_A })
    expect(scope).toBe('node')
    await parked(node, 'c')
    await node.end()
    const other = scratchFolder()
    ends.push(async () => rmSync(other, { recursive: true }))
    const second = await served({ store, data: other })
    expect((await second.person.settings()).settings.model).toEqual({ value: 'demo', source: 'default' })
    expect(await decided(second, 'c')).toMatchObject(['failed', 'model_changed', expect.anything()])
    await second.end()
  })
})
