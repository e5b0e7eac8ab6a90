import { beforeEach, describe, expect, it } from 'vitest'
import type { Json } from '../../core/model/event.ts'
import { cases, deskPerTest, uuid } from '../../../test/support/desk.ts'
import { promptFor, retryFor } from './guidance.ts'
import { turnTodos } from './turn-todos.ts'

const desk = deskPerTest(turnTodos)
const { open } = desk

const FORM = 'Send {"items":[{"title":"…","completionCriteria":"…"}]}'
const create = (...items: unknown[]): Promise<Json> => desk.call('create_todo', { items })
const list = (input: unknown = {}): Promise<Json> => desk.call('list_todo', input)
const complete = (input: unknown): Promise<Json> => desk.call('complete_todo', input)
const row = (number: number, title: string, more = {}) => ({
  id: uuid(number),
  title,
  context: '',
  completionCriteria: '',
  agentType: null,
  status: 'pending',
  priority: number - 1,
  outcome: null,
  createdAt: expect.any(String),
  startedAt: null,
  completedAt: null,
  ...more,
})
const current = { status: 'in_progress', startedAt: expect.any(String) }

describe('turn_todos: create_todo', () => {
  it('answers id, title and place, and how many are open', async () => {
    expect(await create({ title: ' Look ' }, { title: 'Leap' })).toEqual({
      created: [
        { id: uuid(1), title: 'Look', order: 1 },
        { id: uuid(2), title: 'Leap', order: 2 },
      ],
      totalPending: 2,
    })
    expect(await create({ title: 'Land' })).toEqual({
      created: [{ id: uuid(4), title: 'Land', order: 3 }],
      totalPending: 3,
    })
  })

  it('order is a 1-based place, clamped; ties in input order; without it the end', async () => {
    await create({ title: 'a' }, { title: 'b' })
    const items = [
      { title: 'last' },
      { title: 'second', order: 2 },
      { title: 'first', order: -5 },
      { title: 'third', order: 2 },
      { title: 'end', order: 99 },
    ]
    expect(await create(...items)).toEqual({
      created: [
        { id: uuid(4), title: 'last', order: 6 },
        { id: uuid(5), title: 'second', order: 2 },
        { id: uuid(6), title: 'first', order: 1 },
        { id: uuid(7), title: 'third', order: 3 },
        { id: uuid(8), title: 'end', order: 7 },
      ],
      totalPending: 7,
    })
    expect(await desk.statuses()).toEqual([
      ['first', 'pending'],
      ['second', 'pending'],
      ['third', 'pending'],
      ['a', 'in_progress'],
      ['b', 'pending'],
      ['last', 'pending'],
      ['end', 'pending'],
    ])
  })

  it('the place counts within the plan of the turn', async () => {
    await create({ title: 'a' }, { title: 'b' })
    expect(await desk.in('t2').call('create_todo', { items: [{ title: 'c' }, { title: 'd', order: 1 }] })).toEqual({
      created: [
        { id: uuid(4), title: 'c', order: 2 },
        { id: uuid(5), title: 'd', order: 1 },
      ],
      totalPending: 2,
    })
  })

  it.each(
    cases(
      [{ items: 'Look' }, 'items must be an array, got a string.'],
      [{ title: 'Look' }, 'items must be an array, got nothing.'],
      [{ items: [] }, 'At least 1 task is needed.'],
      [{ items: Array.from({ length: 21 }, () => ({ title: 'x' })) }, 'At most 20 tasks fit into one call, got 21.'],
      [{ items: [{ title: 'a' }, { title: '' }] }, 'items[1].title must not be empty.'],
      [{ items: [{ title: 'x'.repeat(401) }] }, 'items[0].title must be at most 400 characters, got 401.'],
      [
        { items: [{ title: 'a', context: 'x'.repeat(8_001) }] },
        'items[0].context must be at most 8000 characters, got 8001.',
      ],
      [
        { items: [{ title: 'a' }, { title: 'b', completionCriteria: '\ud83d' }] },
        'items[1].completionCriteria must be well-formed Unicode: it contains half of a surrogate pair.',
      ],
      [
        { items: [{ title: 'a', agentType: 'x'.repeat(65) }] },
        'items[0].agentType must be at most 64 characters, got 65.',
      ],
      [{ items: [{ title: 'a', order: 1.5 }] }, 'items[0].order must be a whole number, got 1.5.'],
      [{ items: [{ title: 'a', order: '1' }] }, 'items[0].order must be a whole number, got a string.'],
      [{ items: [{ title: 'x'.repeat(1_000_000) }] }, 'The arguments must be at most 256000 characters.'],
      [JSON.parse('{"items":[{"__proto__":{"title":"a"}}]}'), 'items[0].title must be a string, got nothing.'],
    ),
  )('[TS4] $error: refused in the names of its own fields', async ({ input, error }) => {
    const { answer, events } = await desk.written(() => desk.call('create_todo', input))
    expect(answer).toEqual({ error: `${error} ${FORM}` })
    expect(events).toEqual([])
  })

  it('[TS4] 20 items of 400 characters are taken', async () => {
    const answer = await create(...Array.from({ length: 20 }, () => ({ title: '😀'.repeat(400) })))
    expect(answer).toMatchObject({ totalPending: 20 })
  })
})

