import { describe, expect, it, onTestFinished } from 'vitest'
import { configuredModels } from '../../src/models/models.ts'
import type { OutsideTool } from '../../src/engine/worker/outside.ts'
import { Worker } from '../../src/engine/worker/worker.ts'
import type { StoredEvent } from '../../src/core/model/event.ts'
import { openDoor } from '../../src/engine/door/door.ts'
import type { Store } from '../../src/store/store.ts'
import type { Answer } from '../support/provider.ts'
import { follow } from '../support/sse.ts'
import { placeFor } from '../support/stores.ts'
import type { LiveStore } from '../store/contract.ts'
import { type ChatReader, confirmAll, MODEL, startTurns, type TestTurns, type TurnsOptions } from '../support/turns.ts'

const ref = { tenant: 'local', conversation: 'c1' }
const PLAIN = { toolset: 'task_list' } as const
/** The default toolset, with nobody in between. */
const ALONE = { review: false, assessor: false, gate: false } as const

const plan = (...titles: readonly string[]): Answer => ({
  calls: [{ tool: 'plan', args: { tasks: titles.map(title => ({ title })) } }],
})
const update = (id: number, outcome: string): Answer => ({ calls: [{ tool: 'update', args: { id, outcome } }] })

async function started(options: TurnsOptions = {}): Promise<TestTurns> {
  const turns = await startTurns(options)
  onTestFinished(turns.close)
  return turns
}

/** Two servers with a runner each, on one store, as two processes would be. */
async function two(options: TurnsOptions = {}, other: TurnsOptions = {}): Promise<readonly [TestTurns, TestTurns]> {
  const place = await placeFor('sqlite', '')
  onTestFinished(place.remove)
  const first = await started({ ...options, door: openDoor({ store: await place.open() }) })
  const models = await configuredModels({ model: MODEL, url: first.provider.url, key: 'k' })
  const door = openDoor({ store: await place.open() })
  return [first, await started({ ...options, ...other, models, door })]
}

