import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, inject, it, onTestFinished, vi } from 'vitest'
import { serveHooks } from '../../src/cli/server/hook-server.ts'
import { redactor } from '../../src/core/text/redact.ts'
import { openDoor } from '../../src/engine/door/door.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { hook, QUIET, scratch, withPlan } from '../support/hooks.ts'
import { hostOf, overStdio, PLAN } from '../support/mcp.ts'
import { freshDatabase } from '../support/postgres.ts'

/** Our processes are children of this one, as those of a host are of it. */
const socketIn = (data: string, form = 'v1'): string => join(data, 'hosts', `${process.pid}.${form}.sock`)

const gemini = (data: string, event: string, payload: object = {}): ReturnType<typeof hook> =>
  hook([event, '--host', 'gemini', '--data', data], JSON.stringify({ session_id: 'chat', ...payload }), data)

/** A prompt in a chat of OpenCode, which is told the plan each time. */
const opencode = (data: string): ReturnType<typeof hook> =>
  hook(
    ['chat.message', '--host', 'opencode', '--data', data],
    JSON.stringify({ sessionID: 'chat', prompt: 'Go' }),
    data,
  )

/** Listens in the place of the MCP process. */
async function listening(path: string, onSocket: (socket: Socket) => void): Promise<void> {
  mkdirSync(join(path, '..'), { recursive: true })
  const server = createServer({ allowHalfOpen: true }, onSocket).listen(path)
  onTestFinished(() => void server.close())
  await once(server, 'listening')
}

it('hooks of Gemini CLI ask the MCP process of their host, also where plans are on PostgreSQL', async () => {
  const data = join(scratch(), 'data')
  const database = await freshDatabase(inject('postgresUrl'))
  const args = ['--hooks', '--review', 'off', '--store', database.url]
  const host = await overStdio(data, hostOf({ era: '2025', name: 'gemini-cli-mcp-client' }), args)
  onTestFinished(async () => {
    await host.client.close()
    await database.drop()
  })
  await vi.waitFor(() => expect(lstatSync(socketIn(data)).mode & 0o777).toBe(0o600))

  expect(await gemini(data, 'SessionStart')).toEqual(QUIET)
  expect(await gemini(data, 'BeforeAgent', { prompt: 'Go.' })).toEqual(QUIET)
  await host.call('plan', PLAN)
  const call = { tool_name: 'run_shell_command', tool_input: { command: 'ls' }, tool_response: { llmContent: 'a' } }
  expect(await gemini(data, 'AfterTool', call)).toEqual(QUIET)
  const stopped = await gemini(data, 'AfterAgent')
  expect(JSON.parse(stopped.stdout)).toMatchObject({ decision: 'block' })
  expect((await gemini(data, 'SessionStart')).stdout).toContain('RUNSHEET-DIGEST')
  await host.client.close()
  await vi.waitFor(() => expect(lstatSync(socketIn(data), { throwIfNoEntry: false })).toBeUndefined())
})

it('a process of another version, what is no socket, and one of a killed process are as good as none', async () => {
  const data = await withPlan()
  await listening(socketIn(data, 'v0'), () => expect.unreachable('it is of another version'))
  expect(await opencode(data)).toEqual(QUIET)
  writeFileSync(socketIn(data), 'no socket')
  expect(await opencode(data)).toEqual(QUIET)
  rmSync(socketIn(data))
  const listen = `require('node:net').createServer().listen(${JSON.stringify(socketIn(data))}, () => console.log('ready'))`
  const killed = spawn(process.execPath, ['-e', listen], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(killed.stdout, 'data')
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  expect(lstatSync(socketIn(data)).isSocket()).toBe(true)
  expect(await opencode(data)).toEqual(QUIET)
})

it('a process that is frozen, dies or answers by half is silence: the event may have been acted on', async () => {
  const ways: readonly ((socket: Socket) => void)[] = [
    () => {},
    socket => socket.destroy(),
    socket => socket.end('{"decision":"bl'),
  ]
  const ended = ways.map(async way => {
    const data = await withPlan()
    await listening(socketIn(data), way)
    return opencode(data)
  })
  expect(await Promise.all(ended)).toEqual([QUIET, QUIET, QUIET])
})

it('where the path is too long for a socket there is none', async () => {
  const data = join(scratch(), 'a'.repeat(100))
  const door = openDoor({ store: openMemoryStore() })
  const stop = serveHooks({ data, door, redact: redactor(), session: undefined, onError: () => {} })
  expect(existsSync(data)).toBe(false)
  stop()
  await door.close()
})

it('what is no event is answered with nothing, and the process goes on', async () => {
  const data = join(scratch(), 'data')
  const host = await overStdio(data, hostOf({ era: '2025', name: 'qwen-cli-mcp-client' }), ['--hooks'])
  onTestFinished(() => host.client.close())
  await vi.waitFor(() => expect(lstatSync(socketIn(data)).isSocket()).toBe(true))
  for (const text of ['', 'no JSON\n{}', '{"name":"Stop","host":"emacs"}\n{}', '{"name":"Stop","host":"qwen"}\nnull']) {
    const socket = connect(socketIn(data))
    socket.on('error', () => {}).end(text)
    await once(socket.resume(), 'close')
  }
  expect(await host.call('tasks')).toMatchObject({ isError: false })
})