describe('turn_todos: list_todo', () => {
  beforeEach(async () => {
    await create(
      { title: 'a', context: 'here', completionCriteria: 'seen', agentType: 'scout' },
      { title: 'b' },
      { title: 'c' },
      { title: 'd' },
      { title: 'e' },
    )
  })

  it('lists the open ones by default, each with its 0-based place as priority', async () => {
    expect(await list()).toEqual({
      items: [
        row(1, 'a', { context: 'here', completionCriteria: 'seen', agentType: 'scout', ...current }),
        row(2, 'b'),
        row(3, 'c'),
        row(4, 'd'),
        row(5, 'e'),
      ],
      summary: { total: 5, pending: 4, inProgress: 1, completed: 0, cancelled: 0, blocked: 0 },
    })
  })

  it('says who sets the status that none of its tools can set', () => {
    const list = turnTodos.tools.find(({ name }) => name === 'list_todo')
    expect(list?.description).toMatch(/blocked/i)
  })

  it('lists those of a status, or all; the summary is always of all', async () => {
    await complete({ todoId: uuid(1), outcome: 'saw' })
    await complete({ todoId: uuid(3), outcome: 'no need', status: 'cancelled' })
    await desk.person({ task: 4, fields: { status: 'blocked' } })
    const summary = { total: 5, pending: 1, inProgress: 1, completed: 1, cancelled: 1, blocked: 1 }
    const a = row(1, 'a', {
      context: 'here',
      completionCriteria: 'seen',
      agentType: 'scout',
      status: 'completed',
      outcome: 'saw',
      startedAt: expect.any(String),
      completedAt: expect.any(String),
    })
    const b = row(2, 'b', current)
    const c = row(3, 'c', { status: 'cancelled', outcome: 'no need', completedAt: expect.any(String) })
    const d = row(4, 'd', { status: 'blocked' })
    const e = row(5, 'e')
    expect(await list()).toEqual({ items: [b, e], summary })
    expect(await list({ status: 'completed' })).toEqual({ items: [a], summary })
    expect(await list({ status: 'in_progress' })).toEqual({ items: [b], summary })
    expect(await list({ status: 'cancelled' })).toEqual({ items: [c], summary })
    expect(await list({ status: 'blocked' })).toEqual({ items: [d], summary })
    expect(await list({ status: 'pending' })).toEqual({ items: [e], summary })
    expect(await list({ status: 'all' })).toEqual({ items: [a, b, c, d, e], summary })
    expect(await list({ status: 'open' })).toEqual({
      error: 'status must be one of: pending, in_progress, blocked, completed, cancelled, all. Send {"status":"all"}',
    })
  })

  it('another turn sees nothing of it', async () => {
    expect(await desk.in('t2').call('list_todo', { status: 'all' })).toEqual({
      items: [],
      summary: { total: 0, pending: 0, inProgress: 0, completed: 0, cancelled: 0, blocked: 0 },
    })
  })
})

