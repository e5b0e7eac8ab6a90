import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serverTools, ToolServers } from '../../src/cli/server/server-tools.ts'
import { type McpServer, McpServers } from '../../src/engine/turn/mcp-tools.ts'
import { programOf } from '../support/children.ts'
import { scratchFolder } from '../support/scratch.ts'
import { settingsScene } from '../support/settings.ts'
import type { Answers } from '../support/provider.ts'
import { startTurns } from '../support/turns.ts'

const FIXTURE = programOf(new URL('../support/mcp-fixture.ts', import.meta.url))
const near = (more: Partial<McpServer> = {}): McpServer => ({
  command: process.execPath,
  args: [FIXTURE],
  env: { API_KEY: 'a-secret-of-near' },
  ask: 'all',
  ...more,
})

interface SceneOptions {
  readonly own?: unknown
  readonly chosen?: Readonly<Record<string, McpServer>>
  readonly answers?: Answers
  readonly waitMs?: number
}

/** A server whose person's own settings file is in a scratch folder. */
async function scene({ own = {}, chosen = {}, answers, waitMs = 10_000 }: SceneOptions = {}) {
  const folder = scratchFolder()
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'runsheet.json')
  const write = (mcpServers: unknown): void => writeFileSync(file, JSON.stringify({ mcpServers }, null, 2))
  write(own)
  const { settings, redact, data, remove } = settingsScene()
  const servers = new ToolServers({
    own: file,
    chosen: '/project/runsheet.json',
    servers: { ...(own as Readonly<Record<string, McpServer>>), ...chosen },
    redact,
    prepared: each => each,
  })
  const mcp = new McpServers({ servers: servers.all, version: '0', onError: () => {}, retryAfterMs: 60_000, waitMs })
  const outside = {
    list: () => {
      mcp.use(servers.all)
      return mcp.list()
    },
    close: () => mcp.close(),
  }
  const tools = serverTools({
    servers,
    mcp,
    settings,
    redact,
    scope: 'server',
    invocation: 'npx runsheet',
    folder: '/home/ann',
    onChanged: () => {},
  })
  const turns = await startTurns({
    host: { review: false, assessor: false, gate: false },
    outside,
    rules: () => settings.rules,
    tools,
    ...(answers ? { answers } : {}),
  })
  onTestFinished(async () => {
    await turns.close()
    remove()
    rmSync(folder, { recursive: true, force: true })
  })
  const ready = async (): Promise<void> => {
    const states = async () => (await turns.person.tools()).servers.map(({ state }) => state)
    await expect.poll(states, { timeout: 20_000 }).not.toContain('connecting')
  }
  return { ...turns, settings, data, file, write, mcp, ready }
}

const NOTE = { calls: [{ tool: 'near__note', args: { text: 'a' } }] }

const toolOf = async ({ person }: Awaited<ReturnType<typeof scene>>, name: string) =>
  (await person.tools()).servers[0]?.tools.find(each => each.name === name)

