import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { openDoor } from '../../src/door/door.ts'
import { openFileStore } from '../../src/store/json/store.ts'
import { fault } from '../support/faults.ts'
import { scratchFolder } from '../support/scratch.ts'
import { startTurns, type TestTurns, type TurnsOptions } from '../support/turns.ts'

let turns: TestTurns | undefined
afterEach(() => turns?.close())

const BROKEN = '{"tasks": [{'
const ref = { tenant: 'local', conversation: 'c1' }

async function onFiles(options: TurnsOptions): Promise<{ readonly at: TestTurns; readonly file: string }> {
  const data = scratchFolder()
  const door = openDoor({ store: await openFileStore({ data }) })
  turns = await startTurns({ door, host: { review: false, assessor: false, gate: false }, ...options })
  return { at: turns, file: join(data, '.agents', 'tasks', 'c1.json') }
}

fault('a broken task file')

it('[TR35] a task file that breaks during a run: the call is answered, and the turn fails and says why', async () => {
  const broken = Promise.withResolvers<void>()
  const { at, file } = await onFiles({
    answers: [
      { calls: [{ tool: 'plan', args: { tasks: [{ title: 'A' }, { title: 'B' }] } }] },
      { calls: [{ tool: 'update', args: { id: 1, outcome: 'It is so.' }, id: 'late' }], after: broken.promise },
    ],
  })
  const reader = await at.open()
  await at.provider.until(({ asked }) => asked.length === 2)
  writeFileSync(file, BROKEN)
  broken.resolve()
  await reader.over
  expect(reader.of('turn_failed')[0]?.data).toMatchObject({
    code: 'file_invalid',
    message: 'The task file .agents/tasks/c1.json is corrupt or invalid. Repair it, then continue.',
  })
  expect(reader.of('turn_finished')[0]?.data).toMatchObject({ status: 'failed', remaining: 2, steps: 2 })
  const log = await at.log()
  expect(log.findLast(({ type }) => type === 'tool_answered')?.data).toMatchObject({
    tool_call_id: 'late',
    result: 'Error: Task file is corrupt or invalid.',
    ok: false,
  })
  expect(reader.of('message_added').at(-1)?.data.text).toContain('.agents/tasks/c1.json is corrupt or invalid.')
  expect(at.complaints).toMatchObject([{ code: 'file_invalid' }])
  expect(readFileSync(file, 'utf8')).toBe(BROKEN)
})

it('[TR35] one that breaks while no process drives the turn ends it the same way', async () => {
  const { at, file } = await onFiles({ answers: ['Never said.'], isIdle: true })
  await at.door.run(
    ref,
    { type: 'start_turn', turn_id: 't1', message_id: 'm1', message: 'Go', model: 'openai-compatible:test' },
    { type: 'edit_tasks', by: 'person', create: [{ id: 'x', title: 'A' }] },
  )
  writeFileSync(file, BROKEN)
  at.runner.start()
  await expect.poll(async () => (await at.log()).at(-1)?.type).toBe('turn_finished')
  expect((await at.log()).at(-2)?.data).toMatchObject({ code: 'file_invalid' })
})

it('[TR35] once the file is repaired, the turn can be continued', async () => {
  const broken = Promise.withResolvers<void>()
  const { at, file } = await onFiles({
    answers: [
      { calls: [{ tool: 'plan', args: { tasks: [{ title: 'A' }] } }] },
      { calls: [{ tool: 'update', args: { id: 1, outcome: 'It is so.' } }], after: broken.promise },
      { calls: [{ tool: 'update', args: { id: 1, outcome: 'It is so.' } }] },
      'Done.',
    ],
  })
  const reader = await at.open()
  await at.provider.until(({ asked }) => asked.length === 2)
  const whole = readFileSync(file, 'utf8')
  writeFileSync(file, BROKEN)
  broken.resolve()
  await reader.over
  writeFileSync(file, whole)
  const again = await at.chat({ turn_id: 't2', continue_turn_id: 't1' })
  expect(again.of('turn_finished')[0]?.data.status).toBe('done')
  expect(await at.statuses()).toEqual([['A', 'completed']])
})
