import { afterEach, beforeEach, expect, it } from 'vitest'
import { Desk, memoryDoor } from '../../../test/support/desk.ts'
import { listed } from '../../core/model/conversation.ts'
import type { Door } from '../door/door.ts'
import { checklist } from './checklist.ts'
import { manageTodos } from './manage-todos.ts'
import { awaitCall, beginCall } from './calls.ts'
import { taskList } from './task-list.ts'
import { turnTodos } from './turn-todos.ts'

let door: Door
beforeEach(() => {
  door = memoryDoor()
})
afterEach(() => door.close())

const context = (conversation = 'c1') => ({
  door,
  tenant: 'local',
  conversation,
  turn: 't1',
  toolCallId: 'call-1',
  host: { review: true },
})
const items = { items: [{ title: 'A' }, { title: 'B' }] }

/** A waiting call and its decision. */
async function confirmed(): Promise<string> {
  const taken = await beginCall(turnTodos, 'create_todo', items, context())
  const reviewId = taken.status === 'pending_review' ? taken.review_id : ''
  await door.reviews.decide(
    'local',
    reviewId,
    { action: 'confirm', tasks: [{ draft_index: 0 }, { draft_index: 1 }] },
    'library',
  )
  return reviewId
}

it('[TS10] an answer that is fetched late tells what a person has changed since the decision', async () => {
  await confirmed()
  await door.run(context(), {
    type: 'edit_tasks',
    by: 'person',
    change: [{ task: 1, fields: { title: 'A, by a person' } }],
    remove: [{ task: 2 }],
  })
  expect(await awaitCall('call-1', context())).toMatchObject({
    created: [{ title: 'A, by a person', order: 1 }],
    totalPending: 1,
  })
})

it('[TS1] a call cannot wait for a review of another conversation or turn', async () => {
  await confirmed()
  for (const elsewhere of [context('c2'), { ...context(), turn: 't2' }]) {
    await expect(awaitCall('call-1', elsewhere)).rejects.toMatchObject({
      code: 'review_not_found',
    })
  }
  expect((await door.read(context('c2'))).seq).toBe(0)
})

it('an answer in the log says whether it was what was asked for', async () => {
  const taken = await beginCall(turnTodos, 'create_todo', items, context())
  const reviewId = taken.status === 'pending_review' ? taken.review_id : ''
  await door.reviews.decide('local', reviewId, { action: 'cancel' }, 'library')
  await awaitCall('call-1', context())
  const answers = await door.conversations.events(context(), { types: ['tool_answered'] })
  expect(answers.map(({ data }) => data)).toMatchObject([{ tool_call_id: 'call-1', ok: false }])
})

it('[TS14] the same call id with another tool is another call', async () => {
  const here = { door, tenant: 'local', conversation: 'c1', turn: 't1' }
  await beginCall(taskList, 'AddTask', { title: 'A' }, here)
  await beginCall(taskList, 'CompleteTask', { taskId: '1' }, { ...here, toolCallId: 'x' })
  await expect(
    beginCall(taskList, 'UncompleteTask', { taskId: '1' }, { ...here, toolCallId: 'x' }),
  ).rejects.toMatchObject({ code: 'key_conflict' })
})

it('[TS10] AddTask answers the task that was asked for, whatever the person added before it', async () => {
  const desk = new Desk(door, taskList, { review: true })
  const answer = await desk.decided(desk.call('AddTask', { title: 'A' }), {
    action: 'confirm',
    tasks: [{ title: 'N' }, { draft_index: 0 }],
  })
  expect(answer).toMatchObject({ id: '2', title: 'A' })
})

it('what is blank once it is cleaned is dropped like what is empty', async () => {
  const blank = '\u0000\u0085 '
  const here = { door, tenant: 'local', turn: 't1' }
  const added = await beginCall(manageTodos, 'manage_todos', { add: [blank, 'A'] }, { ...here, conversation: 'c3' })
  expect(added).toMatchObject({ result: { state: { total: 1 } } })
  const checked = await beginCall(
    checklist,
    'add_multiple_checklist_items',
    { items: [{ title: blank }, { title: 'A' }] },
    { ...here, conversation: 'c4' },
  )
  expect(checked).toMatchObject({ result: { createdItems: [{ title: 'A' }] } })
  await beginCall(turnTodos, 'create_todo', { items: [{ title: 'A' }] }, { ...here, conversation: 'c5' })
  const [task] = listed(await door.read({ tenant: 'local', conversation: 'c5' }))
  const settled = await beginCall(
    turnTodos,
    'complete_todo',
    { todoId: task?.id, outcome: blank, status: 'cancelled' },
    { ...here, conversation: 'c5' },
  )
  expect(settled).toMatchObject({ ok: false })
})

it('in a run a call goes by the digest of its step, and by the toolset of the conversation', async () => {
  const ref = { tenant: 'local', conversation: 'c1' }
  const policy = { toolset: 'turn_todos', review: false, gate: false } as const
  await door.run(ref, {
    type: 'start_turn',
    turn_id: 't1',
    message_id: 'm1',
    message: 'Do it',
    model: 'demo',
    policy,
  })
  const lease = await door.turns.claim('runner', 60_000, { abilities: ['drive'] })
  if (!lease) throw new Error('no lease')
  const step = (basis: number) => ({ door, ...ref, turn: 't1', run: { lease, basis } })
  await beginCall(turnTodos, 'create_todo', items, step(0))
  const { seq, tasks } = await door.read(ref)
  await door.run(ref, { type: 'edit_tasks', by: 'person', change: [{ task: 1, fields: { title: 'by a person' } }] })
  // Another call of the same step is answered first; the step's digest stays the older one.
  await beginCall(turnTodos, 'list_todo', {}, step(seq))
  const todoId = [...tasks.values()].find(({ number }) => number === 1)?.id
  const settle = { todoId, outcome: 'done' }
  expect(await beginCall(turnTodos, 'complete_todo', settle, step(seq))).toMatchObject({ ok: false })
  expect(await beginCall(turnTodos, 'complete_todo', settle, step((await door.read(ref)).seq))).toMatchObject({
    ok: true,
  })
  await expect(beginCall(taskList, 'AddTask', { title: 'x' }, step(seq))).rejects.toMatchObject({
    code: 'persons_only',
  })
})
