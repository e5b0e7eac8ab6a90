import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { hookSecret } from '../../src/cli/server/data-folder.ts'
import { signedInput } from '../../src/server/mcp/binding.ts'
import { FEATURES, type Installation } from '../../src/hosts/host.ts'
import { opencodeWith } from '../../src/hosts/opencode.ts'
import { doorOf, hostWith, scratch, withPlan } from '../support/hooks.ts'

const source = readFileSync(new URL('../../src/hosts/opencode-plugin.js', import.meta.url), 'utf8')
const program = [process.execPath, fileURLToPath(new URL('../../dist/cli/runsheet.js', import.meta.url))] as const

type Hook = (input: object, output?: object) => Promise<void>

/** The plugin as setup writes it and OpenCode loads it, and the prompts that it sent. */
async function loaded({
  folder,
  ...installation
}: Partial<Installation> & { readonly data: string; readonly folder?: string }) {
  const place = {
    scope: 'user',
    home: '/',
    project: '/',
    environment: {},
    platform: 'linux',
    exists: () => false,
    read: () => undefined,
    real: (path: string) => path,
  } as const
  const [, file] = opencodeWith(source).settings(place, { program, features: FEATURES, ...installation })
  const path = join(scratch(), 'runsheet.mjs')
  writeFileSync(path, file?.format === 'own' ? (file.text ?? '') : '')
  const plugin = (await import(pathToFileURL(path).href)) as {
    Runsheet: (host: object) => Promise<Record<string, Hook>>
  }
  const prompts: string[] = []
  const prompt = async ({ body }: { body: { parts: { text: string }[] } }): Promise<void> => {
    prompts.push(...body.parts.map(({ text }) => text))
  }
  const hooks = await plugin.Runsheet({
    client: { session: { prompt } },
    directory: folder ?? dirname(installation.data),
  })
  const call = (name: string, input: object, output: object = {}): Promise<void> =>
    hooks[name]?.({ sessionID: 'chat', ...input }, output) ?? Promise.reject(new Error(`no ${name}`))
  const says = (...texts: readonly string[]): Promise<void> =>
    call('chat.message', {}, { parts: texts.map(text => ({ type: 'text', text })) })
  const system = async (): Promise<string> => {
    const output = { system: [] as string[] }
    await call('experimental.chat.system.transform', {}, output)
    return output.system.join('\n')
  }
  const idles = (sessionID = 'chat'): Promise<void> => happens('session.idle', { sessionID })
  const happens = (type: string, properties: object): Promise<void> => call('event', { event: { type, properties } })
  return { call, says, system, idles, happens, prompts }
}

async function changes(data: string, title: string): Promise<void> {
  const door = await doorOf(data)
  const change = [{ task: 1, fields: { title } }]
  await door.run(
    { tenant: 'local', conversation: 'chat' },
    { type: 'edit_tasks', by: 'model', turn_id: 'plan_1', change },
  )
}

it("a prompt brings the plan into OpenCode's system prompt, and our own tools keep it up to date", async () => {
  const data = await withPlan()
  await hostWith(data)
  const { says, system, call } = await loaded({ data })
  await says('Go on.')
  expect(await system()).toContain('Now: 1 "Collect"')
  await changes(data, 'Collect for May')
  await call('tool.execute.after', { tool: 'runsheet_update', args: {} }, { output: '{}' })
  expect(await system()).toContain('Now: 1 "Collect for May"')
})

it('a chat that a person stopped stays stopped until the next prompt, however often OpenCode calls it idle', async () => {
  const data = await withPlan()
  await hostWith(data)
  const { says, system, idles, happens, prompts } = await loaded({ data })
  await says('Go on.')
  await system()
  await changes(data, 'Collect for May')
  await happens('session.error', { sessionID: 'chat', error: { name: 'MessageAbortedError' } })
  await idles()
  await idles()
  expect(prompts).toEqual([])
  await says('Go on now.')
  await system()
  await changes(data, 'Collect for June')
  await idles()
  expect(prompts).toEqual([expect.stringContaining('"Collect for June"')])
})

it('[HK1] a chat that stops early is sent back, but not a subagent', async () => {
  const data = await withPlan()
  await hostWith(data)
  const { says, idles, happens, prompts } = await loaded({ data })
  await says('Go on.')
  await idles()
  expect(prompts).toEqual([])
  await changes(data, 'Collect for May')
  await happens('session.created', { info: { id: 'sub', parentID: 'chat' } })
  await idles('sub')
  expect(prompts).toEqual([])
  await idles()
  expect(prompts).toEqual([expect.stringMatching(/^RUNSHEET-GATE: .*"Collect for May"/)])
  await says(prompts[0] ?? '')
  await idles()
  expect(prompts).toHaveLength(2)
})

it('signs the chat of each call of our tools, and takes the signature out again', async () => {
  const data = await withPlan()
  writeFileSync(join(data, 'opencode-secret'), 'a secret that setup has made\n')
  const { call } = await loaded({ data })
  const args = { id: 1 }
  await call('tool.execute.before', { tool: 'bash', callID: 'call_0' }, { args })
  expect(args).toEqual({ id: 1 })
  await call('tool.execute.before', { tool: 'runsheet_update', callID: 'call_1' }, { args })
  const { signed } = signedInput(args, () => 'a secret that setup has made')
  expect(signed).toEqual({ session: 'chat', call: 'call_1' })
  await call('tool.execute.after', { tool: 'runsheet_update', args }, { output: '{}' })
  expect(args).toEqual({ id: 1 })
})

it('makes the secret where nobody ran setup, as in a clone, and only its owner can read it', async () => {
  const data = await withPlan()
  const { call } = await loaded({ data: '.runsheet', folder: dirname(data) })
  const args = {}
  await call('tool.execute.before', { tool: 'runsheet_plan', callID: 'call_1' }, { args })
  expect(statSync(join(data, 'opencode-secret')).mode & 0o777).toBe(0o600)
  const { signed } = signedInput(args, () => hookSecret(data))
  expect(signed).toEqual({ session: 'chat', call: 'call_1' })
})

it('[HK8] whatever is wrong, OpenCode goes on as if there were no plugin', async () => {
  const data = join(scratch(), 'none')
  const { says, system, idles, call, prompts } = await loaded({ data, program: [join(data, 'no-program')] })
  await says('Go on.')
  await call('tool.execute.before', { tool: 'runsheet_plan', callID: 'call_1' }, { args: {} })
  await call('tool.execute.after', { tool: 'bash', args: {} }, { output: 'a' })
  await idles()
  expect([await system(), prompts]).toEqual(['', []])
})
