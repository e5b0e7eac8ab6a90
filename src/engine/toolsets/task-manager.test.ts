import { beforeEach, describe, expect, it } from 'vitest'
import type { Json } from '../../core/model/event.ts'
import { cases, deskPerTest, uuid } from '../../../test/support/desk.ts'
import { retryFor } from './guidance.ts'
import { taskManager } from './task-manager.ts'

const desk = deskPerTest(taskManager)
const { open } = desk

const FORM = 'Send {"tasks":[{"title":"…","details":"…","priority":"medium"}]}'
const add = (...tasks: unknown[]) => desk.call('add_task', { tasks })
const call = (tool: string, input: unknown): Promise<Json> => desk.call(tool, input)
const row = (title: string, more = {}) => ({
  title,
  details: '',
  criteria: '',
  priority: 'medium',
  status: 'todo',
  tags: [],
  ...more,
})
const task = (number: number, title: string, more = {}) => ({
  id: uuid(number),
  title,
  details: '',
  priority: 'medium',
  status: 'todo',
  tags: [],
  session_id: 'c1',
  conversation_turn_id: 't1',
  source_user_message_id: null,
  source_assistant_message_id: null,
  created_by: 'tool',
  created_at: expect.any(String),
  updated_at: expect.any(String),
  outcome: null,
  ...more,
})