describe('the tools of a server', () => {
  it('are listed with their state, without secrets, for persons only', async () => {
    const at = await scene({ own: { near: near(), gone: { command: '/nowhere/to/be/found' } } })
    const first = await at.person.tools()
    expect(first.servers.map(({ name }) => name)).toEqual(['near', 'gone'])
    await at.ready()
    await expect.poll(async () => (await at.person.tools()).servers[1]?.state).toBe('failed')
    const { servers, add, offered } = await at.person.tools()
    expect(servers[1]?.reason).toMatch(/ENOENT/)
    expect(servers[0]?.tools.find(({ name }) => name === 'echo')).toMatchObject({ read_only: true, rule: 'ask' })
    expect(offered).toBe(servers[0]?.tools.length)
    expect(add).toEqual({ command: 'npx runsheet tools add', file: at.file, folder: '/home/ann' })
    expect(JSON.stringify(await at.person.tools())).not.toContain('a-secret-of-near')
    for (const [method, path] of [
      ['GET', '/api/tools'],
      ['PUT', '/api/tools/rules'],
      ['DELETE', '/api/tools/servers/near'],
      ['POST', '/api/tools/servers/near/retry'],
    ] as const) {
      const body = method === 'PUT' ? { body: { server: 'near', rule: 'always', tools: [{ name: 'note' }] } } : {}
      const answer = await at.ask(method, path, { as: 'agent', ...body })
      expect([path, answer.status]).toEqual([path, 403])
    }
  })

  it('no route takes a command: there is nothing to add a server with', async () => {
    const at = await scene()
    for (const method of ['POST', 'PUT', 'PATCH']) {
      const body = { name: 'evil', command: 'rm', args: ['-rf', '/'] }
      expect((await at.ask(method, '/api/tools', { body })).status).toBe(405)
      expect((await at.ask(method, '/api/tools/servers/evil', { body })).status).toBe(405)
    }
    expect((await at.person.tools()).servers).toEqual([])
  })

  it('[TO5] a rule is kept with the settings; "always" needs the tool as the person saw it', async () => {
    const at = await scene({ own: { near: near() } })
    await at.ready()
    const note = await toolOf(at, 'note')
    await at.person.setToolRules({ server: 'near', rule: 'never', tools: [{ name: 'echo' }] })
    const stale = at.person.setToolRules({
      server: 'near',
      rule: 'always',
      tools: [{ name: 'note', fingerprint: 'older' }],
    })
    await expect(stale).rejects.toMatchObject({ status: 409, code: 'tool_changed' })
    const fingerprint = note?.fingerprint ?? ''
    await at.person.setToolRules({ server: 'near', rule: 'always', tools: [{ name: 'note', fingerprint }] })
    expect(await toolOf(at, 'note')).toMatchObject({ rule: 'always', source: 'page' })
    expect(await toolOf(at, 'echo')).toMatchObject({ rule: 'never' })
    // Another process with the token reads the same.
    expect(settingsScene({ data: at.data }).settings.rules).toEqual({
      near: { echo: { rule: 'never' }, note: { rule: 'always', fingerprint } },
    })
    await at.person.setToolRules({ server: 'near', rule: null, tools: [{ name: 'echo' }] })
    expect(await toolOf(at, 'echo')).toMatchObject({ rule: 'ask', source: 'configuration' })
    const nothing = at.person.setToolRules({ server: 'near', rule: 'ask', tools: [{ name: 'nothing' }] })
    await expect(nothing).rejects.toMatchObject({ status: 404, code: 'tool_not_found' })
  })

  it('calls that wait are listed with the pending reviews if they are asked for, without their arguments', async () => {
    const at = await scene({ own: { near: near() }, answers: [NOTE, 'Kept.'] })
    const reader = await at.open({ message: 'Keep it' })
    await reader.reached('tool_approval_required')
    const [asked] = reader.of('tool_approval_required')
    const call = {
      session_id: 'c1',
      approval_id: asked?.data.approval_id,
      turn_id: asked?.turn_id,
      tool: 'near__note',
      server: 'near',
      server_tool: 'note',
      asked_at: asked?.timestamp,
    }
    const listed = { reviews: [], sessions: [{ session_id: 'c1', title: 'Keep it' }], approvals: [call] }
    expect(await at.person.pendingReviews(undefined, { approvals: true })).toMatchObject(listed)
    expect((await at.person.pendingReviews('c1', { approvals: true })).approvals).toEqual([call])
    expect((await at.person.pendingReviews('c2', { approvals: true })).approvals).toEqual([])
    expect(await at.person.pendingReviews()).toEqual({ reviews: [], sessions: [] })
    // One that was put away waits no less.
    await at.person.fileSession('c1', { archived: true })
    expect((await at.person.pendingReviews(undefined, { approvals: true })).approvals).toEqual([call])
    await at.person.decideApproval('c1', call.approval_id ?? '', { decision: 'allow' })
    await reader.over
    expect((await at.person.pendingReviews(undefined, { approvals: true })).approvals).toEqual([])
  })

  it.each([
    ['is set to never', /turned this tool off/],
    ['goes with its server', /no tool near__note/],
  ])('a call that waits is denied when its tool %s', async (how, told) => {
    const at = await scene({ own: { near: near() }, answers: [NOTE, 'Then not.'] })
    const reader = await at.open()
    await reader.reached('tool_approval_required')
    // Another tool changes nothing.
    await at.person.setToolRules({ server: 'near', rule: 'never', tools: [{ name: 'echo' }] })
    expect((await at.person.pendingReviews('c1', { approvals: true })).approvals).toHaveLength(1)
    if (how === 'is set to never') {
      await at.person.setToolRules({ server: 'near', rule: 'never', tools: [{ name: 'note' }] })
    } else {
      await at.person.removeToolServer('near')
    }
    await reader.over
    expect(reader.of('tool_approval_resolved').map(({ data }) => data)).toMatchObject([
      { decision: 'deny', via: 'http' },
    ])
    expect(reader.of('tool_answered')[0]?.data).toMatchObject({
      ok: false,
      result: expect.stringMatching(told) as string,
    })
    expect(reader.of('tool_called')).toEqual([])
  })

  it('"always" in the conversation is saved, and the next turn is not asked', async () => {
    const call = { calls: [{ tool: 'near__note', args: { text: 'a' } }] }
    const at = await scene({ own: { near: near() }, answers: [call, 'Kept.', call, 'Kept.'] })
    const reader = await at.open()
    await reader.reached('tool_approval_required')
    const id = reader.of('tool_approval_required')[0]?.data.approval_id ?? ''
    expect(await at.person.decideApproval('c1', id, { decision: 'always' })).not.toHaveProperty('not_saved')
    await reader.over
    expect(at.settings.rules).toMatchObject({ near: { note: { rule: 'always' } } })
    expect((await at.chat({ turn_id: 't2' })).of('tool_approval_required')).toEqual([])
    // Repeated later, it does not overrule what was set since.
    await at.person.setToolRules({ server: 'near', rule: 'never', tools: [{ name: 'note' }] })
    await at.person.decideApproval('c1', id, { decision: 'always' })
    expect(at.settings.rules).toMatchObject({ near: { note: { rule: 'never' } } })
  })

  it('where the rule cannot be saved, the call is allowed, and the answer says why', async () => {
    const at = await scene({
      own: { near: near() },
      answers: [{ calls: [{ tool: 'near__note', args: { text: 'a' } }] }, 'Kept.'],
    })
    const reader = await at.open()
    await reader.reached('tool_approval_required')
    writeFileSync(join(at.data, 'settings.json'), '{}')
    const id = reader.of('tool_approval_required')[0]?.data.approval_id ?? ''
    const { not_saved } = await at.person.decideApproval('c1', id, { decision: 'always' })
    expect(not_saved).toMatch(/settings\.json in your configuration folder cannot be used/)
    await reader.over
    expect(reader.of('tool_answered')[0]?.data.ok).toBe(true)
    expect(at.settings.rules).toEqual({})
  })

  it("a server is taken out of the person's own file, whose other bytes stay; of another file it says which", async () => {
    const at = await scene({ own: { near: near() }, chosen: { theirs: near() } })
    const text = `{\n  // mine\n  "policy": { "gate": true },\n  "mcpServers": { "near": ${JSON.stringify(near())}, "far": ${JSON.stringify(near())} }\n}\n`
    writeFileSync(at.file, text.replace('  // mine\n', ''))
    await expect.poll(async () => (await at.person.tools()).servers.length).toBe(3)
    await expect(at.person.removeToolServer('theirs')).rejects.toMatchObject({
      status: 409,
      code: 'server_elsewhere',
      message: expect.stringContaining('/project/runsheet.json') as string,
    })
    const { servers } = await at.person.removeToolServer('near')
    expect(servers.map(({ name }) => name)).toEqual(['far', 'theirs'])
    expect(readFileSync(at.file, 'utf8')).toBe(
      text.replace('  // mine\n', '').replace(`"near": ${JSON.stringify(near())}, `, ''),
    )
    await expect(at.person.removeToolServer('near')).rejects.toMatchObject({ status: 404 })
  })

  it("what is added to the person's own file is there without a restart; a wrong file leaves what was", async () => {
    const at = await scene({ answers: [{ calls: [{ tool: 'near__echo', args: { text: 'x' } }] }, 'So.'] })
    expect((await at.person.tools()).servers).toEqual([])
    at.write({ near: near({ ask: 'none' }) })
    expect((await at.person.tools()).servers).toMatchObject([{ name: 'near', state: 'connecting' }])
    const reader = await at.chat({})
    expect(reader.of('tool_answered')[0]?.data.result).toBe('x')
    writeFileSync(at.file, '{ "mcpServers": ')
    const broken = await at.person.tools()
    expect(broken.servers).toHaveLength(1)
    expect(broken.problem).toMatch(/is not valid JSON/)
    at.write({})
    expect(await at.person.tools()).toMatchObject({ servers: [] })
    expect(existsSync(at.file)).toBe(true)
  })

  it('a server that hangs is said to be connecting, and neither the page nor a turn waits until it answers', async () => {
    const hang = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'], ask: 'all' as const }
    const at = await scene({ own: { hang }, answers: ['One.', 'Two.'], waitMs: 100 })
    expect((await at.person.tools()).servers).toMatchObject([{ name: 'hang', state: 'connecting', tools: [] }])
    // Both end while it still hangs.
    expect((await at.chat({})).of('turn_finished')[0]?.data.status).toBe('done')
    expect((await at.chat({ turn_id: 't2' })).of('turn_finished')[0]?.data.status).toBe('done')
    expect((await at.person.tools()).servers).toMatchObject([{ state: 'connecting' }])
  })

  it('of 200 tools models get 100; those that are never allowed make room', async () => {
    const at = await scene({
      own: { near: near({ env: { FIXTURE_MANY: '200' } }) },
      answers: ['So.', 'So.'],
    })
    await at.ready()
    const { servers, offered } = await at.person.tools()
    const all = servers[0]?.tools ?? []
    expect([all.length > 200, offered]).toEqual([true, 100])
    expect(all.filter(({ left_out }) => left_out)).toHaveLength(all.length - 100)
    const ofModel = (request: number): string[] => at.provider.tools(request).filter(name => name.startsWith('near__'))
    await at.chat({})
    expect(ofModel(0)).toHaveLength(100)
    const tools = all.slice(0, 150).map(({ name }) => ({ name }))
    await at.person.setToolRules({ server: 'near', rule: 'never', tools })
    await at.chat({ turn_id: 't2' })
    expect(ofModel(1)).toHaveLength(all.length - 150)
  })

  it('servers share the 100 fairly: one with few tools is never shut out by one that was there first', async () => {
    const at = await scene({
      own: { near: near({ env: { FIXTURE_MANY: '200' } }), late: near() },
      answers: ['So.'],
    })
    await at.ready()
    const { servers, offered } = await at.person.tools()
    const kept = servers.map(({ tools }) => tools.filter(({ left_out }) => !left_out).length)
    const late = servers.find(({ name }) => name === 'late')?.tools ?? []
    expect(late.length).toBeGreaterThan(2)
    expect([kept, offered]).toEqual([[100 - late.length, late.length], 100])
    await at.chat({})
    const given = at.provider.tools(0).filter(name => name.includes('__'))
    const shown = servers.flatMap(({ name, tools }) =>
      tools.filter(({ left_out }) => !left_out).map(tool => `${name}__${tool.name}`),
    )
    expect(given.toSorted()).toEqual(shown.toSorted())
  })
})
