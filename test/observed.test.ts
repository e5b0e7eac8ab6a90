import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { callTool } from '../src/engine/toolsets/calls.ts'
import { toolsets } from '../src/engine/toolsets/index.ts'
import { runCli } from './support/children.ts'
import { hostOf, overHttp, startMcpServer } from './support/mcp.ts'
import { scratchFolder } from './support/scratch.ts'
import { startServer, type TestServer } from './support/server.ts'
import { startTurns } from './support/turns.ts'
import { figures } from './support/figures.ts'

const TOOL = { tool: 'AddTask', args: { title: 'a' } } as const

/** The tool calls in `/metrics`, as `toolset tool edge outcome`, with how often each was counted. */
async function counted(url: URL): Promise<Record<string, number>> {
  const calls = (await figures(url)).filter(({ name }) => name === 'runsheet_tool_calls_total')
  return Object.fromEntries(
    calls.map(({ labels: { toolset, tool, edge, outcome }, value }) => [
      [toolset, tool, edge, outcome].join(' '),
      value,
    ]),
  )
}

const callOverHttp = ({ ask }: TestServer): Promise<Response> =>
  ask('POST', `/api/toolsets/task_list/tools/${TOOL.tool}`, {
    as: 'agent',
    body: { session_id: 'c1', turn_id: 't1', arguments: TOOL.args },
  })

it('a call over HTTP is counted once', async () => {
  const server = await startServer()
  onTestFinished(server.close)
  expect((await callOverHttp(server)).status).toBe(200)
  expect(await counted(server.url)).toEqual({ 'task_list AddTask http ok': 1 })
})

it.each(['2025', '2026'] as const)('a call over MCP (%s) is counted once', async era => {
  const server = await startMcpServer()
  onTestFinished(server.close)
  const host = await overHttp(server, hostOf({ era }), { headers: { 'runsheet-toolset': 'task_list' } })
  expect((await host.call(TOOL.tool, TOOL.args)).isError).toBe(false)
  await host.client.close()
  expect(await counted(server.url)).toEqual({ 'task_list AddTask mcp ok': 1 })
})

it('a call in a turn of ours is counted once', async () => {
  const turns = await startTurns({ answers: [{ calls: [TOOL] }, 'Done.'] })
  onTestFinished(turns.close)
  await turns.chat({ toolset: 'task_list' })
  expect(await counted(turns.url)).toEqual({ 'task_list AddTask turn ok': 1 })
})

it('a call from a program is counted once', async () => {
  const server = await startServer()
  onTestFinished(server.close)
  const context = { door: server.door, tenant: 'local', conversation: 'c1', turn: 't1' }
  await callTool(toolsets.task_list, TOOL.tool, TOOL.args, context)
  expect(await counted(server.url)).toEqual({ 'task_list AddTask library ok': 1 })
})

it('`serve` logs every call that it counts, once, with session, turn and call id', async () => {
  const folder = scratchFolder()
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const child = runCli(['serve', '--port', '0', '--data', folder, '--review', 'off', '--log', 'debug'])
  onTestFinished(() => void child.process.kill('SIGKILL'))
  const [url = ''] = /http:\S+\//.exec(await child.line(line => line.startsWith('Runsheet is ready'))) ?? []
  const authorization = `Bearer ${readFileSync(join(folder, 'person-token'), 'utf8').trim()}`
  const post = (path: string, body: unknown): Promise<string> =>
    fetch(new URL(path, url), {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).then(response => response.text())
  await post('/api/toolsets/task_list/tools/AddTask', { session_id: 'c1', turn_id: 't1', arguments: TOOL.args })
  // The built-in model plans and works off these; the stream ends with the turn.
  await post('/api/chat', { session_id: 'c2', turn_id: 't1', message: 'Collect the figures, then write the summary' })
  const calls = Object.entries(await counted(new URL(url))).flatMap(([call, count]) => Array<string>(count).fill(call))
  child.process.kill('SIGTERM')
  const { stderr } = await child.ended
  const logged = stderr.split('\n').flatMap(line => {
    return line.includes('"msg":"tool call"') ? [JSON.parse(line) as Record<string, string>] : []
  })
  const named = logged.map(({ toolset, tool, edge, outcome }) => [toolset, tool, edge, outcome].join(' '))
  expect(named.toSorted()).toEqual(calls.toSorted())
  expect(calls).toContain('task_list AddTask http ok')
  expect(calls.filter(call => call.startsWith('runsheet ')).length).toBeGreaterThan(1)
  for (const line of logged) {
    expect(line).toMatchObject({ session_id: expect.stringMatching(/^c[12]$/), turn_id: 't1' })
    expect(line['tool_call_id']).toMatch(/./)
    expect(line['model']).toBe(line['edge'] === 'turn' ? 'demo' : undefined)
  }
})