describe('task_manager: add_task opens a review', () => {
  it('nothing is written before it is decided', async () => {
    const taken = await desk.take('add_task', { tasks: [{ title: 'Look' }] })
    expect(taken).toEqual({ status: 'pending_review', call_id: expect.any(String), review_id: `rev_${uuid(2)}` })
    expect(await desk.tasks()).toEqual([])
    expect(await desk.logged()).toEqual(['policy_set', 'turn_opened', 'tool_called', 'task_create_review_required'])
  })

  it('the draft has the defaults medium, todo and no tags', async () => {
    await desk.take('add_task', { tasks: [{ title: ' Look ' }, { title: 'Leap', priority: 'high', status: 'done' }] })
    const { record } = await desk.door.reviews.get('local', `rev_${uuid(3)}`)
    expect(record.review.draft_tasks).toEqual([row('Look'), row('Leap', { priority: 'high', status: 'done' })])
  })

  it('[TS10] confirmed: what was created, as it is after the first was taken up, and what was changed', async () => {
    const sources = { source_user_message_id: 'u1', source_assistant_message_id: 'a1' }
    const waiting = desk.call(
      'add_task',
      { tasks: [{ title: 'Look', details: 'both ways', tags: ['road'] }, { title: 'Leap' }, { title: 'Fly' }] },
      sources,
    )
    const answer = await desk.decided(waiting, {
      action: 'confirm',
      tasks: [{ draft_index: 0 }, { draft_index: 1, title: 'Hop', priority: 'low' }, { title: 'Land' }],
      comment: 'no flying',
    })
    const look = row('Look', { details: 'both ways', tags: ['road'] })
    expect(answer).toEqual({
      confirmed: true,
      created_count: 3,
      tasks: [
        task(5, 'Look', { details: 'both ways', tags: ['road'], status: 'doing', ...sources }),
        task(6, 'Hop', { priority: 'low', ...sources }),
        task(7, 'Land', { created_by: 'user', ...sources }),
      ],
      session_id: 'c1',
      conversation_turn_id: 't1',
      changes: {
        kept: [look],
        edited: [{ from: row('Leap'), to: row('Hop', { priority: 'low' }) }],
        added: [row('Land')],
        removed: [row('Fly')],
        reordered: false,
      },
      comment: 'no flying',
    })
  })

  it.each(['confirm', 'revise'] as const)('[PF9] %s: the answer has no hashes and places of checks', async action => {
    const spec = { kind: 'command', run: ['npm', 'test'] } as const
    const programs = [{ path: '/usr/bin/npm', file: '/usr/lib/npm-cli.js' }]
    const check = { ...spec, id: 'k1', hash: 'h1', programs, workspace: { machine: 'm1', path: '/work/app' } }
    const tasks = [
      { draft_index: 0, checks: [check] },
      { title: 'Leap', checks: [{ ...check, hash: 'h2' }] },
    ]
    const answer = await desk.decided(add({ title: 'Look' }), { action, tasks, comment: 'With a check.' })
    const { changes } = answer as { changes: Json }
    expect(changes).toEqual({
      kept: [],
      edited: [{ from: row('Look'), to: row('Look', { checks: [spec] }) }],
      added: [row('Leap', { checks: [spec] })],
      removed: [],
      reordered: false,
    })
    const listed = JSON.stringify([answer, await call('list_tasks', {})])
    expect(['h1', 'h2', '/usr', '/work', 'm1'].filter(secret => listed.includes(secret))).toEqual([])
  })

  it('[TS10] cancelled: the reason, and the comment where there is one', async () => {
    expect(await desk.decided(add({ title: 'Look' }), { action: 'cancel', comment: 'later' })).toEqual({
      confirmed: false,
      cancelled: true,
      reason: 'user_cancelled',
      comment: 'later',
    })
    expect(await desk.tasks()).toEqual([])
  })

  it('[TS10] in a stopped turn: turn_stopped', async () => {
    const waiting = add({ title: 'Look' })
    while ((await desk.state()).pending_reviews.length === 0) await new Promise(resolve => setImmediate(resolve))
    await desk.door.run({ tenant: 'local', conversation: 'c1' }, { type: 'stop_turn', turn_id: 't1' })
    expect(await waiting).toEqual({ confirmed: false, cancelled: true, reason: 'turn_stopped' })
  })

  it('[TS10] panel closed and not reopened within the grace: panel_closed', async () => {
    open({ panel_grace_ms: 5 })
    const waiting = add({ title: 'Look' })
    while ((await desk.state()).pending_reviews.length === 0) await new Promise(resolve => setImmediate(resolve))
    const panel = { review_id: `rev_${uuid(2)}`, panel: 'p1' }
    const here = { tenant: 'local', conversation: 'c1' }
    await desk.door.run(here, { type: 'show_panel', ...panel })
    await desk.door.run(here, { type: 'leave_panel', ...panel })
    expect(await waiting).toEqual({ confirmed: false, cancelled: true, reason: 'panel_closed' })
  })

  it('[TS10] at the deadline: review_timeout', async () => {
    open({ review_timeout_ms: 20 })
    expect(await add({ title: 'Look' })).toEqual({ confirmed: false, cancelled: true, reason: 'review_timeout' })
  })

  it.each(
    cases(
      [{ tasks: { title: 'Look' } }, 'tasks must be an array, got an object.'],
      [{ tasks: 'Look' }, 'tasks must be an array, got a string.'],
      [{ title: 'Look' }, 'tasks must be an array, got nothing.'],
      [
        { tasks: [{ title: 'a' }, { title: 'b', priority: 'urgent' }] },
        'tasks[1].priority must be one of: high, medium, low.',
      ],
      [{ tasks: [{ title: 'a', status: 'cancelled' }] }, 'tasks[0].status must be one of: todo, doing, blocked, done.'],
      [{ tasks: [{ title: 'a', tags: 'x' }] }, 'tasks[0].tags must be an array, got a string.'],
      [
        { tasks: [{ title: 'a', tags: Array.from({ length: 21 }, (_, index) => `t${index}`) }] },
        'tasks[0].tags must have at most 20 entries, got 21.',
      ],
      [{ tasks: [{ title: 'a', tags: ['x'.repeat(65)] }] }, 'tasks[0].tags[0] must be at most 64 characters, got 65.'],
      [{ tasks: [{ title: 'a' }, { title: ' ' }] }, 'tasks[1].title must not be empty.'],
      [
        { tasks: [{ title: 'a', details: 'x'.repeat(8_001) }] },
        'tasks[0].details must be at most 8000 characters, got 8001.',
      ],
      [
        { tasks: [{ title: 'a\ud83d' }] },
        'tasks[0].title must be well-formed Unicode: it contains half of a surrogate pair.',
      ],
      [{ tasks: [] }, 'At least 1 task is needed.'],
      [{ tasks: Array.from({ length: 21 }, () => ({ title: 'x' })) }, 'At most 20 tasks fit into one call, got 21.'],
      [{ tasks: [{ title: 'x'.repeat(1_000_000) }] }, 'The arguments must be at most 256000 characters.'],
      [JSON.parse('{"__proto__":{"tasks":[{"title":"a"}]}}'), 'tasks must be an array, got nothing.'],
    ),
  )('[TS4] $error: refused, and no review is opened', async ({ input, error }) => {
    const { answer, events } = await desk.written(() => call('add_task', input))
    expect(answer).toEqual({ ok: false, error: `${error} ${FORM}` })
    expect(events).toEqual([])
  })

  it('two that are doing are refused', async () => {
    expect(await add({ title: 'a', status: 'doing' }, { title: 'b', status: 'doing' })).toEqual({
      ok: false,
      error: 'Only one task can be doing at a time. Send {"tasks":[{"title":"…","details":"…","priority":"medium"}]}',
    })
  })

  it('with review off it writes at once, and answers the same without changes', async () => {
    open({ review: false })
    expect(await add({ title: 'Look', status: 'blocked' }, { title: 'Leap' })).toEqual({
      confirmed: true,
      created_count: 2,
      tasks: [task(1, 'Look', { status: 'blocked' }), task(2, 'Leap', { status: 'doing' })],
      session_id: 'c1',
      conversation_turn_id: 't1',
    })
  })
})

