import { describe, expect, it, onTestFinished } from 'vitest'
import type { StoredEvent } from '../../src/core/model/event.ts'
import { openDoor } from '../../src/engine/door/door.ts'
import { dataOf } from '../support/domain.ts'
import type { Answer, ModelMessage } from '../support/provider.ts'
import { placeFor } from '../support/stores.ts'
import { confirmed, startTurns, type TestTurns, type TurnsOptions } from '../support/turns.ts'

const ref = { tenant: 'local', conversation: 'c1' }
const PLAIN = { toolset: 'task_list' } as const
const add = (title: string): Answer => ({ calls: [{ tool: 'AddTask', args: { title } }] })

async function started(options: TurnsOptions = {}): Promise<TestTurns> {
  const turns = await startTurns(options)
  onTestFinished(turns.close)
  return turns
}

/** A promise that a script waits for, and what lets it go on. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}

/** The log, once it holds. */
async function logOnce({ door }: TestTurns, holds: (log: readonly StoredEvent[]) => boolean): Promise<StoredEvent[]> {
  const log: StoredEvent[] = []
  const end = new AbortController()
  for await (const { events } of door.tail(ref, { signal: end.signal })) {
    log.push(...events)
    if (!holds(log)) continue
    end.abort()
    break
  }
  return log
}

const ended =
  (count: number) =>
  (log: readonly StoredEvent[]): boolean =>
    log.filter(({ type }) => type === 'turn_finished').length === count

/** What a model is told besides its instructions, in short. */
const told = (messages: readonly ModelMessage[]): string[] =>
  messages
    .filter(({ role }) => role !== 'system')
    .map(({ role, content, tool_calls }) => (tool_calls ? 'calls' : role === 'tool' ? 'answer' : `${role}: ${content}`))

const said = async ({ person }: TestTurns, text: string): Promise<string> =>
  (await person.sendMessage('c1', text)).message.message_id

