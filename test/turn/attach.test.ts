import { expect, it, onTestFinished } from 'vitest'
import type { Streamed } from '../support/sse.ts'
import { type ChatBody, type ChatReader, startTurns } from '../support/turns.ts'

const LISTS = ['todos_updated', 'todos_current']
const lastLists = (reader: ChatReader): Streamed[] => reader.asides(...LISTS).slice(-2)

it.each([
  ['task_list', 'AddTask', { title: 'a' }, { title: 'b' }],
  ['turn_todos', 'create_todo', { items: [{ title: 'a' }] }, { items: [{ title: 'b' }] }],
] as const)('attached after its end, a turn with %s sends its last list before it ends', async (...scene) => {
  const [toolset, tool, a, b] = scene
  const calls = (args: object): object => ({ calls: [{ tool, args }] })
  const turns = await startTurns({ answers: [calls(a), 'Added a.', calls(b), 'Added b.'] })
  onTestFinished(turns.close)
  const body: ChatBody = { toolset, review: false, assessor: false, gate: false }
  const first = await turns.chat(body)
  const again = await turns.chat(body)
  // Only its last list: the ones before are outdated.
  expect(again.asides(...LISTS)).toEqual(lastLists(first))
  expect(lastLists(first)[0]).toMatchObject({
    type: 'todos_updated',
    data: { total: 1, items: [{ description: 'a' }] },
  })
  expect(again.frames.at(-1)?.data.type).toBe('turn_finished')
  const [list] = lastLists(again)
  const [created] = again.of('task_created')
  expect(list?.data['as_of_seq']).toBeGreaterThanOrEqual(created?.seq ?? Number.NaN)
  expect(list?.data['as_of_seq']).toBeLessThan(again.events.at(-1)?.seq ?? 0)

  const second = await turns.chat({ ...body, turn_id: 't2', message: 'Go on.' })
  // As that turn ended, not as the list is now.
  expect((await turns.chat(body)).asides(...LISTS)).toEqual(lastLists(first))
  expect((await turns.chat({ ...body, turn_id: 't2', message: 'Go on.' })).asides(...LISTS)).toEqual(lastLists(second))
})