describe('task_manager: list_tasks', () => {
  beforeEach(async () => {
    open({ review: false })
    await add({ title: 'a' }, { title: 'b', status: 'done' }, { title: 'c', status: 'blocked' }, { title: 'd' })
    await desk.person({ task: 4, fields: { status: 'cancelled' } })
    await desk.in('t2').call('add_task', { tasks: [{ title: 'e' }] })
  })
  const titles = async (input: unknown): Promise<unknown> => {
    const { tasks, total } = (await call('list_tasks', input)) as { tasks: { title: string }[]; total: number }
    return [tasks.map(({ title }) => title).join(''), total]
  }

  it('shows the whole conversation, without done and cancelled, blocked included', async () => {
    expect(await call('list_tasks', {})).toEqual({
      tasks: [
        task(1, 'a', { status: 'doing' }),
        task(3, 'c', { status: 'blocked' }),
        task(6, 'e', { status: 'doing', conversation_turn_id: 't2' }),
      ],
      total: 3,
    })
  })

  it('[PF9] shows how the checks of a task stand, and the standing of a completed one', async () => {
    const check = { kind: 'person', ask: 'Looks right?', id: 'k1', hash: 'h1' } as const
    await desk.person({ task: 1, fields: { checks: [check] } })
    const { tasks } = (await call('list_tasks', { include_done: true })) as { tasks: Json[] }
    const { hash: _, ...told } = check
    expect(tasks[0]).toHaveProperty('checks', [{ ...told, approved: true, state: 'waiting', baseline: 'not_run' }])
    expect(tasks.slice(0, 2)).toMatchObject([
      { title: 'a' },
      { title: 'b', status: 'done', standing: 'reported', standing_reasons: ["the agent's word"] },
    ])
  })

  it('include_done, current_turn_only and limit choose; total counts what was chosen', async () => {
    expect(await titles({ include_done: true })).toEqual(['abcde', 5])
    expect(await titles({ current_turn_only: true })).toEqual(['ac', 2])
    expect(await titles({ include_done: true, limit: 2 })).toEqual(['ab', 5])
  })

  it('at most 50 where no limit is given, at most 200 where one is', async () => {
    for (let batch = 0; batch < 11; batch += 1) await add(...Array.from({ length: 20 }, () => ({ title: 'x' })))
    expect(await titles({})).toEqual([`ac${'e'.padEnd(48, 'x')}`, 223])
    expect(await titles({ limit: 200 })).toEqual([`ac${'e'.padEnd(198, 'x')}`, 223])
    const form = 'Send {"include_done":true,"limit":50}'
    expect(await call('list_tasks', { limit: 201 })).toEqual({ ok: false, error: `limit must be at most 200. ${form}` })
    expect(await call('list_tasks', { limit: 0 })).toEqual({ ok: false, error: `limit must be at least 1. ${form}` })
    expect(await call('list_tasks', { limit: 1.5 })).toEqual({
      ok: false,
      error: `limit must be a whole number, got 1.5. ${form}`,
    })
  })
})

