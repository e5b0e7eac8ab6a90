import { beforeEach, describe, expect, it } from 'vitest'
import type { Json } from '../../core/model/event.ts'
import type { SubmittedRow } from '../../core/model/review.ts'
import { cases, deskPerTest } from '../../../test/support/desk.ts'
import { retryFor } from './guidance.ts'
import { runsheet } from './runsheet.ts'

const desk = deskPerTest(runsheet, { review: false })
const { open } = desk

const plan = (...tasks: unknown[]): Promise<Json> => desk.call('plan', { tasks })
const update = (input: unknown): Promise<Json> => desk.call('update', input)
const tasks = (): Promise<Json> => desk.call('tasks', {})

describe('runsheet: plan', () => {
  it('[RS1] answers ids, what is next and what remains', async () => {
    expect(await plan({ title: ' Look ', done_when: 'seen' }, { title: 'Leap' })).toEqual({
      ids: [1, 2],
      next: '1 Look',
      remaining: 2,
    })
    expect((await desk.tasks()).map(({ criteria }) => criteria)).toEqual(['seen', ''])
    expect(await plan({ title: 'Land' })).toEqual({ ids: [3], next: '1 Look', remaining: 3 })
  })

  it.each(
    cases(
      [{ tasks: 'Look; leap' }, 'tasks must be an array, got a string.'],
      [{ tasks: ['Look'] }, 'tasks[0] must be an object, got a string.'],
      [{ title: 'Look' }, 'tasks must be an array, got nothing.'],
      [{ tasks: [] }, 'At least 1 task is needed.'],
      [{ tasks: Array.from({ length: 21 }, () => ({ title: 'x' })) }, 'At most 20 tasks fit into one call, got 21.'],
      [{ tasks: [{ title: 'a' }, { title: '\n' }] }, 'tasks[1].title must not be empty.'],
      [{ tasks: [{ title: 'x'.repeat(401) }] }, 'tasks[0].title must be at most 400 characters, got 401.'],
      [
        { tasks: [{ title: 'a', done_when: 'x'.repeat(8_001) }] },
        'tasks[0].done_when must be at most 8000 characters, got 8001.',
      ],
      [
        { tasks: [{ title: '\ud83d' }] },
        'tasks[0].title must be well-formed Unicode: it contains half of a surrogate pair.',
      ],
      [{ tasks: [{ title: 'x'.repeat(1_000_000) }] }, 'The arguments must be at most 256000 characters.'],
      [JSON.parse('{"__proto__":{"tasks":[{"title":"a"}]}}'), 'tasks must be an array, got nothing.'],
    ),
  )('[TS4][RS1] $error: refused as a whole', async ({ input, error }) => {
    const { answer, events } = await desk.written(() => desk.call('plan', input))
    expect(answer).toEqual({
      error: `${error} Send {"tasks":[{"title":"…","done_when":"…"}]}`,
      next: null,
      remaining: 0,
    })
    expect(events).toEqual([])
  })

  it('[TS4] 20 tasks of 400 characters are taken', async () => {
    expect(await plan(...Array.from({ length: 20 }, () => ({ title: '😀'.repeat(400) })))).toMatchObject({
      remaining: 20,
    })
  })
})

