import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { doorOf, hook, hostWith, QUIET, scratch, withPlan } from '../support/hooks.ts'

const start = JSON.stringify({ session_id: 'chat' })
const prompt = JSON.stringify({ session_id: 'chat', prompt: 'Go on.' })

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

it("[HK1] OpenCode's plugin learns where a turn began, and a stop in it is held", async () => {
  const data = await withPlan()
  await hostWith(data)
  const words = ['--host', 'opencode', '--data', data]
  const { stdout } = await hook(['chat.message', ...words], JSON.stringify({ sessionID: 'chat', prompt: 'Go' }), data)
  expect(JSON.parse(stdout)).toMatchObject({ note: { since: expect.any(Number) as unknown } })
  const idle = JSON.stringify({ sessionID: 'chat', note: { since: 0 } })
  const stopped = await hook(['session.idle', ...words], idle, data)
  expect(JSON.parse(stopped.stdout)).toMatchObject({ reason: expect.stringContaining('"Collect"') as unknown })
})

it('[HK5] gives the digest as the host wants it, with the first prompt that the MCP process hears', async () => {
  const data = await withPlan()
  const words = ['--host', 'gemini', '--data', data]
  expect(await hook(['SessionStart', ...words], start, data)).toEqual(QUIET)
  expect(await hook(['BeforeAgent', ...words], prompt, data)).toEqual(QUIET)
  await hostWith(data)
  expect(await hook(['BeforeAgent', ...words, '--no-digest'], prompt, data)).toEqual(QUIET)
  const { code, stdout } = await hook(['BeforeAgent', ...words], prompt, data)
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    hookSpecificOutput: {
      hookEventName: 'BeforeAgent',
      additionalContext: expect.stringContaining('"Collect"') as unknown,
    },
  })
  expect(await hook(['BeforeAgent', ...words], prompt, data)).toEqual(QUIET)
})

it('in a subfolder of a repository, it uses the data folder of the project', async () => {
  const data = await withPlan()
  await hostWith(data)
  const [project, below] = [dirname(data), join(dirname(data), 'packages', 'a')]
  mkdirSync(below, { recursive: true })
  const words = ['BeforeAgent', '--host', 'gemini']
  expect(await hook(words, prompt, below)).toEqual(QUIET)
  execFileSync('git', ['init', '-q', project])
  expect((await hook(words, prompt, below)).stdout).toContain('Collect')
  expect(readdirSync(below)).toEqual([])
})

it('leaves the session in a file for the MCP process of the same host that comes later', async () => {
  const data = await withPlan()
  await hook(['BeforeAgent', '--host', 'gemini', '--data', data], prompt, data)
  const file = join(data, 'hosts', `${process.pid}.json`)
  expect(existsSync(file)).toBe(true)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    host: 'gemini',
    session: 'chat',
  })
})

it('[HK8] without an MCP process a hook is silent and leaves the database alone', async () => {
  const data = await withPlan()
  const words = ['--host', 'gemini', '--data', data]
  const before = readFileSync(join(data, 'runsheet.db'))
  const call = { session_id: 'chat', tool_name: 'shell', tool_input: { command: 'ls' }, tool_response: 'a' }
  expect(await hook(['BeforeAgent', ...words], prompt, data)).toEqual(QUIET)
  expect(await hook(['AfterTool', ...words], JSON.stringify(call), data)).toEqual(QUIET)
  expect(await hook(['AfterAgent', ...words], start, data)).toEqual(QUIET)
  expect(readFileSync(join(data, 'runsheet.db'))).toEqual(before)
})

it('Gemini CLI does not say that a person stopped the agent, so its transcript is asked', async () => {
  const data = await withPlan()
  await hostWith(data)
  const words = ['--host', 'gemini', '--data', data]
  // Also where the agent had said something before.
  const stop = { session_id: 'chat', prompt_response: 'I plan first.', transcript_path: join(data, 'session.jsonl') }
  const stopped = (...records: readonly object[]): ReturnType<typeof hook> => {
    writeFileSync(stop.transcript_path, [CALLED, ...records].map(each => `${JSON.stringify(each)}\n`).join(''))
    return hook(['AfterAgent', ...words], JSON.stringify(stop), data)
  }
  await hook(['BeforeAgent', ...words], prompt, data)
  await changeTask(data)
  expect(await stopped(CANCELLED, { $set: { messages: [CALLED] } })).toEqual(QUIET)
  // After Esc it asks an agent that had said nothing to go on.
  expect(await stopped(CANCELLED, saying('[System: You returned an empty response.]'), CALLED)).toEqual(QUIET)
  expect((await stopped({ type: 'gemini', content: 'Later.' })).stdout).toContain('"block"')
  expect((await stopped(CANCELLED, saying('Go on.'), { type: 'gemini' })).stdout).toContain('"block"')
})

const CALLED = { id: '1', type: 'user', content: [{ functionResponse: {} }] }
const saying = (text: string): object => ({ type: 'user', content: [{ text }] })
const CANCELLED = { id: '2', type: 'info', content: 'Request cancelled.' }

async function changeTask(data: string): Promise<void> {
  const change = [{ task: 1, fields: { title: 'Collect for May' } }]
  const ref = { tenant: 'local', conversation: 'chat' }
  await (await doorOf(data)).run(ref, { type: 'edit_tasks', by: 'model', turn_id: 'plan_1', change })
}