describe('task_manager: changing', () => {
  beforeEach(async () => {
    open({ review: false })
    await add({ title: 'Look' }, { title: 'Leap' })
  })
  const look = (more = {}) => task(1, 'Look', { status: 'doing', ...more })
  const leap = (more = {}) => task(2, 'Leap', more)

  it('complete_task needs an outcome, and answers the task, the next one and what remains', async () => {
    expect(await call('complete_task', { id: uuid(1), outcome: 'saw nothing' })).toEqual({
      ok: true,
      task: look({ status: 'done', outcome: 'saw nothing' }),
      next: leap({ status: 'doing' }),
      remaining: 1,
    })
    expect(await call('complete_task', { id: uuid(2), outcome: ' ' })).toEqual({
      ok: false,
      error: `Task ${uuid(2)} needs an outcome to become done: say what was done. Send {"id":"…","outcome":"…"}`,
    })
    expect(await call('complete_task', { id: uuid(2) })).toEqual({
      ok: false,
      error: 'outcome must be a string, got nothing. Send {"id":"…","outcome":"…"}',
    })
    expect(await call('complete_task', { id: uuid(2), outcome: 'jumped' })).toEqual({
      ok: true,
      task: leap({ status: 'done', outcome: 'jumped' }),
      next: null,
      remaining: 0,
    })
  })

  it('update_task sets what is named', async () => {
    const fields = { title: 'Hop', details: 'gently', priority: 'high', status: 'doing', tags: ['a', 'a'] }
    expect(await call('update_task', { id: uuid(2), ...fields })).toEqual({
      ok: true,
      task: leap({ ...fields, tags: ['a'] }),
      next: leap({ ...fields, tags: ['a'] }),
      remaining: 2,
    })
    expect(await desk.statuses()).toEqual([
      ['Look', 'pending'],
      ['Hop', 'in_progress'],
    ])
  })

  it('update_task with nothing named changes nothing', async () => {
    const { answer, events } = await desk.written(() => call('update_task', { id: uuid(1) }))
    expect(answer).toEqual({ ok: true, task: look(), next: look(), remaining: 2 })
    expect(events).toEqual(['tool_answered'])
  })

  it('cancelled needs no outcome, blocked does', async () => {
    expect(await call('update_task', { id: uuid(1), status: 'blocked' })).toEqual({
      ok: false,
      error: `Task ${uuid(1)} needs an outcome to become blocked: say what is in the way. Send {"id":"…","status":"done","outcome":"…"}`,
    })
    expect(await call('update_task', { id: uuid(1), status: 'cancelled' })).toMatchObject({
      ok: true,
      task: { status: 'cancelled', outcome: null },
      remaining: 1,
    })
  })

  it('a status that may not follow is refused in the words of this toolset', async () => {
    await call('complete_task', { id: uuid(1), outcome: 'done' })
    const { answer, events } = await desk.written(() => call('update_task', { id: uuid(1), status: 'doing' }))
    expect(answer).toEqual({
      ok: false,
      error: `Task ${uuid(1)} is done and cannot become doing; it can become todo. Reopen it first: set it to todo.`,
    })
    expect(events).toEqual([])
  })

  it('delete_task answers what is gone', async () => {
    expect(await call('delete_task', { id: uuid(1) })).toEqual({
      ok: true,
      task: look(),
      next: leap({ status: 'doing' }),
      remaining: 1,
    })
    expect(await desk.statuses()).toEqual([['Leap', 'in_progress']])
  })

  it.each(['update_task', 'complete_task', 'delete_task'])(
    '%s refuses an id that is not there, and says what is open',
    async tool => {
      for (const id of ['nowhere', '1', '__proto__', '\ud83d', 'x'.repeat(200_000)]) {
        const { answer, events } = await desk.written(() => call(tool, { id, outcome: 'x' }))
        expect(answer).toEqual({
          ok: false,
          error: `There is no task with this id. Open: ${uuid(1)} (Look), ${uuid(2)} (Leap).`,
        })
        expect(events).toEqual([])
      }
      expect(await call(tool, { id: 1, outcome: 'x' })).toMatchObject({
        error: expect.stringMatching(/^id must be a string, got 1\. Send \{"id":"…"/),
      })
    },
  )

  it('reaches tasks of other turns; next and remaining are about its own', async () => {
    const other = desk.in('t2')
    await other.call('add_task', { tasks: [{ title: 'Rest' }] })
    expect(await other.call('complete_task', { id: uuid(1), outcome: 'done' })).toMatchObject({
      ok: true,
      task: look({ status: 'done', outcome: 'done' }),
      next: { title: 'Rest', status: 'doing' },
      remaining: 1,
    })
  })

  it('of many open ones it names twenty', async () => {
    await add(...Array.from({ length: 20 }, () => ({ title: 'x' })))
    const { error } = (await call('delete_task', { id: 'nowhere' })) as { error: string }
    expect(error).toMatch(/ \(x\) and 2 more\.$/)
    expect(error.match(/\(/g)).toHaveLength(20)
  })
})

describe('task_manager: after a review', () => {
  beforeEach(async () => {
    await desk.decided(add({ title: 'Look' }), { action: 'confirm', tasks: [{ draft_index: 0 }] })
  })

  it('status and outcome are the model’s, wording and deleting are not', async () => {
    for (const fields of [{ title: 'Hop' }, { details: 'x' }, { priority: 'low' }, { tags: ['x'] }]) {
      const { answer, events } = await desk.written(() => call('update_task', { id: uuid(3), ...fields }))
      expect(answer).toEqual({
        ok: false,
        error: 'A reviewed task cannot be reworded. Propose the new wording as a new task.',
      })
      expect(events).toEqual([])
    }
    const { answer, events } = await desk.written(() => call('delete_task', { id: uuid(3) }))
    expect(answer).toEqual({
      ok: false,
      error: 'A reviewed task cannot be deleted. Set it to cancelled, with an outcome.',
    })
    expect(events).toEqual([])
    expect(await call('update_task', { id: uuid(3), status: 'blocked', outcome: 'no road' })).toMatchObject({
      ok: true,
    })
  })

  it("a person's change is told once, in this toolset's words, and then the call is taken", async () => {
    await desk.person({ task: 1, fields: { title: 'Stare', status: 'blocked', priority: 'low' } })
    const { answer, events } = await desk.written(() => call('complete_task', { id: uuid(3), outcome: 'x' }))
    expect(answer).toEqual({
      ok: false,
      error: `A person changed task ${uuid(3)} since you last saw it: title is now "Stare", priority is now "low", status is now "blocked". Your change was not made; continue from here.`,
    })
    expect(events).toEqual(['tool_answered'])
    expect(await call('complete_task', { id: uuid(3), outcome: 'x' })).toMatchObject({ ok: true })
  })

  it('the retry repeats the form, lists what exists and says not to add it again', async () => {
    expect(retryFor(taskManager, { state: await desk.state(), turnId: 't1' })).toBe(
      'add_task takes {"tasks":[{"title":"…"}]}, an array even for one task. Already on the list: Look. Do not add these again.',
    )
  })
})