describe('runsheet: update', () => {
  beforeEach(() => plan({ title: 'Look' }, { title: 'Leap' }, { title: 'Land' }))

  it('settles by short id with an outcome, and names the next one', async () => {
    expect(await update({ id: 1, outcome: 'saw' })).toEqual({ next: '2 Leap', remaining: 2 })
    expect(await update({ id: 2, outcome: 'no road', status: 'blocked' })).toEqual({ next: '3 Land', remaining: 1 })
    expect(await update({ id: 3, status: 'cancelled' })).toEqual({ next: null, remaining: 0 })
    expect(await tasks()).toEqual({
      tasks: [
        { id: 1, title: 'Look', status: 'done', outcome: 'saw' },
        { id: 2, title: 'Leap', status: 'blocked', outcome: 'no road' },
        { id: 3, title: 'Land', status: 'cancelled' },
      ],
      next: null,
      remaining: 0,
    })
  })

  it('sets a status: doing takes it up, todo reopens it', async () => {
    expect(await update({ id: 3, status: 'doing' })).toEqual({ next: '3 Land', remaining: 3 })
    await update({ id: 3, outcome: 'landed' })
    expect(await update({ id: 3, status: 'todo' })).toEqual({ next: '1 Look', remaining: 3 })
    expect(await desk.statuses()).toEqual([
      ['Look', 'in_progress'],
      ['Leap', 'pending'],
      ['Land', 'pending'],
    ])
  })

  it('done and blocked need an outcome', async () => {
    expect(await update({ id: 1 })).toEqual({
      error: 'Task 1 needs an outcome to become done: say what was done. Send {"id":1,"outcome":"…"}',
      next: '1 Look',
      remaining: 3,
    })
    expect(await update({ id: 1, status: 'blocked', outcome: ' ' })).toEqual({
      error: 'Task 1 needs an outcome to become blocked: say what is in the way. Send {"id":1,"outcome":"…"}',
      next: '1 Look',
      remaining: 3,
    })
  })

  it('a status that may not follow is refused in the words of this toolset', async () => {
    await update({ id: 1, outcome: 'saw' })
    const { answer, events } = await desk.written(() => update({ id: 1, status: 'doing' }))
    expect(answer).toEqual({
      error: 'Task 1 is done and cannot become doing; it can become todo. Reopen it first: set it to todo.',
      next: '2 Leap',
      remaining: 2,
    })
    expect(events).toEqual([])
  })

  it('an id that is not there is refused with what is open', async () => {
    for (const id of [9, 0, -1, 9_007_199_254_740_991]) {
      const { answer, events } = await desk.written(() => update({ id, outcome: 'x' }))
      expect(answer).toEqual({
        error: 'There is no task with this id. Open: 1 (Look), 2 (Leap), 3 (Land).',
        next: '1 Look',
        remaining: 3,
      })
      expect(events).toEqual([])
    }
  })

  it.each(
    cases(
      [{ id: '1', outcome: 'x' }, 'id must be a whole number, got a string.'],
      [{ id: 1.5, outcome: 'x' }, 'id must be a whole number, got 1.5.'],
      [{ outcome: 'x' }, 'id must be a whole number, got nothing.'],
      [{ id: 1, outcome: 7 }, 'outcome must be a string, got 7.'],
      [{ id: 1, status: 'completed' }, 'status must be one of: done, blocked, disputed, cancelled, doing, todo.'],
      [{ id: 1, outcome: 'x'.repeat(8_001) }, 'outcome must be at most 8000 characters, got 8001.'],
    ),
  )('[TS4] $error: refused', async ({ input, error }) => {
    const { answer, events } = await desk.written(() => update(input))
    expect(answer).toEqual({ error: `${error} Send {"id":1,"outcome":"…"}`, next: '1 Look', remaining: 3 })
    expect(events).toEqual([])
  })

  it('reaches tasks of other turns, and lists those that are open; next and remaining are about its own plan', async () => {
    const other = desk.in('t2')
    await other.call('plan', { tasks: [{ title: 'Rest' }] })
    expect(await other.call('update', { id: 1, outcome: 'saw' })).toEqual({ next: '4 Rest', remaining: 1 })
    expect(await other.call('tasks', {})).toMatchObject({
      tasks: [
        { id: 2, title: 'Leap', status: 'doing' },
        { id: 3, title: 'Land', status: 'todo' },
        { id: 4, title: 'Rest', status: 'doing' },
      ],
      next: '4 Rest',
      remaining: 1,
    })
    expect(await tasks()).toMatchObject({ next: '2 Leap', remaining: 2 })
  })

  it("a person's change is told once, in this toolset's words, and then the call is taken", async () => {
    await desk.person({ task: 1, fields: { criteria: 'seen twice', status: 'blocked' } })
    const { answer, events } = await desk.written(() => update({ id: 1, outcome: 'x' }))
    expect(answer).toEqual({
      error:
        'A person changed task 1 since you last saw it: done_when is now "seen twice", status is now "blocked". Your change was not made; continue from here.',
      next: '2 Leap',
      remaining: 2,
    })
    expect(events).toEqual(['tool_answered'])
    expect(await update({ id: 1, outcome: 'x' })).toEqual({ next: '2 Leap', remaining: 2 })
  })
})