/** A promise that a script waits for, and what lets it go on. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}

const codeOf = async ({ response }: ChatReader): Promise<string> =>
  ((await response.json()) as { error: { code: string } }).error.code

const lastOf = (reader: ChatReader): unknown => reader.of('turn_finished').at(-1)?.data.status

const deltas = (reader: ChatReader, message: string): string =>
  reader
    .asides('text_delta')
    .filter(({ data }) => data['message_id'] === message)
    .map(({ data }) => data['text'])
    .join('')

describe('a turn and its stream', () => {
  it('[TR1] the stream is exactly the log from turn_started to turn_finished', async () => {
    const turns = await started({
      answers: [{ calls: [{ tool: 'AddTask', args: { title: 'a' } }] }, 'Done.', 'Again.'],
    })
    const first = await turns.chat({ ...PLAIN })
    expect(first.types.at(0)).toBe('turn_started')
    expect(first.types.at(-1)).toBe('turn_finished')
    expect(lastOf(first)).toBe('done')
    const second = await turns.chat({ turn_id: 't2', message: 'More.' })
    const log = await turns.log()
    for (const [reader, turn] of [
      [first, 't1'],
      [second, 't2'],
    ] as const) {
      const from = log.findIndex(event => event.type === 'turn_started' && event.turn_id === turn)
      const to = log.findIndex(event => event.type === 'turn_finished' && event.turn_id === turn)
      expect(reader.events).toEqual(log.slice(from, to + 1))
    }
  })

  it('[TR1] a client that disconnects does not stop the turn; no client is needed', async () => {
    const { opened, open } = gate()
    const turns = await started({ answers: [{ text: 'Half of it, and the rest.', after: opened }] })
    const reader = await turns.open(PLAIN)
    await turns.provider.until(({ asked }) => asked.length === 1)
    reader.leave()
    await reader.over
    open()
    const again = await turns.chat(PLAIN)
    expect(lastOf(again)).toBe('done')
    expect(turns.provider.asked).toHaveLength(1)
    expect(turns.provider.hungUp).toBe(0)
  })

  it('[TR1] the same request attaches: replay, then live, each event once; also after the end', async () => {
    const { opened, open } = gate()
    const turns = await started({
      answers: [{ calls: [{ tool: 'AddTask', args: { title: 'a' } }] }, { text: 'Done.', after: opened }],
    })
    const first = await turns.open(PLAIN)
    await turns.provider.until(({ asked }) => asked.length === 2)
    const second = await turns.open(PLAIN)
    await second.reached('tool_answered')
    open()
    await Promise.all([first.over, second.over])
    const third = await turns.chat(PLAIN)
    expect(second.events).toEqual(first.events)
    expect(third.events).toEqual(first.events)
    expect(third.types.filter(type => type === 'turn_started')).toHaveLength(1)
    expect(turns.provider.asked).toHaveLength(2)
  })

  it('[TR1] it attaches at any server on the same store, while the turn runs and after', async () => {
    const { opened, open } = gate()
    const [here, there] = await two({
      answers: [{ calls: [{ tool: 'AddTask', args: { title: 'a' } }] }, { text: 'Done.', after: opened }],
    })
    const first = await here.open(PLAIN)
    await here.provider.until(({ asked }) => asked.length === 2)
    const second = await there.open(PLAIN)
    await second.reached('tool_answered')
    open()
    await Promise.all([first.over, second.over])
    expect(second.events).toEqual(first.events)
    expect((await there.chat(PLAIN)).events).toEqual(first.events)
    expect(here.provider.asked).toHaveLength(2)
  })

  it('the same id with another body is turn_conflict, while it runs and after', async () => {
    const { opened, open } = gate()
    const turns = await started({ answers: [{ text: 'Yes.', after: opened }] })
    const reader = await turns.open(PLAIN)
    const other = await turns.open({ ...PLAIN, message: 'Something else.' })
    expect([other.status, await codeOf(other)]).toEqual([409, 'turn_conflict'])
    open()
    await reader.over
    const late = await turns.open({ ...PLAIN, gate: true })
    expect([late.status, await codeOf(late)]).toEqual([409, 'turn_conflict'])
    expect((await turns.log()).filter(({ type }) => type === 'turn_started')).toHaveLength(1)
  })

  it('another turn while one runs or is parked is turn_running', async () => {
    const { opened, open } = gate()
    const turns = await started({
      answers: [
        { text: 'A plan.', calls: [{ tool: 'plan', args: { tasks: [{ title: 'a' }] } }], after: opened },
        'Done.',
      ],
      host: { gate: false, assessor: false },
    })
    const reader = await turns.open()
    await turns.provider.until(({ asked }) => asked.length === 1)
    const running = await turns.open({ turn_id: 't2' })
    expect([running.status, await codeOf(running)]).toEqual([409, 'turn_running'])
    open()
    await reader.reached('task_create_review_required')
    const parked = await turns.open({ turn_id: 't2' })
    expect([parked.status, await codeOf(parked)]).toEqual([409, 'turn_running'])
    const [review] = (await turns.person.pendingReviews('c1')).reviews
    await turns.person.decide(review?.review_id ?? '', { action: 'cancel', reason: 'user_cancelled' })
    await reader.over
    turns.provider.script(['Now.'])
    expect(lastOf(await turns.chat({ turn_id: 't2' }))).toBe('done')
  })

  it('only a person starts a turn, and only with a model that is configured', async () => {
    const turns = await started()
    const body = { session_id: 'c1', turn_id: 't1', message: 'Do it.' }
    const asAgent = await turns.ask('POST', '/api/chat', { as: 'agent', body })
    expect([asAgent.status, ((await asAgent.json()) as { error: { code: string } }).error.code]).toEqual([
      403,
      'persons_only',
    ])
    const unknown = await turns.ask('POST', '/api/chat', { body: { ...body, model: 'openai:nothing' } })
    const { error } = (await unknown.json()) as { error: { field: string; message: string } }
    expect([unknown.status, error.field]).toEqual([422, 'model'])
    expect(error.message).toContain(MODEL)
    expect(await turns.log()).toEqual([])
  })

  it('[PO2] of the policy, a chat request changes what it names, and the rest stays', async () => {
    const turns = await started({ answers: () => 'Yes.', host: { review_timeout_ms: 5_000 } })
    await turns.chat({ toolset: 'turn_todos', review: true, gate: false })
    const first = (await turns.person.session('c1')).policy
    expect(first).toMatchObject({ toolset: 'turn_todos', review: true, assessor: false, gate: false })
    await turns.chat({ turn_id: 't2' })
    expect((await turns.person.session('c1')).policy).toEqual(first)
    await turns.chat({ turn_id: 't3', assessor: true })
    expect((await turns.person.session('c1')).policy).toEqual({ ...first, assessor: true })
    const last = await turns.chat({ turn_id: 't4', toolset: 'task_list', review: false, assessor: false })
    const policy = { ...first, toolset: 'task_list', review: false, assessor: false }
    expect((await turns.person.session('c1')).policy).toEqual(policy)
    expect(last.of('turn_started').at(0)?.data.policy).toEqual(policy)
    expect((await turns.log()).filter(({ type }) => type === 'policy_set')).toHaveLength(3)
  })

  it('[TU2] tool calls from outside are refused while a turn is unfinished, running or parked', async () => {
    const { opened, open } = gate()
    const turns = await started({
      answers: [{ calls: [{ tool: 'plan', args: { tasks: [{ title: 'a' }] } }], after: opened }, 'Done.'],
      host: { gate: false, assessor: false },
    })
    const reader = await turns.open()
    await turns.provider.until(({ asked }) => asked.length === 1)
    const call = async (): Promise<readonly [number, string]> => {
      const body = { session_id: 'c1', turn_id: 'other', tool_call_id: 'x', arguments: {} }
      const answer = await turns.ask('POST', '/api/toolsets/runsheet/tools/tasks', { as: 'agent', body })
      const { error } = (await answer.json()) as { error?: { code: string } }
      return [answer.status, error?.code ?? '']
    }
    expect(await call()).toEqual([409, 'turn_running'])
    open()
    await reader.reached('task_create_review_required')
    expect(await call()).toEqual([409, 'turn_running'])
    const [review] = (await turns.person.pendingReviews('c1')).reviews
    await turns.person.decide(review?.review_id ?? '', { action: 'cancel', reason: 'user_cancelled' })
    await reader.over
    expect(await call()).toEqual([200, ''])
  })
})

describe('text as it comes', () => {
  it("the deltas of a message make up the step's text, and come before it", async () => {
    const text = 'One, two, three … and 🎉 four.\nAnd a line.'
    const turns = await started({
      answers: [{ text, calls: [{ tool: 'AddTask', args: { title: 'a' } }] }, { text: `${text} Again.` }],
    })
    const reader = await turns.chat(PLAIN)
    const steps = reader.of('step_finished')
    expect(steps.map(step => step.data.text)).toEqual([text, `${text} Again.`])
    for (const { data, seq } of steps) {
      expect(deltas(reader, data.message_id)).toBe(data.text)
      const last = reader.frames.findLastIndex(frame => frame.data.data['message_id'] === data.message_id && !frame.id)
      expect(last).toBeLessThan(reader.frames.findIndex(frame => frame.id === String(seq)))
    }
  })

  it('a late joiner gets the text so far as one snapshot, and then what is added', async () => {
    const turns = await started({ answers: [{ text: 'One two three ', hangs: true }] })
    const first = await turns.open(PLAIN)
    const soFar = (): string =>
      first
        .asides('text_delta')
        .map(({ data }) => data['text'])
        .join('')
    await first.until(() => soFar() === 'One two three ')
    const late = await turns.open(PLAIN)
    await late.until(() => late.asides('text_snapshot').length > 0)
    expect(late.asides('text_snapshot', 'text_delta').map(({ type, data }) => [type, data['text']])).toEqual([
      ['text_snapshot', 'One two three '],
    ])
    const follower = await follow(turns, 'c1')
    await follower.until(reader => reader.asides('text_snapshot').length > 0)
    follower.cut()
    await turns.person.stop('c1', 't1')
    await Promise.all([first.over, late.over])
  })

  it('another process shows the text, too, and none of it once the step is stored', async () => {
    const { opened, open } = gate()
    const words = Array.from({ length: 40 }, (_, count) => `word${count}`).join(' ')
    const [here, there] = await two(
      {
        answers: [
          { text: words, calls: [{ tool: 'AddTask', args: { title: 'a' } }], pace: 20 },
          { text: 'End.', after: opened },
        ],
      },
      { isIdle: true },
    )
    const first = await here.open(PLAIN)
    const other = await there.open(PLAIN)
    await other.until(() => other.asides('text_delta', 'text_snapshot').length > 0)
    await other.reached('step_finished')
    open()
    await Promise.all([first.over, other.over])
    const [step] = other.of('step_finished')
    const { message_id, text } = step?.data ?? { message_id: '', text: '' }
    const shown = other.frames.filter(({ id, data }) => id === undefined && data.data['message_id'] === message_id)
    expect(text.startsWith(deltas(other, message_id))).toBe(true)
    const stored = other.frames.findIndex(({ id }) => id === String(step?.seq))
    expect(shown.map(frame => other.frames.indexOf(frame)).filter(place => place > stored)).toEqual([])
  })
})

describe('text of a step that is over', () => {
  it('is not shown, however slowly it is cleared', async () => {
    const { opened, open } = gate()
    const place = await placeFor('sqlite', '')
    onTestFinished(place.remove)
    const slow = slowToClear(await place.open(), 600)
    const here = await started({
      door: openDoor({ store: slow }),
      answers: [
        { text: 'One two three', calls: [{ tool: 'AddTask', args: { title: 'a' } }], pace: 80 },
        { text: 'End.', after: opened },
      ],
    })
    const there = await started({ door: openDoor({ store: await place.open() }), isIdle: true })
    const first = await here.open(PLAIN)
    const other = await there.open(PLAIN)
    await here.provider.until(({ asked }) => asked.length === 2)
    open()
    await Promise.all([first.over, other.over])
    const [step] = other.of('step_finished')
    const stored = other.frames.findIndex(({ id }) => id === String(step?.seq))
    const after = other.frames.slice(stored).filter(({ id }) => id === undefined)
    expect(after.filter(({ data }) => data.data['message_id'] === step?.data.message_id)).toEqual([])
  })
})

/** A store whose disk takes its time with live text. */
function slowToClear(store: LiveStore, ms: number): Store {
  const { live } = store
  const slow: LiveStore['live'] = {
    write: (to, entry) => live.write(to, entry),
    read: from => live.read(from),
    clear: async from => {
      await new Promise(resolve => setTimeout(resolve, ms))
      await live.clear(from)
    },
  }
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = name === 'live' ? slow : Reflect.get(target, name)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

describe('stopping', () => {
  it('[TU4] while the model speaks: it is cut off, what it said is kept, the turn is stopped', async () => {
    const turns = await started({ answers: [{ text: 'I was going to say ', hangs: true }] })
    const reader = await turns.open(PLAIN)
    await reader.until(() => deltas(reader, messageOf(reader)) === 'I was going to say ')
    const { turn } = await turns.person.stop('c1', 't1')
    expect(turn.stop_requested).toBe(true)
    await reader.over
    await turns.provider.until(({ hungUp }) => hungUp === 1)
    expect(lastOf(reader)).toBe('stopped')
    expect(reader.of('message_added').at(-1)?.data).toMatchObject({
      role: 'assistant',
      text: 'I was going to say\n\nStopped.',
    })
    expect(reader.of('step_finished')).toEqual([])
    expect(turns.provider.asked).toHaveLength(1)
  })

  it('[TU4] at another server on the same store', async () => {
    const [here, there] = await two({ answers: [{ text: 'I was going to say ', hangs: true }] }, { isIdle: true })
    const reader = await here.open(PLAIN)
    await reader.until(() => deltas(reader, messageOf(reader)) === 'I was going to say ')
    await there.person.stop('c1', 't1')
    await reader.over
    expect(lastOf(reader)).toBe('stopped')
    expect(reader.of('message_added').at(-1)?.data.text).toContain('I was going to say')
  })

  it('[TU4] while an outside tool runs: it is told, and its turn ends', async () => {
    const called = gate()
    let told = false
    const tool: OutsideTool = {
      name: 'slow',
      description: 'Takes long.',
      inputSchema: { type: 'object' },
      isRepeatable: false,
      call: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            told = true
            reject(signal.reason)
          })
          called.open()
        }),
    }
    const turns = await started({ outside: [tool], answers: [{ calls: [{ tool: 'slow' }, { tool: 'slow' }] }] })
    const reader = await turns.open(PLAIN)
    await called.opened
    await turns.person.stop('c1', 't1')
    await reader.over
    expect(told).toBe(true)
    expect(lastOf(reader)).toBe('stopped')
    expect(reader.types.filter(type => type === 'tool_called')).toHaveLength(1)
    expect(turns.provider.asked).toHaveLength(1)
    // The next turn's model is told of no call that has no answer.
    turns.provider.script(['Fine.'])
    await turns.chat({ turn_id: 't2' })
    expect(turns.provider.messages(0).flatMap(({ tool_calls = [] }) => tool_calls)).toEqual([])
  })

  it('[TU4] while a review waits: it is cancelled as turn_stopped, nothing is written, the turn ends', async () => {
    const turns = await started({ answers: [plan('a', 'b')] })
    const reader = await turns.open()
    await reader.reached('task_create_review_required')
    await turns.person.stop('c1', 't1')
    await reader.over
    expect(lastOf(reader)).toBe('stopped')
    expect(reader.of('task_create_review_resolved').map(({ data }) => [data.action, data.reason])).toEqual([
      ['cancel', 'turn_stopped'],
    ])
    expect(await turns.tasks()).toEqual([])
    expect((await turns.person.pendingReviews('c1')).reviews).toEqual([])
  })

  it('[TU4] twice is once, and after the end it changes nothing', async () => {
    const turns = await started({ answers: [{ text: 'Hm ', hangs: true }, 'Fine.'] })
    const reader = await turns.open(PLAIN)
    await reader.until(() => reader.asides('text_delta').length > 0)
    await Promise.all([turns.person.stop('c1', 't1'), turns.person.stop('c1', 't1')])
    await reader.over
    const { seq } = await turns.person.session('c1')
    const { turn } = await turns.person.stop('c1', 't1')
    expect(turn.status).toBe('stopped')
    expect((await turns.person.session('c1')).seq).toBe(seq)
    expect(reader.types.filter(type => type === 'turn_stop_requested')).toHaveLength(1)
    await turns.chat({ turn_id: 't2' })
    expect((await turns.person.stop('c1', 't2')).turn).toMatchObject({ status: 'done', stop_requested: false })
  })

  it('[TU4] before a runner claims it: the runner that does ends it', async () => {
    const [here, there] = await two({ isIdle: true, answers: ['never'] }, {})
    await there.stopRunner()
    const reader = await here.open(PLAIN)
    await here.person.stop('c1', 't1')
    const models = await configuredModels({ model: MODEL, url: here.provider.url, key: 'k' })
    const runner = new Worker({ door: there.door, models })
    onTestFinished(() => runner.close())
    runner.start()
    await reader.over
    expect(lastOf(reader)).toBe('stopped')
    expect(here.provider.asked).toEqual([])
  })
})

