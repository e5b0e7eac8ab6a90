import { beforeEach, describe, expect, it } from 'vitest'
import { cases, deskPerTest } from '../../../test/support/desk.ts'
import { jsonSchemaOf, retryFor } from './guidance.ts'
import { manageTodos } from './manage-todos.ts'

const desk = deskPerTest(manageTodos)
const { open } = desk

const EXAMPLE = 'Send {"add":["…","…"]} or {"delete":[2]} or {}'
const empty = { total: 0, remaining: 0, current: null, items: [] }
const manage = (input: unknown) => desk.call('manage_todos', input)
const todo = (id: number, description: string, status: string) => ({ id, description, status })
const two = {
  total: 2,
  remaining: 2,
  current: todo(1, 'Look', 'current'),
  items: [todo(1, 'Look', 'current'), todo(2, 'Leap', 'pending')],
}

describe('manage_todos: the form', () => {
  it('takes add and delete and nothing else', () => {
    expect(manageTodos.tools.map(({ name }) => name)).toEqual(['manage_todos', 'report_todo'])
    const [tool] = manageTodos.tools
    expect(tool && jsonSchemaOf(tool)).toEqual({
      type: 'object',
      properties: {
        add: { description: 'descriptions, in order', type: 'array', items: { type: 'string' } },
        delete: {
          description: 'ids or exact descriptions',
          type: 'array',
          items: { type: ['string', 'number'] },
        },
      },
      additionalProperties: false,
    })
  })

  it.each(
    cases(
      [{ add: 'Look, leap' }, 'add must be an array, got a string.'],
      [{ add: ['Look', 2] }, 'add[1] must be a string, got 2.'],
      [{ add: ['Look'], remove: [1] }, 'remove is not a known field.'],
      [JSON.parse('{"__proto__":{"add":["Look"]}}'), '__proto__ is not a known field.'],
      [{ delete: [null] }, 'delete[0] must be a string or a number, got null.'],
      [undefined, 'The arguments must be an object, got nothing.'],
      [['Look'], 'The arguments must be an object, got an array.'],
      [{ add: ['x'.repeat(1_000_000)] }, 'The arguments must be at most 256000 characters.'],
      [{ add: ['ok', ' ', 'x'.repeat(401)] }, 'add[2] must be at most 400 characters, got 401.'],
      [{ add: ['half \ud83d'] }, 'add[0] must be well-formed Unicode: it contains half of a surrogate pair.'],
      [{ add: Array.from({ length: 21 }, () => 'x') }, 'At most 20 tasks fit into one call, got 21.'],
    ),
  )('[TS4] $error: refused with the state, and nothing is written', async ({ input, error }) => {
    await manage({ add: ['Look', 'Leap'] })
    const { answer, events } = await desk.written(() => manage(input))
    expect(answer).toEqual({ success: false, error: `${error} ${EXAMPLE}`, state: two })
    expect(events).toEqual([])
  })

  it('[TS4] 20 steps of 400 characters are taken', async () => {
    const answer = await manage({ add: Array.from({ length: 20 }, () => '😀'.repeat(400)) })
    expect(answer).toMatchObject({ success: true, state: { total: 20, remaining: 20 } })
  })
})

