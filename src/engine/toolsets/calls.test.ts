import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Refusal } from '../../core/model/refusal.ts'
import { plainMaker } from '../door/checks.ts'
import { StoreError, openDoor, type Door } from '../door/door.ts'
import { openMemoryStore } from '../../store/memory.ts'
import { checklist } from './checklist.ts'
import { Desk, countedIds, memoryDoor, uuid } from '../../../test/support/desk.ts'
import { toolsets } from './index.ts'
import { manageTodos } from './manage-todos.ts'
import { awaitCall, beginCall, callTool } from './calls.ts'
import { runsheet as ours } from './runsheet.ts'
import { taskList } from './task-list.ts'
import { turnTodos } from './turn-todos.ts'

const HERE = { tenant: 'local', conversation: 'c1' }
let door: Door
let desk: Desk
beforeEach(() => {
  door = memoryDoor()
  desk = new Desk(door, turnTodos)
})
afterEach(() => door.close())

const LOOK = { items: [{ title: 'Look' }] }
const created = (number: number, title = 'Look', order = 1) => ({
  created: [{ id: uuid(number), title, order }],
  totalPending: order,
})
const everyTool = Object.values(toolsets).flatMap(toolset =>
  toolset.tools.map(({ name }) => ({ name: `${toolset.name}: ${name}`, toolset, tool: name })),
)

describe('the context', () => {
  it('[TS1] nothing of it comes from the model', async () => {
    await desk.call('create_todo', {
      ...LOOK,
      session_id: 'other',
      conversation: 'other',
      turn_id: 't9',
      tenant: 'x',
      by: 'person',
    })
    expect(await desk.tasks()).toMatchObject([{ session_id: 'c1', conversation_turn_id: 't1', created_by: 'tool' }])
  })

  it('an invalid id is answered, and nothing is written', async () => {
    const must = 'must be 1 to 128 characters of A-Z a-z 0-9 _ -.'
    const elsewhere = { conversation: '../c1' }
    expect(await desk.call('create_todo', LOOK, elsewhere)).toBe(`Error: session_id ${must}`)
    expect(await desk.call('create_todo', 'nonsense', elsewhere)).toBe(`Error: session_id ${must}`)
    expect(await desk.call('create_todo', LOOK, { turn: 'a b' })).toBe(`Error: turn_id ${must}`)
    expect(await desk.call('create_todo', LOOK, { tenant: '' })).toBe(`Error: tenant ${must}`)
    expect(await desk.logged()).toEqual([])
  })
})

describe('a call', () => {
  it('is one commit: the turn, the tasks and the answer', async () => {
    const { events } = await desk.written(() => desk.call('create_todo', LOOK, { toolCallId: 'first' }))
    expect(events).toEqual(['policy_set', 'turn_opened', 'task_created', 'tool_answered'])
    const [answer] = (await door.conversations.eventsAfter(HERE, 3, 1)).map(({ data }) => data)
    expect(answer).toEqual({
      tool_call_id: 'first',
      tool: 'create_todo',
      edge: 'library',
      items: 1,
      result: created(1),
      duration_ms: expect.any(Number),
      ok: true,
    })
  })

  it('[TS4] of an unknown tool is answered with the tools that exist', async () => {
    expect(await desk.call('make_todo', LOOK)).toEqual({
      error: 'There is no tool make_todo. Available: create_todo, list_todo, complete_todo.',
    })
    expect(await desk.call(`${'x'.repeat(63)}\ud83d\ude00`, LOOK)).toEqual({
      error: `There is no tool ${'x'.repeat(63)}\ufffd. Available: create_todo, list_todo, complete_todo.`,
    })
    expect(await desk.logged()).toEqual([])
  })

  it('[TS4] with arguments that are no JSON is answered', async () => {
    const circular: unknown[] = []
    circular.push(circular)
    for (const input of [circular, { items: [1n] }]) {
      expect(await desk.call('create_todo', input)).toEqual({
        error: 'The arguments must be JSON. Send {"items":[{"title":"…","completionCriteria":"…"}]}',
      })
    }
  })

  it('without an id of its own gets one', async () => {
    await desk.call('create_todo', LOOK, { toolCallId: undefined })
    await desk.call('create_todo', LOOK, { toolCallId: undefined })
    expect(await desk.statuses()).toHaveLength(2)
  })
})