const messageOf = (reader: ChatReader): string => {
  const id = reader.asides('text_delta').at(-1)?.data['message_id']
  return typeof id === 'string' ? id : 'none yet'
}

describe('going on', () => {
  it('a continued turn adopts what is open, says so to the model, and finishes it', async () => {
    const turns = await started({ answers: [plan('a', 'b'), { text: 'Hm ', hangs: true }], host: { assessor: false } })
    const first = await turns.open({ message: 'The first request.' }, confirmAll)
    await first.until(() => first.asides('text_delta').length > 0)
    await turns.person.stop('c1', 't1')
    await first.over
    expect(first.of('message_added').at(-1)?.data.text).toContain('Not done:\n- a\n- b')
    turns.provider.script([update(1, 'did a'), update(2, 'did b'), 'All done.'])
    const second = await turns.chat({ turn_id: 't2', message: 'Go on.', continue_turn_id: 't1' })
    expect(turns.provider.system(0)).toMatch(/Now:\n- 1 a\nNext:\n- 2 b\n2 remaining/)
    expect(lastOf(second)).toBe('done')
    expect(await turns.statuses()).toEqual([
      ['a', 'completed'],
      ['b', 'completed'],
    ])
    expect((await turns.tasks()).map(task => task.conversation_turn_id)).toEqual(['t1', 't1'])
    expect(second.of('turn_started').at(0)?.data.continue_turn_id).toBe('t1')
  })

  it('a turn that continues none leaves old tasks alone', async () => {
    const turns = await started({ answers: [plan('a'), 'Leaving it.', 'Hello.'], host: { ...ALONE } })
    await turns.chat()
    const second = await turns.chat({ turn_id: 't2', message: 'Hello?', gate: true })
    expect(lastOf(second)).toBe('done')
    expect(turns.provider.system(2)).not.toContain('Where the plan stands')
    expect(await turns.statuses()).toEqual([['a', 'in_progress']])
  })

  it("[TR11] a person's edit during the turn is in the next digest, and wins over a write that did not know of it", async () => {
    const { opened, open } = gate()
    const turns = await started({
      answers: [
        plan('a', 'b'),
        { calls: [{ tool: 'update', args: { id: 1, outcome: 'did a' } }], after: opened },
        update(1, 'did it as the person wants'),
        update(2, 'did b'),
        'Done.',
        update(3, 'did c'),
        'Done.',
      ],
      host: { review: false, assessor: false },
    })
    const reader = await turns.open()
    await turns.provider.until(({ asked }) => asked.length === 2)
    const [task] = await turns.tasks()
    await turns.person.changeTask('c1', task?.id ?? '', task?.version ?? 0, { title: 'a, but better' })
    await turns.person.addTask('c1', { title: 'c' })
    open()
    await reader.over
    expect(reader.of('tool_answered').map(({ data }) => data.ok)).toEqual([true, false, true, true, true])
    expect(JSON.stringify(reader.of('tool_answered').at(1)?.data.result)).toContain('person')
    expect(turns.provider.system(2)).toMatch(/Now:\n- 1 a, but better\nNext:\n- 2 b\n- 3 c\n/)
    expect(lastOf(reader)).toBe('done')
    expect((await turns.tasks()).map(({ title, outcome }) => [title, outcome])).toEqual([
      ['a, but better', 'did it as the person wants'],
      ['b', 'did b'],
      ['c', 'did c'],
    ])
  })
})