describe('manage_todos: the queue', () => {
  it('{} answers the state', async () => {
    expect(await manage({})).toEqual({ success: true, state: empty })
    await manage({ add: ['Look', 'Leap'] })
    expect(await manage({})).toEqual({ success: true, state: two })
  })

  it('add makes them in order, the first one is current', async () => {
    expect(await manage({ add: [' Look\n', 'Leap'] })).toEqual({ success: true, state: two })
  })

  it('blank descriptions are dropped; dropping all of them is not an error', async () => {
    expect(await manage({ add: ['', ' \t', 'Look', '\n', 'Leap'] })).toEqual({ success: true, state: two })
    expect(await manage({ add: ['', '  '] })).toEqual({ success: true, state: two })
  })

  it('an id deletes that one, as a number or a string; the next one becomes current', async () => {
    await manage({ add: ['Look', 'Leap', 'Land'] })
    expect(await manage({ delete: [1, '3'] })).toEqual({
      success: true,
      state: {
        total: 1,
        remaining: 1,
        current: todo(2, 'Leap', 'current'),
        items: [todo(2, 'Leap', 'current')],
      },
    })
  })

  it('anything but an id deletes every item of exactly that description', async () => {
    await manage({ add: ['Look', 'Leap', 'Look', 'look'] })
    expect(await manage({ delete: ['Look'] })).toMatchObject({
      state: { total: 2, items: [todo(2, 'Leap', 'current'), todo(4, 'look', 'pending')] },
    })
  })

  it('a matcher that is both an id and a description is the id', async () => {
    await manage({ add: ['2', 'Leap'] })
    expect(await manage({ delete: [2] })).toMatchObject({ state: { items: [todo(1, '2', 'current')] } })
  })

  it('a matcher without a match is not an error', async () => {
    await manage({ add: ['Look', 'Leap'] })
    expect(await manage({ delete: [9, 'Fly', 1.5, ''] })).toEqual({ success: true, state: two })
  })

  it('add applies before delete: what one call adds and deletes is not made', async () => {
    expect(await manage({ add: ['Look', 'Fly', 'Leap'], delete: ['Fly'] })).toEqual({ success: true, state: two })
    expect(await manage({ add: ['Fly'], delete: [3] })).toEqual({ success: true, state: two })
    expect((await desk.logged()).filter(type => type === 'task_removed')).toEqual([])
  })

  it('add and delete are one commit', async () => {
    await manage({ add: ['Look'] })
    const { events } = await desk.written(() => manage({ add: ['Leap'], delete: ['Look'] }))
    expect(events).toEqual(['task_created', 'task_removed', 'tool_answered'])
  })

  it('done and blocked are shown, cancelled and deleted ones neither shown nor counted', async () => {
    await manage({ add: ['a', 'b', 'c', 'd', 'e'] })
    await desk.person(
      { task: 1, fields: { status: 'completed' } },
      { task: 2, fields: { status: 'blocked' } },
      { task: 3, fields: { status: 'cancelled' } },
    )
    await manage({})
    expect(await manage({ delete: [4] })).toEqual({
      success: true,
      state: {
        total: 3,
        remaining: 1,
        current: todo(5, 'e', 'current'),
        items: [todo(1, 'a', 'done'), todo(2, 'b', 'blocked'), todo(5, 'e', 'current')],
      },
    })
  })

  it("another turn's tasks are neither seen nor reached", async () => {
    await manage({ add: ['Look', 'Leap'] })
    const other = desk.in('t2')
    expect(await other.call('manage_todos', { delete: [1, 'Leap'] })).toEqual({ success: true, state: empty })
    expect(await manage({})).toEqual({ success: true, state: two })
  })
})

describe('manage_todos: review', () => {
  beforeEach(() => open({ review: true }))

  it('[TS10] confirmed: the state plus what the person changed', async () => {
    const row = (title: string) => ({
      title,
      details: '',
      criteria: '',
      priority: 'medium',
      status: 'todo',
      tags: [],
    })
    const answer = await desk.decided(manage({ add: ['Look', 'Leap'] }), {
      action: 'confirm',
      tasks: [{ draft_index: 0 }, { draft_index: 1, title: 'Hop' }],
      comment: 'smaller',
    })
    expect(answer).toEqual({
      success: true,
      state: { ...two, items: [todo(1, 'Look', 'current'), todo(2, 'Hop', 'pending')] },
      changes: {
        kept: [row('Look')],
        edited: [{ from: row('Leap'), to: row('Hop') }],
        added: [],
        removed: [],
        reordered: false,
      },
      comment: 'smaller',
    })
  })

  it('[TS10] cancelled: success false, the common form, and the state', async () => {
    const answer = await desk.decided(manage({ add: ['Look'] }), { action: 'cancel', comment: 'not now' })
    expect(answer).toEqual({
      success: false,
      confirmed: false,
      cancelled: true,
      reason: 'user_cancelled',
      comment: 'not now',
      state: empty,
    })
  })

  it('deleting is refused with the state', async () => {
    await desk.decided(manage({ add: ['Look', 'Leap'] }), {
      action: 'confirm',
      tasks: [{ draft_index: 0 }, { draft_index: 1 }],
    })
    const { answer, events } = await desk.written(() => manage({ delete: [1] }))
    expect(answer).toEqual({
      success: false,
      error: 'A reviewed step cannot be deleted. Leave it to the person.',
      state: two,
    })
    expect(events).toEqual([])
  })
})