describe('a repeated tool call id', () => {
  const again = { toolCallId: 'same' }

  it('[TS14] with the same arguments answers the same, and nothing is written twice', async () => {
    const first = await desk.call('create_todo', LOOK, again)
    const { answer, events } = await desk.written(() => desk.call('create_todo', LOOK, again))
    expect(answer).toEqual(first)
    expect(events).toEqual([])
    expect(await desk.statuses()).toEqual([['Look', 'in_progress']])
  })

  it('[TS14] at once is one call', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => desk.call('create_todo', LOOK, again)))
    expect(answers).toEqual([answers[0], answers[0], answers[0]])
    expect(await desk.statuses()).toHaveLength(1)
  })

  it('[TS14] with other arguments, or of another tool, is a conflict', async () => {
    await desk.take('create_todo', LOOK, again)
    for (const [tool, input] of [
      ['create_todo', { items: [{ title: 'Leap' }] }],
      ['list_todo', {}],
    ] as const) {
      await expect(desk.take(tool, input, again)).rejects.toMatchObject({ code: 'key_conflict' })
      await expect(desk.take(tool, input, again)).rejects.toBeInstanceOf(StoreError)
      expect(await desk.call(tool, input, again)).toBe(
        'Error: This tool call id was already used with other arguments.',
      )
    }
    expect(await desk.statuses()).toHaveLength(1)
  })

  it('[TS14] in another turn is another call', async () => {
    await desk.call('create_todo', LOOK, again)
    expect(await desk.in('t2').call('create_todo', LOOK, again)).toEqual(created(3))
  })

  it('[TS14] after a refusal is a new call: nothing was written that it could repeat', async () => {
    const input = { todoId: uuid(1), outcome: 'saw' }
    expect(await desk.call('complete_todo', input, again)).toEqual({
      error: 'There is no task with this id. Nothing is open.',
    })
    await desk.call('create_todo', LOOK)
    expect(await desk.call('complete_todo', input, again)).toMatchObject({ status: 'completed' })
  })

  it('[TS14] while its review waits, waits on for the same one; once decided, answers the same', async () => {
    desk = new Desk(door, turnTodos, { review: true })
    const waiting = [desk.call('create_todo', LOOK, again), desk.call('create_todo', LOOK, again)]
    const [first, second] = await Promise.all([
      ...waiting,
      desk.decide({ action: 'confirm', tasks: [{ draft_index: 0, title: 'Stare' }] }),
    ])
    expect(second).toEqual(first)
    expect(first).toMatchObject({ created: [{ title: 'Stare', order: 1 }], totalPending: 1 })
    const { answer, events } = await desk.written(() => desk.call('create_todo', LOOK, again))
    expect(answer).toEqual(first)
    expect(events).toEqual([])
    expect((await desk.logged()).filter(type => type === 'tool_answered')).toHaveLength(1)
  })

  it('[TS14] a cancelled review is not opened again by it', async () => {
    desk = new Desk(door, turnTodos, { review: true })
    const no = { confirmed: false, cancelled: true, reason: 'user_cancelled' }
    expect(await desk.decided(desk.call('create_todo', LOOK, again), { action: 'cancel' })).toEqual(no)
    expect(await desk.call('create_todo', LOOK, again)).toEqual(no)
    expect((await desk.logged()).filter(type => type === 'task_create_review_required')).toHaveLength(1)
  })

  it('[TS14] of ours, where the caller sent none, waits on, answers the same and conflicts like the caller’s', async () => {
    desk = new Desk(door, turnTodos, { review: true })
    const first = await desk.take('create_todo', LOOK, { toolCallId: undefined })
    const [review] = [...(await desk.state()).reviews.values()]
    const ours = { toolCallId: review?.tool_call_id }
    const other = { items: [{ title: 'Leap' }] }
    expect(await desk.take('create_todo', LOOK, ours)).toEqual(first)
    await expect(desk.take('create_todo', other, ours)).rejects.toMatchObject({ code: 'key_conflict' })
    const waiting = desk.call('create_todo', LOOK, ours)
    const answer = await desk.decided(waiting, { action: 'confirm', tasks: [{ draft_index: 0 }] })
    const again = await desk.written(() => desk.call('create_todo', LOOK, ours))
    expect(again).toEqual({ answer, events: [] })
    expect((await desk.logged()).filter(type => type === 'task_create_review_required')).toHaveLength(1)
    await expect(desk.take('create_todo', other, ours)).rejects.toMatchObject({ code: 'key_conflict' })
  })

  it('[TS14] of ours answers the same without a review', async () => {
    const first = await desk.call('create_todo', LOOK, { toolCallId: undefined })
    const [answered] = await door.conversations.events(HERE, { types: ['tool_answered'], last: 1 })
    const ours = { toolCallId: answered?.type === 'tool_answered' ? answered.data.tool_call_id : '' }
    expect(await desk.written(() => desk.call('create_todo', LOOK, ours))).toEqual({ answer: first, events: [] })
    const [{ id } = { id: '' }] = await desk.tasks()
    const settle = { todoId: id, outcome: 'saw' }
    await desk.call('complete_todo', settle, { toolCallId: undefined })
    // Without an id it is a call of its own.
    expect(await desk.call('create_todo', LOOK, { toolCallId: undefined })).not.toEqual(first)
  })
})

