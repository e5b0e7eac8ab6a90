import { createHmac } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { evidenceOf, openDoor } from '../../src/engine/door/door.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { CLI } from '../support/children.ts'
import { type Era, type Host, hostOf, overStdio, PLAN } from '../support/mcp.ts'
import { scratchFolder } from '../support/scratch.ts'

const SECRET = 'a secret that setup has made'

async function started(name: string, era: Era, ...args: readonly string[]): Promise<Host & { readonly data: string }> {
  const folder = scratchFolder()
  const data = join(folder, 'data')
  mkdirSync(data, { mode: 0o700 })
  writeFileSync(join(data, 'opencode-secret'), `${SECRET}\n`, { mode: 0o600 })
  const env = { CLAUDE_CODE_SESSION_ID: 'of-the-environment' }
  const host = await overStdio(data, hostOf({ era, name }), ['--review', 'off', ...args], CLI, { env })
  onTestFinished(async () => {
    await host.client.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { ...host, data }
}

const toolsOf = async ({ client }: Host): Promise<readonly string[]> =>
  (await client.listTools()).tools.map(({ name }) => name)

const hook = async ({ call }: Host, event: string, more: Record<string, unknown> = {}): Promise<unknown> => {
  const { text, isError } = await call('hook', { event, session: 'the-session', turn: 'prompt-1', ...more })
  expect(isError).toBe(false)
  return JSON.parse(text)
}

it.each(['2025', '2026'] as const)(
  'hooks name the session and the turn of the calls that follow; the gate and evidence work (%s)',
  async era => {
    const host = await started('claude-code', era, '--hooks')
    const { tools } = await host.client.listTools()
    expect(tools.find(({ name }) => name === 'hook')).toMatchObject({ _meta: { ui: { visibility: ['app'] } } })
    expect(await hook(host, 'UserPromptSubmit')).toEqual({})
    await host.call('plan', PLAN)
    expect(
      await hook(host, 'PostToolUse', { tool: 'Bash', input: '{"command":"ls"}', response: '{"stdout":"a"}' }),
    ).toEqual({})
    expect(await hook(host, 'Stop')).toMatchObject({ decision: 'block' })
    expect(await hook(host, 'Stop', { turn: 'prompt-2' })).toEqual({})

    const door = openDoor({ store: await openSqliteStore({ path: join(host.data, 'runsheet.db') }), readOnly: true })
    onTestFinished(() => door.close())
    const ref = { tenant: 'local', conversation: 'the-session' }
    const { turns, tasks } = await door.read(ref)
    expect([...turns.values()].map(({ id }) => id)).toEqual(['prompt-1'])
    const first = [...tasks.values()].find(({ number }) => number === 1)
    expect((await evidenceOf(door, ref, first?.id ?? ''))?.evidence).toMatchObject([
      { source: 'host', tool: 'Bash', arguments: { command: 'ls' }, answer: { stdout: 'a' }, ok: true },
    ])
  },
)

it('the tool is offered with --hooks only, and to the two hosts whose hooks call tools', async () => {
  expect(await toolsOf(await started('claude-code', '2026'))).not.toContain('hook')
  for (const era of ['2025', '2026'] as const) {
    const other = await started('a host', era, '--hooks')
    expect(await toolsOf(other)).not.toContain('hook')
    // The rest of the list is as without hooks.
    const plain = await started('claude-code', era, '--workspace', process.cwd())
    const hooked = await started('claude-code', era, '--hooks')
    const { tools } = await hooked.client.listTools()
    expect(tools.filter(({ name }) => name !== 'hook')).toEqual((await plain.client.listTools()).tools)
    await expect(hook(other, 'Stop')).rejects.toThrow()
  }
})

it.each([
  ['codex-mcp-client', 'callId'],
  ['claude-code', 'claudecode/toolUseId'],
])('it is refused to a model: a call of %s that carries a tool-use id of the host', async (name, id) => {
  const { client } = await started(name, '2025', '--hooks')
  const asked = { name: 'hook', arguments: { event: 'Stop', session: 's', turn: 't' } }
  expect(await client.callTool({ ...asked, _meta: { [id]: 'call_1' } })).toMatchObject({ isError: true })
  expect((await client.callTool(asked)).isError).toBeFalsy()
})

it("a call belongs to the chat that OpenCode's plugin signed; without a valid signature it is refused", async () => {
  const host = await started('opencode', '2025', '--hooks')
  const mac = createHmac('sha256', SECRET)
    .update(JSON.stringify(['ses_1', 'call_1']))
    .digest('hex')
  const signed = { ...PLAN, runsheet_session: { id: 'ses_1', call: 'call_1', mac } }
  expect(await host.call('plan', signed)).toMatchObject({ isError: false, data: { ids: [1, 2] } })
  const forged = { ...PLAN, runsheet_session: { id: 'ses_2', call: 'call_1', mac } }
  expect(await host.call('plan', forged)).toMatchObject({
    isError: true,
    text: expect.stringContaining('runsheet_session') as unknown,
  })
  expect(await host.call('tasks', {})).toMatchObject({ isError: false, data: { tasks: [] } })
})