describe('runsheet: review', () => {
  beforeEach(() => open())
  const confirmed = (drafts: readonly object[], rows: readonly SubmittedRow[], comment?: string): Promise<Json> =>
    desk.decided(plan(...drafts), { action: 'confirm', tasks: rows, comment })

  it('[TS10] review is on by default; kept as proposed it says so in one word', async () => {
    const answer = await confirmed([{ title: 'Look' }, { title: 'Leap' }], [{ draft_index: 0 }, { draft_index: 1 }])
    expect(answer).toEqual({ ids: [1, 2], next: '1 Look', remaining: 2, changes: 'none' })
  })

  it('tells only what is different: edited fields by id, added, removed, and the comment', async () => {
    const answer = await confirmed(
      [{ title: 'Look', done_when: 'seen' }, { title: 'Leap' }, { title: 'Fly' }],
      [{ draft_index: 0, criteria: 'seen twice' }, { title: 'Wait' }, { draft_index: 1 }],
      'no flying',
    )
    expect(answer).toEqual({
      ids: [1, 2, 3],
      next: '1 Look',
      remaining: 3,
      changes: {
        edited: [{ id: 1, done_when: 'seen twice' }],
        added: [{ id: 2, title: 'Wait' }],
        removed: ['Fly'],
      },
      comment: 'no flying',
    })
  })

  it('tells the new order', async () => {
    const answer = await confirmed([{ title: 'a' }, { title: 'b' }], [{ draft_index: 1 }, { draft_index: 0 }])
    expect(answer).toEqual({ ids: [1, 2], next: '1 b', remaining: 2, changes: { order: ['1 b', '2 a'] } })
  })

  it('ids are right where titles are the same', async () => {
    const answer = await confirmed(
      [{ title: 'x' }, { title: 'x' }, { title: 'y' }, { title: 'x' }],
      [
        { draft_index: 0 },
        { draft_index: 1, priority: 'high' },
        { title: 'x' },
        { draft_index: 2, title: 'x', status: 'doing' },
        { draft_index: 3 },
        { title: 'x', status: 'done' },
      ],
    )
    expect(answer).toEqual({
      ids: [1, 2, 3, 4, 5, 6],
      next: '4 x',
      remaining: 5,
      changes: {
        edited: [
          { id: 2, priority: 'high' },
          { id: 4, title: 'x', status: 'doing' },
        ],
        added: [
          { id: 3, title: 'x' },
          { id: 6, title: 'x' },
        ],
      },
    })
  })

  it('also where the edited one comes first and was taken up', async () => {
    const answer = await confirmed(
      [{ title: 'x' }, { title: 'y' }],
      [{ draft_index: 1, title: 'x', status: 'doing' }, { draft_index: 0 }],
    )
    expect(answer).toMatchObject({ changes: { edited: [{ id: 1, title: 'x', status: 'doing' }] } })
  })

  it('a check that the person wrote is one line, without id and hash', async () => {
    open({ review: true })
    const check = { kind: 'command', run: ['npm', 'test'], contains: 'pass 3' } as const
    const confirm = { action: 'confirm', tasks: [{ draft_index: 0, checks: [check] }] } as const
    const answer = await desk.decided(plan({ title: 'Look' }), confirm)
    expect(answer).toMatchObject({ changes: { edited: [{ id: 1, checks: ['npm test (contains "pass 3")'] }] } })
  })

  it('[TS10] cancelled: the common form, with the comment', async () => {
    const answer = await desk.decided(plan({ title: 'Look' }), { action: 'cancel', comment: 'smaller steps' })
    expect(answer).toEqual({
      confirmed: false,
      cancelled: true,
      reason: 'user_cancelled',
      comment: 'smaller steps',
      next: null,
      remaining: 0,
    })
  })

  it('[TS10] at the deadline: review_timeout', async () => {
    open({ review_timeout_ms: 20 })
    expect(await plan({ title: 'Look' })).toEqual({
      confirmed: false,
      cancelled: true,
      reason: 'review_timeout',
      next: null,
      remaining: 0,
    })
  })

  it('status and outcome of confirmed tasks are the model’s', async () => {
    await confirmed([{ title: 'Look' }], [{ draft_index: 0 }])
    expect(await update({ id: 1, outcome: 'saw' })).toEqual({ next: null, remaining: 0 })
  })
})

describe('runsheet: the words', () => {
  it('three tools, and not one makes a single task', () => {
    expect(runsheet.tools.map(({ name }) => name)).toEqual(['plan', 'update', 'tasks'])
  })

  it('the retry repeats the form, lists what exists and says not to plan it again', async () => {
    await plan({ title: 'Look' }, { title: 'Leap' })
    expect(retryFor(runsheet, { state: await desk.state(), turnId: 't1' })).toBe(
      'plan takes {"tasks":[{"title":"…"}]}. Planned already: 1 Look; 2 Leap. Do not plan these again.',
    )
  })
})