describe('a review', () => {
  beforeEach(() => {
    desk = new Desk(door, turnTodos, { review: true })
  })

  it('can be waited for by the id of its call', async () => {
    const context = desk.context()
    const taken = await beginCall(turnTodos, 'create_todo', LOOK, context)
    expect(taken).toEqual({ status: 'pending_review', call_id: context.toolCallId, review_id: `rev_${uuid(2)}` })
    await desk.decide({ action: 'confirm', tasks: [{ draft_index: 0 }] })
    const answer = await awaitCall(context.toolCallId ?? '', context)
    expect(answer).toMatchObject(created(3))
    expect(await awaitCall(context.toolCallId ?? '', context)).toEqual(answer)
  })

  it('stays pending when a caller stops waiting', async () => {
    const giving = new AbortController()
    const waiting = callTool(turnTodos, 'create_todo', LOOK, desk.context(), { signal: giving.signal })
    const gone = expect(waiting).rejects.toThrow('gone')
    while ((await desk.state()).pending_reviews.length === 0) await sleep(1)
    giving.abort(new Error('gone'))
    await gone
    expect((await desk.state()).pending_reviews).toHaveLength(1)
  })

  it('[TS15] the same call without an id, while it waits, waits for the same one', async () => {
    const nameless = { toolCallId: undefined }
    const first = await desk.take('create_todo', LOOK, nameless)
    expect(first).toMatchObject({ status: 'pending_review' })
    expect(await desk.take('create_todo', LOOK, nameless)).toEqual(first)
    expect((await desk.state()).pending_reviews).toHaveLength(1)
  })

  it('[TS15] after the timeout the same call without an id opens a new one, even before the expiry is written', async () => {
    let skew = 0
    const store = openMemoryStore({ skewMs: () => skew })
    // No deadline sweep runs here.
    const unswept = new Proxy(store, {
      get: (target, name: keyof typeof store) => {
        if (name === 'due') return async () => ({ reviews: [] })
        const value: unknown = target[name]
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const late = openDoor({ store: unswept, newId: countedIds() })
    desk = new Desk(late, turnTodos, { review: true, review_timeout_ms: 120_000 })
    const nameless = { toolCallId: undefined }
    const first = await desk.take('create_todo', LOOK, nameless)
    skew = 120_001
    expect(await desk.logged()).not.toContain('task_create_review_resolved')
    const second = await desk.take('create_todo', LOOK, nameless)
    expect(second).toMatchObject({ status: 'pending_review' })
    expect(second).not.toEqual(first)
    expect(await desk.take('create_todo', LOOK, nameless)).toEqual(second)
    await late.close()
  })

  it('its answer counts as seen: what the person edited in it fences nothing', async () => {
    const waiting = desk.call('create_todo', LOOK)
    await desk.decided(waiting, { action: 'confirm', tasks: [{ draft_index: 0, title: 'Stare' }] })
    expect(await desk.call('complete_todo', { todoId: uuid(3), outcome: 'saw' })).toMatchObject({ status: 'completed' })
  })
})

describe('the fence', () => {
  const settle = { todoId: uuid(1), outcome: 'saw' }
  const refused = {
    error: `A person changed task ${uuid(1)} since you last saw it: title is now "Stare". Your change was not made; continue from here.`,
  }
  beforeEach(async () => {
    await desk.call('create_todo', LOOK)
    await desk.person({ task: 1, fields: { title: 'Stare' } })
  })

  it('refuses once; the refusal is an answer, and is repeated for the same call only', async () => {
    const again = { toolCallId: 'same' }
    expect(await desk.take('complete_todo', settle, again)).toEqual({
      status: 'answered',
      result: refused,
      ok: false,
      stored: true,
    })
    expect(await desk.call('complete_todo', settle, again)).toEqual(refused)
    expect(await desk.call('complete_todo', settle)).toMatchObject({ title: 'Stare', status: 'completed' })
  })

  it('a list is an answer', async () => {
    await desk.call('list_todo', {})
    expect(await desk.call('complete_todo', settle)).toMatchObject({ title: 'Stare', status: 'completed' })
  })

  it('a refusal of another kind is not an answer', async () => {
    await desk.call('complete_todo', { todoId: 'nowhere', outcome: 'x' })
    expect(await desk.call('complete_todo', settle)).toEqual(refused)
  })

  it('calls that arrive together are based on the same answer', async () => {
    const answers = await Promise.all([1, 2].map(() => desk.call('complete_todo', settle)))
    expect(answers).toEqual([refused, refused])
  })
})

describe('a call in a run', () => {
  const start = async (policy = {}) => {
    await door.run(HERE, {
      type: 'start_turn',
      turn_id: 't1',
      message_id: 'm1',
      message: 'Do it',
      model: 'demo',
      policy: { toolset: 'turn_todos', ...policy },
    })
    const lease = await door.turns.claim('me', 60_000, { abilities: ['drive'] })
    if (!lease) throw new Error('no lease')
    return lease
  }

  it('goes with its lease, and is based on the digest that the step was given', async () => {
    const lease = await start()
    const { seq: basis } = await desk.state()
    expect(await desk.call('create_todo', LOOK, { run: { lease, basis } })).toEqual(created(1))
    await desk.person({ task: 1, fields: { title: 'Stare' } })
    const settle = { todoId: uuid(1), outcome: 'saw' }
    const { seq } = await desk.state()
    expect(await desk.call('complete_todo', settle, { run: { lease, basis } })).toMatchObject({
      error: expect.stringMatching(/^A person changed task/),
    })
    expect(await desk.call('complete_todo', settle, { run: { lease, basis: seq } })).toMatchObject({ title: 'Stare' })
  })

  it('of an attempt that was overtaken writes nothing', async () => {
    const lease = await start()
    const overtaken = { ...lease, attempt: lease.attempt - 1 }
    const run = { lease: overtaken, basis: 0 }
    await expect(desk.take('create_todo', LOOK, { run })).rejects.toMatchObject({ code: 'fenced' })
    expect(await desk.tasks()).toEqual([])
  })

  it('from outside meanwhile: beginCall throws turn_running, callTool answers', async () => {
    await start()
    const { seq } = await desk.state()
    const outside = desk.in('t2')
    await expect(outside.take('create_todo', LOOK)).rejects.toMatchObject({ code: 'turn_running' })
    expect(await outside.call('create_todo', LOOK)).toEqual({
      error: 'Turn t1 is still running in this conversation. Wait for it to end, or stop it.',
    })
    expect(await desk.logged(seq)).toEqual([])
  })
})

describe('the policy', () => {
  it("another toolset than the conversation's: beginCall throws persons_only, callTool answers", async () => {
    await desk.call('create_todo', LOOK)
    const { seq } = await desk.state()
    const other = new Desk(door, taskList)
    const refusal = await other.take('AddTask', { title: 'Leap' }).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(Refusal)
    expect(refusal).toMatchObject({ code: 'persons_only' })
    expect(await other.call('AddTask', { title: 'Leap' })).toEqual({
      ok: false,
      error: 'This conversation uses the toolset turn_todos; only a person can change that.',
    })
    expect(await new Desk(door, manageTodos).call('manage_todos', { add: ['Leap'] })).toEqual({
      success: false,
      error: 'This conversation uses the toolset turn_todos; only a person can change that.',
      state: {
        total: 1,
        remaining: 1,
        current: { id: 1, description: 'Look', status: 'current' },
        items: [{ id: 1, description: 'Look', status: 'current' }],
      },
    })
    expect(await desk.logged(seq)).toEqual([])
  })

  it('manage_todos without the assessor: beginCall throws assessor_required, callTool answers', async () => {
    const other = new Desk(door, manageTodos, { assessor: false })
    await expect(other.take('manage_todos', {})).rejects.toMatchObject({ code: 'assessor_required' })
    expect(await other.call('manage_todos', {})).toMatchObject({ success: false, state: { total: 0 } })
    expect(await desk.logged()).toEqual([])
  })

  it('the first call fixes it: the toolset that was called, and what the host sets', async () => {
    const other = new Desk(door, checklist, { review_timeout_ms: 5_000 })
    await other.call('add_multiple_checklist_items', { items: [{ title: 'milk' }] })
    expect((await desk.state()).policy).toMatchObject({ toolset: 'checklist', review: false, review_timeout_ms: 5_000 })
  })

  it('a first call may only use the toolset that the host fixed', async () => {
    const other = new Desk(door, checklist, { toolset: 'runsheet' })
    const input = { items: [{ title: 'milk' }] }
    await expect(other.take('add_multiple_checklist_items', input)).rejects.toMatchObject({ code: 'persons_only' })
    expect(await desk.logged()).toEqual([])
  })

  it('a turn that is over takes no call', async () => {
    const here = new Desk(door, ours, { review: false })
    await door.run(
      HERE,
      { type: 'start_turn', turn_id: 't1', message_id: 'm1', message: 'Do it', model: 'demo' },
      { type: 'finish_turn', turn_id: 't1', because: 'answered', steps: 1, usage: {} },
    )
    await expect(here.take('tasks', {})).rejects.toMatchObject({ code: 'turn_finished' })
    expect(await here.call('tasks', {})).toEqual({ error: 'Turn t1 is over: done.', next: null, remaining: 0 })
  })
})

describe('storage that fails', () => {
  it.each(everyTool)('[TS8] closed: $name answers one line, no stack, no path', async ({ toolset, tool }) => {
    await door.close()
    for (const input of [{}, { items: [{ title: 'x', id: 'y' }], tasks: [{ title: 'x' }], id: 1, outcome: 'z' }]) {
      expect(await new Desk(door, toolset).call(tool, input)).toBe('Error: The store is closed.')
    }
  })

  it('[TS8] between the refusal and its words: the failure is the answer', async () => {
    await desk.call('create_todo', LOOK)
    const store = openMemoryStore()
    let reads = 0
    const flaky = openDoor({
      store: {
        ...store,
        commit: () => Promise.reject(new Refusal('persons_only', { action: 'set_policy' })),
        now: () => store.now(),
        due: limit => store.due(limit),
        close: () => store.close(),
        load: ref =>
          (reads += 1) > 1 ? Promise.reject(new StoreError('busy', 'The store is busy.')) : store.load(ref),
      } as typeof store,
    })
    expect(await new Desk(flaky, turnTodos).call('create_todo', LOOK)).toBe('Error: The store is busy.')
    await flaky.close()
  })
})

describe('who judges is asked', () => {
  it('for a call that may settle a task, and only under a policy with a judge', async () => {
    let asked = 0
    const judging = openDoor({
      store: openMemoryStore(),
      checks: { ...plainMaker, judges: () => (asked += 1) < 0 },
      newId: countedIds(),
    })
    for (const [conversation, assessor, expected] of [
      ['c1', true, [0, 0, 0, 1]],
      ['c2', false, [0, 0, 0, 0]],
    ] as const) {
      const context = { door: judging, tenant: 'local', conversation, turn: 't1', host: { review: false, assessor } }
      const counts: number[] = []
      asked = 0
      for (const [tool, input] of [
        ['plan', { tasks: [{ title: 'Look' }, { title: 'Write' }] }],
        ['tasks', {}],
        ['update', { id: 2, status: 'doing' }],
        ['update', { id: 2, outcome: 'Written.' }],
      ] as const) {
        await callTool(ours, tool, input, context)
        counts.push(asked)
      }
      expect(counts).toEqual(expected)
    }
    await judging.close()
  })
})
