import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type Child, CLI, runCli } from '../support/children.ts'
import { fault } from '../support/faults.ts'
import { figuresOf } from '../support/figures.ts'
import { type Host, hostOf, overHttp, overStdio, type StdioEnd } from '../support/mcp.ts'
import { scratchFolder } from '../support/scratch.ts'
import { TOKENS } from '../support/server.ts'

const FILE = '.agents/tasks/f1.json'
const ANSWER = { isError: true, text: 'Error: Task file is corrupt or invalid.' }
const PLAN = { tasks: [{ title: 'Look' }] }
const ERAS = ['2025', '2026'] as const

interface Served {
  readonly data: string
  readonly url: URL
  readonly child: Child
  readonly write: (text: string) => void
}

/** `runsheet serve` on JSON files. */
async function served(): Promise<Served> {
  const data = scratchFolder()
  mkdirSync(join(data, '.agents', 'tasks'), { recursive: true })
  const env = { RUNSHEET_TOKEN: TOKENS.person, RUNSHEET_AGENT_TOKEN: TOKENS.agent }
  const args = ['serve', '--port', '0', '--data', data, '--store', 'file', '--review', 'off']
  const child = runCli(args, { env })
  onTestFinished(async () => {
    child.process.kill()
    await child.ended
    rmSync(data, { recursive: true })
  })
  const [url = ''] = /http:\S+\//.exec(await child.line(line => line.startsWith('Runsheet is ready'))) ?? []
  return { data, url: new URL(url), child, write: text => replace(join(data, FILE), text) }
}

/** Replaces a file in one step: a reader sees the old text or the new one, never half of it. */
function replace(path: string, text: string): void {
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
}

async function joined(data: string, era: (typeof ERAS)[number]): Promise<Host & StdioEnd> {
  const args = ['--store', 'file', '--session', 'f1', '--review', 'off']
  const host = await overStdio(data, hostOf({ era }), args, CLI)
  onTestFinished(() => host.client.close())
  return host
}

const toolNames = async ({ client }: Host): Promise<string[]> =>
  (await client.listTools()).tools.map(({ name }) => name)

/** The lines of the log about storage. */
async function loggedBy({ child }: Served): Promise<Record<string, unknown>[]> {
  child.process.kill()
  const { stderr } = await child.ended
  return stderr.split('\n').flatMap(line => (line.includes('storage failed') ? [JSON.parse(line)] : []))
}

fault('a broken task file')

it.each(ERAS)('`runsheet mcp` (%s) opens on a broken task file, and each call says so', async era => {
  const { data, write } = await served()
  write('{broken')
  const host = await joined(data, era)
  expect(await toolNames(host)).toContain('plan')
  for (let times = 0; times < 2; times += 1) expect(await host.call('tasks')).toMatchObject(ANSWER)
  expect(await host.call('plan', PLAN)).toMatchObject(ANSWER)
  const told = host.stderr().split('\n')
  expect(told.filter(line => line.includes('Task file'))).toEqual([
    expect.stringMatching(/^runsheet: \.agents\/tasks\/f1\.json: Task file is corrupt or invalid\. \(.*JSON.*\)$/),
  ])
  write('{ "tasks": [] }')
  expect(await host.call('plan', PLAN)).toMatchObject({ isError: false, data: { next: '1 Look' } })
})

it.each(ERAS)('/mcp (%s) opens on a broken task file; its calls are logged and counted', async era => {
  const server = await served()
  const { url, write } = server
  write('{broken')
  const host = await overHttp(server, hostOf({ era }), { headers: { 'runsheet-session': 'f1' } })
  onTestFinished(() => host.client.close())
  expect(await toolNames(host)).toContain('plan')
  expect(await host.call('tasks')).toMatchObject(ANSWER)
  expect(await host.call('plan', PLAN)).toMatchObject(ANSWER)
  expect(await figuresOf(url, 'runsheet_tool_calls_total')).toEqual({
    'runsheet tasks mcp failed': 1,
    'runsheet plan mcp failed': 1,
  })
  expect(await loggedBy(server)).toMatchObject([{ level: 50, err: { code: 'file_invalid', file: FILE } }])
})

it.each(ERAS)('a file that breaks after connecting (%s) is logged once and counted', async era => {
  const server = await served()
  const { url, write, data } = server
  // Another toolset than the server's default: the log knows it while the file is broken.
  const put = await fetch(new URL('/api/sessions/f1/policy', url), {
    method: 'PUT',
    headers: { authorization: `Bearer ${TOKENS.person}`, 'content-type': 'application/json' },
    body: JSON.stringify({ toolset: 'task_list' }),
  })
  expect(put.status).toBe(200)
  const host = await overHttp(server, hostOf({ era }), { headers: { 'runsheet-session': 'f1' } })
  onTestFinished(() => host.client.close())
  await host.call('AddTask', { title: 'Look' })
  const good = readFileSync(join(data, FILE), 'utf8')
  write('{broken')
  expect(await host.call('ListTasks')).toMatchObject(ANSWER)
  expect(await host.call('AddTask', { title: 'Leap' })).toMatchObject(ANSWER)
  await expect(host.client.readResource({ uri: 'runsheet://f1/tasks' })).rejects.toThrow('Task file is corrupt')
  write(good)
  expect(await host.call('ListTasks')).toMatchObject({ isError: false })
  expect(await figuresOf(url, 'runsheet_tool_calls_total')).toEqual({
    'task_list AddTask mcp ok': 1,
    'task_list AddTask mcp failed': 1,
    'task_list ListTasks mcp failed': 1,
    'task_list ListTasks mcp ok': 1,
  })
  expect(await loggedBy(server)).toMatchObject([{ err: { code: 'file_invalid', file: FILE } }])
})
