import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { openDoor } from '../../src/door/door.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { CLI } from '../support/children.ts'
import { scratchFolder } from '../support/scratch.ts'

const main = fileURLToPath(new URL(`../../${CLI}`, import.meta.url))

function scratch(): string {
  const folder = scratchFolder()
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

function hook(words: readonly string[], payload: string | undefined, cwd: string): Promise<Ended> {
  const child = spawn(process.execPath, [main, 'hook', ...words], { cwd, stdio: 'pipe' })
  onTestFinished(() => void child.kill('SIGKILL'))
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', chunk => (stdout += String(chunk)))
  child.stderr.on('data', chunk => (stderr += String(chunk)))
  child.stdin.on('error', () => {})
  // Undefined: a host that never closes it.
  if (payload !== undefined) child.stdin.end(payload)
  return new Promise(resolve => child.once('close', code => resolve({ code, stdout, stderr })))
}

const QUIET: Ended = { code: 0, stdout: '', stderr: '' }
const start = JSON.stringify({ session_id: 'chat' })

/** A data folder in which the conversation `chat` has a plan. */
async function withPlan(): Promise<string> {
  const data = join(scratch(), '.runsheet')
  const door = openDoor({ store: await openSqliteStore({ path: join(data, 'runsheet.db') }) })
  await door.run(
    { tenant: 'local', conversation: 'chat' },
    { type: 'open_turn', turn_id: 'plan_1', toolset: 'runsheet', host: { review: false } },
    { type: 'edit_tasks', by: 'model', turn_id: 'plan_1', create: [{ id: door.newId(), title: 'Collect' }] },
  )
  await door.close()
  return data
}

it('[HK8] says nothing, creates nothing and ends with 0, whatever is wrong', async () => {
  const folder = scratch()
  const words = ['SessionStart', '--host', 'gemini']
  expect(await hook(words, start, folder)).toEqual(QUIET)
  expect(await hook([...words, '--data', join(folder, 'none')], start, folder)).toEqual(QUIET)
  mkdirSync(join(folder, '.runsheet'))
  expect(await hook(words, start, folder)).toEqual(QUIET)
  expect(readdirSync(join(folder, '.runsheet'))).toEqual([])
  writeFileSync(join(folder, '.runsheet', 'runsheet.db'), 'no database')
  expect(await hook(words, start, folder)).toEqual(QUIET)
  expect(await hook(words, 'no JSON', folder)).toEqual(QUIET)
  expect(await hook([], start, folder)).toEqual(QUIET)
  expect(await hook(['SessionStart', '--host', 'emacs', '--new-option'], start, folder)).toEqual(QUIET)
  expect(readFileSync(join(folder, '.runsheet', 'runsheet.db'), 'utf8')).toBe('no database')
})

it('[HK8] does not wait for a host that never says what happened', async () => {
  const data = await withPlan()
  expect(await hook(['SessionStart', '--host', 'gemini', '--data', data], undefined, data)).toEqual(QUIET)
})

it("[HK1] OpenCode's plugin learns where a turn began, also before there is a database", async () => {
  const folder = scratch()
  const words = ['chat.message', '--host', 'opencode', '--data', join(folder, 'none')]
  const { stdout } = await hook(words, JSON.stringify({ sessionID: 'chat', prompt: 'Go' }), folder)
  expect(JSON.parse(stdout)).toEqual({ note: { since: 0 } })
  const data = await withPlan()
  const idle = JSON.stringify({ sessionID: 'chat', note: { since: 0 } })
  const stopped = await hook(['session.idle', '--host', 'opencode', '--data', data], idle, data)
  expect(JSON.parse(stopped.stdout)).toMatchObject({ reason: expect.stringContaining('"Collect"') as unknown })
})

it('[HK5] gives the digest as the host wants it', async () => {
  const data = await withPlan()
  const { code, stdout } = await hook(['SessionStart', '--host', 'claude-code', '--data', data], start, data)
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    hookSpecificOutput: {
      hookEventName: 'SessionStart',
      additionalContext: expect.stringContaining('"Collect"') as unknown,
    },
  })
  expect(await hook(['SessionStart', '--host', 'claude-code', '--data', data, '--no-digest'], start, data)).toEqual(
    QUIET,
  )
})

it('[HK10] leaves the session in a file for the MCP process of the same host', async () => {
  const data = await withPlan()
  await hook(
    ['BeforeAgent', '--host', 'gemini', '--data', data],
    JSON.stringify({ session_id: 'chat', prompt: 'Go' }),
    data,
  )
  const file = join(data, 'hosts', `${process.pid}.json`)
  expect(existsSync(file)).toBe(true)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    host: 'gemini',
    session: 'chat',
    since: expect.any(Number) as unknown,
  })
})