describe('turn_todos: complete_todo', () => {
  beforeEach(() => create({ title: 'Look' }, { title: 'Leap' }))
  const openOnes = `Open: ${uuid(1)} (Look), ${uuid(2)} (Leap).`

  it('completes, or cancels, with the outcome, and says how many remain', async () => {
    expect(await complete({ todoId: uuid(1), outcome: ' saw ' })).toEqual({
      id: uuid(1),
      title: 'Look',
      status: 'completed',
      outcome: 'saw',
      completedAt: expect.any(String),
      remaining: 1,
    })
    expect(await complete({ todoId: uuid(2), outcome: 'too far', status: 'cancelled' })).toEqual({
      id: uuid(2),
      title: 'Leap',
      status: 'cancelled',
      outcome: 'too far',
      completedAt: expect.any(String),
      remaining: 0,
    })
  })

  it('[AS9] blocks what was turned down instead of cancelling it, and says so', async () => {
    await desk.turnsDown(uuid(1))
    expect(await complete({ todoId: uuid(1), outcome: 'too dark', status: 'cancelled' })).toEqual({
      id: uuid(1),
      title: 'Look',
      status: 'blocked',
      outcome: 'too dark',
      completedAt: null,
      remaining: 1,
    })
  })

  it.each(['completed', 'cancelled'])('an empty outcome is refused, also for %s', async status => {
    for (const outcome of ['', ' \n']) {
      const { answer, events } = await desk.written(() => complete({ todoId: uuid(1), outcome, status }))
      expect(answer).toEqual({
        error: 'outcome must not be empty. Send {"todoId":"…","outcome":"…"}',
      })
      expect(events).toEqual([])
    }
  })

  it('an id outside the plan is refused with what is open', async () => {
    await desk.in('t2').call('create_todo', { items: [{ title: 'Other' }] })
    for (const todoId of ['nowhere', '1', uuid(4), '__proto__', '\ud83d']) {
      const { answer, events } = await desk.written(() => complete({ todoId, outcome: 'x' }))
      expect(answer).toEqual({ error: `There is no task with this id. ${openOnes}` })
      expect(events).toEqual([])
    }
  })

  it('a settled one is refused with what is open', async () => {
    await complete({ todoId: uuid(1), outcome: 'saw' })
    const { answer, events } = await desk.written(() => complete({ todoId: uuid(1), outcome: 'again' }))
    expect(answer).toEqual({ error: `Task ${uuid(1)} is already completed. Open: ${uuid(2)} (Leap).` })
    expect(events).toEqual([])
    await complete({ todoId: uuid(2), outcome: 'no', status: 'cancelled' })
    expect(await complete({ todoId: uuid(2), outcome: 'yes' })).toEqual({
      error: `Task ${uuid(2)} is already cancelled. Nothing is open.`,
    })
  })

  it.each(['completed', 'cancelled'])('nor does a blocked one become %s', async status => {
    await desk.person({ task: 1, fields: { status: 'blocked', outcome: 'fog' } })
    await complete({ todoId: uuid(1), outcome: 'saw', status })
    const { answer, events } = await desk.written(() => complete({ todoId: uuid(1), outcome: 'saw', status }))
    expect(answer).toEqual({ error: `Task ${uuid(1)} is already blocked. Open: ${uuid(2)} (Leap).` })
    expect(events).toEqual([])
  })

  it.each(
    cases(
      [{ todoId: 1, outcome: 'x' }, 'todoId must be a string, got 1.'],
      [{ todoId: uuid(1) }, 'outcome must be a string, got nothing.'],
      [{ todoId: uuid(1), outcome: 'x', status: 'blocked' }, 'status must be one of: completed, cancelled.'],
      [{ todoId: uuid(1), outcome: 'x'.repeat(8_001) }, 'outcome must be at most 8000 characters, got 8001.'],
    ),
  )('[TS4] $error: refused', async ({ input, error }) => {
    const { answer, events } = await desk.written(() => complete(input))
    expect(answer).toEqual({ error: `${error} Send {"todoId":"…","outcome":"…"}` })
    expect(events).toEqual([])
  })

  it("a person's change is told once, in this toolset's words, and then the call is taken", async () => {
    await desk.person({ task: 1, fields: { details: 'the bridge', criteria: 'seen twice' } })
    const { answer, events } = await desk.written(() => complete({ todoId: uuid(1), outcome: 'x' }))
    expect(answer).toEqual({
      error: `A person changed task ${uuid(1)} since you last saw it: context is now "the bridge", completionCriteria is now "seen twice". Your change was not made; continue from here.`,
    })
    expect(events).toEqual(['tool_answered'])
    expect(await complete({ todoId: uuid(1), outcome: 'x' })).toMatchObject({ status: 'completed' })
  })
})

describe('turn_todos: review and words', () => {
  it('[TS10] confirmed: its own answer plus what the person changed; the order that was asked for holds', async () => {
    open({ review: true })
    const answer = await desk.decided(create({ title: 'a' }, { title: 'b', order: 1 }), {
      action: 'confirm',
      tasks: [{ draft_index: 0 }, { draft_index: 1 }],
    })
    const draft = (title: string) => ({
      title,
      details: '',
      criteria: '',
      priority: 'medium',
      status: 'todo',
      tags: [],
    })
    expect(answer).toEqual({
      created: [
        { id: uuid(4), title: 'a', order: 2 },
        { id: uuid(5), title: 'b', order: 1 },
      ],
      totalPending: 2,
      changes: { kept: [draft('a'), draft('b')], edited: [], added: [], removed: [], reordered: false },
    })
  })

  it('[TS10] cancelled: the common form', async () => {
    open({ review: true })
    expect(await desk.decided(create({ title: 'a' }), { action: 'cancel' })).toEqual({
      confirmed: false,
      cancelled: true,
      reason: 'user_cancelled',
    })
  })

  it('the section says to do the work oneself', () => {
    expect(promptFor(turnTodos, { isRun: true })).toMatch(/yourself/)
  })

  it('the retry repeats the form, lists what exists and says not to create it again', async () => {
    await create({ title: 'Look' }, { title: 'Leap' })
    expect(retryFor(turnTodos, { state: await desk.state(), turnId: 't1' })).toBe(
      'create_todo takes {"items":[{"title":"…"}]}, an array even for one item. Already in the plan: Look; Leap. Do not create these again.',
    )
  })
})