describe('a turn that waits for a person', () => {
  it('[TR20] holds no lease, is not to be claimed, and costs no model call', async () => {
    const turns = await started({ answers: [plan('a'), update(1, 'did a'), 'Done.'], host: { assessor: false } })
    const reader = await turns.open()
    await reader.reached('task_create_review_required')
    const { turns: leases } = turns.door
    expect(await leases.claim('somebody', 60_000, { abilities: ['drive'] })).toBeUndefined()
    expect(
      await leases.claim('somebody', 60_000, { abilities: ['drive'], wanted: { ...ref, turn: 't1' } }),
    ).toBeUndefined()
    await expect.poll(() => turns.runner.size).toBe(0)
    expect(turns.provider.asked).toHaveLength(1)
    const [review] = (await turns.person.pendingReviews('c1')).reviews
    await turns.person.decide(review?.review_id ?? '', { action: 'confirm', tasks: [{ title: 'a', draft_index: 0 }] })
    await reader.over
    expect(lastOf(reader)).toBe('done')
  })

  it.each(['here', 'there'] as const)('[TR20] once it is decided %s, one of two runners goes on', async where => {
    const [here, there] = await two({
      answers: [plan('a'), update(1, 'did a'), 'Done.'],
      host: { assessor: false },
    })
    const reader = await here.open()
    await reader.reached('task_create_review_required')
    const [review] = (await there.person.pendingReviews('c1')).reviews
    const server = where === 'here' ? here : there
    await server.person.decide(review?.review_id ?? '', { action: 'confirm', tasks: [{ title: 'a', draft_index: 0 }] })
    await reader.over
    expect(lastOf(reader)).toBe('done')
    expect(here.provider.asked).toHaveLength(3)
    expect(answeredOnce(await here.log())).toBe(true)
  })

  it('[TR20] the runner that parked it may be gone by then', async () => {
    const [here, there] = await two({
      answers: [plan('a'), update(1, 'did a'), 'Done.'],
      host: { assessor: false },
    })
    const reader = await there.open({}, confirmAllLater)
    await reader.reached('task_create_review_required')
    await here.stopRunner()
    const [review] = (await there.person.pendingReviews('c1')).reviews
    await there.person.decide(review?.review_id ?? '', { action: 'confirm', tasks: [{ title: 'a', draft_index: 0 }] })
    await reader.over
    expect(lastOf(reader)).toBe('done')
  })

  it('[TR20] a review that times out is cancelled, and the turn goes on with that', async () => {
    const turns = await started({ answers: [plan('a'), 'As you like.'], host: { review_timeout_ms: 50 } })
    const reader = await turns.chat()
    expect(reader.of('tool_answered').at(0)?.data.result).toMatchObject({ confirmed: false, reason: 'review_timeout' })
    expect(lastOf(reader)).toBe('done')
    expect(await turns.tasks()).toEqual([])
  })
})

const confirmAllLater = (): undefined => undefined

function answeredOnce(log: readonly StoredEvent[]): boolean {
  const calls = log.flatMap(event => (event.type === 'step_finished' ? event.data.tool_calls : []))
  const answers = log.flatMap(event => (event.type === 'tool_answered' ? [event.data.tool_call_id] : []))
  return new Set(answers).size === answers.length && answers.length === calls.length
}