describe('a message to the agent at work', () => {
  it('joins the turn right before the next model call, behind the answers of the tools, in order', async () => {
    const { opened, open } = gate()
    const turns = await started({ answers: [{ ...(add('a') as object), after: opened }, 'Done.'] })
    const reader = await turns.open(PLAIN)
    await turns.provider.until(({ asked }) => asked.length === 1)
    const first = await said(turns, 'Also b')
    await said(turns, 'Not this')
    await said(turns, 'And c')
    await turns.person.editMessage('c1', first, 1, 'Also B')
    const { queued } = await turns.person.session('c1')
    await turns.person.withdrawMessage('c1', queued[1]?.message_id ?? '', 1)
    open()
    await reader.over
    expect(told(turns.provider.messages(0))).toEqual(['user: Do it.'])
    expect(told(turns.provider.messages(1))).toEqual(['user: Do it.', 'calls', 'answer', 'user: Also B', 'user: And c'])
    const log = await turns.log()
    expect(reader.events).toEqual(log.slice(log.findIndex(({ type }) => type === 'turn_started')))
    expect(reader.of('turn_finished')).toMatchObject([{ data: { status: 'done', steps: 2 } }])
    const { messages } = await turns.person.session('c1')
    expect(messages.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      'user: Do it.',
      'assistant: ',
      'user: Also B',
      'user: And c',
      'assistant: Done.',
    ])
  })

  it('once the model is asked with it, it is too late to take it back; search finds it from then on', async () => {
    const [first, second] = [gate(), gate()]
    const turns = await started({
      store: 'sqlite',
      answers: [
        { ...(add('a') as object), after: first.opened },
        { text: 'Done.', after: second.opened },
      ],
    })
    const reader = await turns.open(PLAIN)
    await turns.provider.until(({ asked }) => asked.length === 1)
    const id = await said(turns, 'Mind the zebra')
    expect((await turns.person.find('zebra')).results).toEqual([])
    first.open()
    await turns.provider.until(({ asked }) => asked.length === 2)
    await expect(turns.person.withdrawMessage('c1', id, 1)).rejects.toMatchObject({ code: 'message_delivered' })
    expect((await turns.person.find('zebra')).results).toMatchObject([
      { kind: 'message', message_id: id, turn_id: 't1', role: 'user' },
    ])
    second.open()
    await reader.over
    expect(turns.provider.asked).toHaveLength(2)
  })

  it('waits while a review does, and joins the turn once that is decided', async () => {
    const turns = await started({
      answers: [{ calls: [{ tool: 'plan', args: { tasks: [{ title: 'a' }] } }] }, 'As you like.'],
      host: { assessor: false, gate: false },
    })
    const reader = await turns.open()
    await reader.reached('task_create_review_required')
    await said(turns, 'By Friday')
    await expect.poll(() => turns.runner.size).toBe(0)
    expect(turns.provider.asked).toHaveLength(1)
    const [review] = (await turns.person.pendingReviews('c1')).reviews
    if (!review) throw new Error('there is no review')
    await turns.person.decide(review.review_id, confirmed(review))
    await reader.over
    expect(told(turns.provider.messages(1))).toEqual(['user: Do it.', 'calls', 'answer', 'user: By Friday'])
  })

  it('sent to another server on the same store, it reaches the agent as well', async () => {
    const place = await placeFor('sqlite', '')
    onTestFinished(place.remove)
    const { opened, open } = gate()
    const here = await started({
      door: openDoor({ store: await place.open() }),
      answers: [{ ...(add('a') as object), after: opened }, 'Done.'],
    })
    const there = await started({ door: openDoor({ store: await place.open() }), isIdle: true })
    const reader = await here.open(PLAIN)
    await here.provider.until(({ asked }) => asked.length === 1)
    await said(there, 'From afar')
    open()
    await reader.over
    expect(told(here.provider.messages(1)).at(-1)).toBe('user: From afar')
  })

  it('is part of the request: in the digest, and for the assessor', async () => {
    const { opened, open } = gate()
    const turns = await started({
      answers: [
        { calls: [{ tool: 'plan', args: { tasks: [{ title: 'a' }] } }], after: opened },
        { calls: [{ tool: 'update', args: { id: 1, outcome: 'Did a.' } }] },
        'Done.',
      ],
      host: { review: false, assessor: true, gate: true },
    })
    const reader = await turns.open({ message: 'Do a.' })
    await turns.provider.until(({ asked }) => asked.length === 1)
    await said(turns, 'In blue, please.')
    open()
    await reader.over
    expect(turns.provider.system(1)).toContain('The request: Do a.\n\nIn blue, please.')
    expect(turns.provider.case(0).request).toBe('Do a.\n\nIn blue, please.')
  })
})

