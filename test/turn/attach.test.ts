import { expect, it, onTestFinished } from 'vitest'
import type { Streamed } from '../support/sse.ts'
import { type ChatBody, type ChatReader, startTurns } from '../support/turns.ts'

const LISTS = ['todos_updated', 'todos_current']
const lastLists = (reader: ChatReader): Streamed[] => reader.asides(...LISTS).slice(-2)

const withoutSeq = (data: Streamed['data']): object => ({ ...data, as_of_seq: undefined })

it.each([
  ['task_list', 'AddTask', { title: 'a' }, { title: 'b' }],
  ['turn_todos', 'create_todo', { items: [{ title: 'a' }] }, { items: [{ title: 'b' }] }],
] as const)('attached after its end, a turn with %s sends the current list before it ends', async (...scene) => {
  const [toolset, tool, a, b] = scene
  const calls = (args: object): object => ({ calls: [{ tool, args }] })
  const turns = await startTurns({ answers: [calls(a), 'Added a.', calls(b), 'Added b.'] })
  onTestFinished(turns.close)
  const body: ChatBody = { toolset, review: false, assessor: false, gate: false }
  const first = await turns.chat(body)
  const again = await turns.chat(body)
  expect(lastLists(first)[0]).toMatchObject({
    type: 'todos_updated',
    data: { total: 1, items: [{ description: 'a' }] },
  })
  expect(again.frames.at(-1)?.data.type).toBe('turn_finished')
  // One list only: earlier ones are outdated.
  expect(again.asides(...LISTS).map(({ type }) => type)).toEqual(LISTS)
  expect(again.asides(...LISTS)[0]?.data).toMatchObject({
    total: 1,
    items: [{ description: 'a' }],
    as_of_seq: again.events.at(-1)?.seq,
  })

  const second = await turns.chat({ ...body, turn_id: 't2', message: 'Go on.' })
  const lists = (await turns.chat({ ...body, turn_id: 't2', message: 'Go on.' })).asides(...LISTS)
  expect(lists.map(({ data }) => withoutSeq(data))).toEqual(lastLists(second).map(({ data }) => withoutSeq(data)))
})