describe('manage_todos: the fence and the words', () => {
  it("a person's change is told once, in the toolset's words, and then the call is taken", async () => {
    await manage({ add: ['Look', 'Leap'] })
    await desk.person({ task: 2, fields: { title: 'Hop', status: 'in_progress' } })
    const state = {
      total: 2,
      remaining: 2,
      current: todo(2, 'Hop', 'current'),
      items: [todo(1, 'Look', 'pending'), todo(2, 'Hop', 'current')],
    }
    const { answer, events } = await desk.written(() => manage({ delete: [2] }))
    expect(answer).toEqual({
      success: false,
      error:
        'A person changed task 2 since you last saw it: description is now "Hop", status is now "current". Your change was not made; continue from here.',
      state,
    })
    expect(events).toEqual(['tool_answered'])
    expect(await manage({ delete: [2] })).toMatchObject({ success: true, state: { total: 1 } })
  })

  it('the retry repeats the form, lists what exists and says not to add it again', async () => {
    await manage({ add: ['Look', 'Leap'] })
    await desk.person({ task: 2, fields: { status: 'cancelled' } })
    expect(retryFor(manageTodos, { state: await desk.state(), turnId: 't1' })).toBe(
      'manage_todos takes {"add":["…","…"]}, {"delete":[id]} or {}. Already in the queue: Look. Do not add these again.',
    )
    expect(retryFor(manageTodos, { state: await desk.state(), turnId: 't2' })).toBe(
      'manage_todos takes {"add":["…","…"]}, {"delete":[id]} or {}.',
    )
  })
})

describe('manage_todos: a report of an agent elsewhere', () => {
  const report = (input: unknown) => desk.call('report_todo', input)

  it('without a judge it settles nothing: it is noted on the step, which a person settles', async () => {
    await manage({ add: ['Look', 'Leap'] })
    const message = 'Noted. A person settles this step. Go on with the next one.'
    expect(await report({ id: 1, result: 'Saw it' })).toEqual({ success: true, state: two, message })
    expect(await report({ id: 2, result: 'No room to leap' })).toMatchObject({ success: true, state: two })
    expect((await desk.tasks()).map(({ status, outcome }) => [status, outcome])).toEqual([
      ['in_progress', 'Saw it'],
      ['pending', 'No room to leap'],
    ])
    await desk.person({ task: 1, fields: { status: 'completed' } })
    expect((await desk.tasks())[0]).toMatchObject({ outcome: 'Saw it', judged_by: 'person' })
    expect(await manage({})).toMatchObject({ state: { remaining: 1, current: todo(2, 'Leap', 'current') } })
  })

  it.each(
    cases(
      [{ id: 9, result: 'x' }, 'There is no task with this id. Open: 1 (Look), 2 (Leap).'],
      [{ id: 1, result: ' ' }, 'result must not be empty. Send {"id":1,"result":"…"}'],
      [{ id: 1 }, 'result must be a string, got nothing. Send {"id":1,"result":"…"}'],
    ),
  )('$error: refused with the state', async ({ input, error }) => {
    await manage({ add: ['Look', 'Leap'] })
    expect(await report(input)).toEqual({ success: false, error, state: two })
  })

  it('what a person settled stays as it is', async () => {
    await manage({ add: ['Look', 'Leap'] })
    await desk.person({ task: 1, fields: { status: 'completed' } })
    await manage({})
    expect(await report({ id: 1, result: 'Saw it' })).toMatchObject({ success: false })
    expect((await desk.tasks())[0]?.outcome).toBeUndefined()
  })
})