describe('a turn that ends with messages waiting', () => {
  it('[TU14] answered: a runner goes on with a turn that continues it; its stream ends where it ended', async () => {
    const { opened, open } = gate()
    const turns = await started({ answers: [add('a'), { text: 'Done.', after: opened }, 'Also that.'] })
    const reader = await turns.open(PLAIN)
    await turns.provider.until(({ asked }) => asked.length === 2)
    await said(turns, 'One')
    await said(turns, 'Two')
    open()
    const log = await logOnce(turns, ended(2))
    await reader.over
    expect(reader.types.at(-1)).toBe('turn_finished')
    expect(reader.of('turn_started')).toHaveLength(1)
    const [, next] = dataOf(log, 'turn_started')
    expect(next).toMatchObject({ message: 'One', continue_turn_id: 't1', origin: { actor: 'system' } })
    expect(told(turns.provider.messages(2))).toEqual([
      'user: Do it.',
      'calls',
      'answer',
      'assistant: Done.',
      'user: One',
      'user: Two',
    ])
    const at = log.findIndex(({ type }) => type === 'turn_finished')
    expect(log[at + 1]).toMatchObject({ type: 'turn_started', timestamp: log[at]?.timestamp })
    expect((await turns.person.session('c1')).queued).toEqual([])
    expect(turns.complaints).toEqual([])
  })

  it('[TU14] at the last call of its budget: the message has a turn with tools of its own', async () => {
    const { opened, open } = gate()
    const turns = await started({ answers: [{ text: 'Enough.', after: opened }, 'Yes.'], host: { max_steps: 1 } })
    await turns.open(PLAIN)
    await turns.provider.until(({ asked }) => asked.length === 1)
    await said(turns, 'And then?')
    open()
    const log = await logOnce(turns, ended(2))
    expect(dataOf(log, 'turn_started').map(({ message }) => message)).toEqual(['Do it.', 'And then?'])
  })

  it('[TU14][TU15] stopped: the agent stays silent until the person sends what waits', async () => {
    const turns = await started({ answers: [{ text: 'Hm ', hangs: true }, 'Now I know.'] })
    const reader = await turns.open(PLAIN)
    await reader.until(() => reader.asides('text_delta').length > 0)
    const id = await said(turns, 'Wait')
    await turns.person.stop('c1', 't1')
    await reader.over
    await expect.poll(() => turns.runner.size).toBe(0)
    expect((await turns.person.session('c1')).queued).toMatchObject([{ message_id: id }])
    const { started: isStarted } = await turns.person.sendMessageNow('c1', id)
    expect(isStarted).toBe(true)
    const log = await logOnce(turns, ended(2))
    expect(dataOf(log, 'turn_finished').map(({ status }) => status)).toEqual(['stopped', 'done'])
    expect(told(turns.provider.messages(1)).at(-1)).toBe('user: Wait')
  })

  it('[TU14][TU15] failed: nothing is lost, and the next message takes them along', async () => {
    const { opened, open } = gate()
    const turns = await started({ answers: [{ status: 400, after: opened }, 'Better now.'] })
    const reader = await turns.open(PLAIN)
    await turns.provider.until(({ asked }) => asked.length === 1)
    await said(turns, 'One')
    open()
    await reader.over
    expect(reader.of('turn_finished')).toMatchObject([{ data: { status: 'failed' } }])
    expect((await turns.person.session('c1')).queued).toMatchObject([{ text: 'One' }])
    await said(turns, 'Two')
    await logOnce(turns, ended(2))
    expect(told(turns.provider.messages(1)).slice(-2)).toEqual(['user: One', 'user: Two'])
  })
})

describe('a message that does not wait', () => {
  it('[TU15][TU4] stops the model in the middle of a word, keeps that, and starts the next turn', async () => {
    const turns = await started({ answers: [{ text: 'I was going to ', hangs: true }, 'Very well.'] })
    const reader = await turns.open(PLAIN)
    await reader.until(() => reader.asides('text_delta').length > 0)
    const id = await said(turns, 'No, in blue')
    expect(await turns.person.sendMessageNow('c1', id)).toMatchObject({ turn_id: 't1' })
    const log = await logOnce(turns, ended(2))
    await turns.provider.until(({ hungUp }) => hungUp === 1)
    expect(dataOf(log, 'turn_finished').map(({ status }) => status)).toEqual(['stopped', 'done'])
    expect(dataOf(log, 'turn_started').at(1)).toMatchObject({ message_id: id, continue_turn_id: 't1' })
    expect(told(turns.provider.messages(1)).at(-1)).toBe('user: No, in blue')
    await expect(turns.person.sendMessageNow('c1', id)).rejects.toMatchObject({ code: 'message_delivered' })
  })

  it('[TU15] while a review waits: that is cancelled, and the next turn hears the message', async () => {
    const turns = await started({
      answers: [{ calls: [{ tool: 'plan', args: { tasks: [{ title: 'a' }] } }] }, 'Very well.'],
      host: { assessor: false, gate: false },
    })
    const reader = await turns.open()
    await reader.reached('task_create_review_required')
    await turns.person.sendMessageNow('c1', await said(turns, 'Never mind'))
    const log = await logOnce(turns, ended(2))
    expect(dataOf(log, 'task_create_review_resolved')).toMatchObject([{ reason: 'turn_stopped' }])
    expect(told(turns.provider.messages(1)).at(-1)).toBe('user: Never mind')
  })
})
