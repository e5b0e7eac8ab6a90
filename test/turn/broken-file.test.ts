import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { openDoor } from '../../src/engine/door/door.ts'
import { openFileStore } from '../../src/store/files/store.ts'
import { fault } from '../support/faults.ts'
import { scratchFolder } from '../support/scratch.ts'
import { startTurns, type TestTurns, type TurnsOptions } from '../support/turns.ts'

let turns: TestTurns | undefined
afterEach(() => turns?.close())

const BROKEN = '{"tasks": [{'

async function onFiles(options: TurnsOptions): Promise<{ readonly at: TestTurns; readonly file: string }> {
  const data = scratchFolder()
  const door = openDoor({ store: await openFileStore({ data }) })
  turns = await startTurns({ door, host: { review: false, assessor: false, gate: false }, ...options })
  return { at: turns, file: join(data, '.agents', 'tasks', 'c1.json') }
}

fault('a broken task file')

it('a task file that breaks during a run: the call is answered that it is, and the turn goes on', async () => {
  const broken = Promise.withResolvers<void>()
  const { at, file } = await onFiles({
    answers: [
      { calls: [{ tool: 'plan', args: { tasks: [{ title: 'A' }, { title: 'B' }] } }] },
      { calls: [{ tool: 'update', args: { id: 1, outcome: 'It is so.' }, id: 'late' }], after: broken.promise },
      { calls: [{ tool: 'tasks', args: {}, id: 'later' }] },
      'The list cannot be read.',
    ],
  })
  const reader = await at.open()
  await at.provider.until(({ asked }) => asked.length === 2)
  writeFileSync(file, BROKEN)
  broken.resolve()
  await reader.over
  expect(reader.of('turn_finished')[0]?.data).toMatchObject({ status: 'done', remaining: 2, steps: 4 })
  const answers = (await at.log()).filter(({ type }) => type === 'tool_answered').slice(1)
  const data = { result: 'Error: Task file is corrupt or invalid.', ok: false }
  expect(answers).toMatchObject([
    { data: { tool_call_id: 'late', ...data } },
    { data: { tool_call_id: 'later', ...data } },
  ])
  expect(readFileSync(file, 'utf8')).toBe(BROKEN)
})

it('one that is broken before: the chat starts, is shown, and answers', async () => {
  const { at, file } = await onFiles({ answers: ['Hello.'] })
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, BROKEN)
  const reader = await at.chat()
  expect(reader.of('turn_finished')[0]?.data).toMatchObject({ status: 'done' })
  expect((await at.ask('GET', '/api/sessions/c1')).status).toBe(200)
  const mine = await at.ask('POST', '/api/sessions/c1/tasks', { body: { title: 'B' } })
  expect([mine.status, await mine.json()]).toMatchObject([409, { error: { code: 'file_invalid' } }])
  expect(readFileSync(file, 'utf8')).toBe(BROKEN)
})

it('a claim that only the list could hold ends the turn, and says why; repaired, the plan can be continued', async () => {
  const broken = Promise.withResolvers<void>()
  const { at, file } = await onFiles({
    host: { toolset: 'manage_todos' },
    assessor: () => 'OK',
    answers: [
      { calls: [{ tool: 'manage_todos', args: { add: ['A'] } }] },
      { text: 'It is so.', after: broken.promise },
      'It is so.',
    ],
  })
  const reader = await at.open()
  await at.provider.until(({ asked }) => asked.length === 2)
  const whole = readFileSync(file, 'utf8')
  writeFileSync(file, BROKEN)
  broken.resolve()
  await reader.over
  const message = 'The task file .agents/tasks/c1.json is corrupt or invalid. Repair it, then continue.'
  expect(reader.of('turn_failed')[0]?.data).toMatchObject({ code: 'file_invalid', message })
  expect(at.complaints).toMatchObject([{ code: 'file_invalid' }])
  writeFileSync(file, whole)
  const again = await at.chat({ turn_id: 't2', continue_turn_id: 't1' })
  expect(again.of('turn_finished')[0]?.data.status).toBe('done')
  expect(await at.statuses()).toEqual([['A', 'completed']])
})
