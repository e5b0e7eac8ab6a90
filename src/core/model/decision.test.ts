import { describe, expect, it } from 'vitest'
import { finishes, inRun } from '../../../test/support/domain.ts'
import { attributed, decisionsIn } from './decision.ts'
import type { EventData, NewEvent, StoredEvent } from './event.ts'
import { type Origin, originNames, remoteAddress, SYSTEM } from './origin.ts'
import { redactor } from '../text/redact.ts'
import type { Task } from './task.ts'

const ANN: Origin = { actor: 'person', edge: 'page', credential: 'page' }
const task = { id: 'a', number: 1, title: 'Look', status: 'blocked' } as Task

const created = (by: 'model' | 'person' | 'system'): NewEvent => ({
  type: 'task_created',
  turn_id: 't',
  data: { task, by },
})
const changed = (by: 'model' | 'person' | 'file' | 'system' | 'assessor'): NewEvent => ({
  type: 'task_changed',
  turn_id: 't',
  data: { task, by, from: { status: 'pending' } },
})
const resolved = (data: Partial<EventData['task_create_review_resolved']>): NewEvent => ({
  type: 'task_create_review_resolved',
  turn_id: 't',
  data: { review_id: 'r', action: 'cancel', via: 'http', created_count: 0, ...data },
})
const stopped: NewEvent = { type: 'turn_stop_requested', turn_id: 't', data: { turn_id: 't' } }
const answered: NewEvent = {
  type: 'tool_answered',
  turn_id: 't',
  data: { tool_call_id: 'c', tool: 'plan', result: {}, duration_ms: 1, ok: true },
}

/** The origins of the events, once they are attributed to Ann. */
const origins = (...events: readonly NewEvent[]): unknown[] =>
  attributed(events, ANN).map(({ data }) => ('origin' in data ? data.origin : undefined))

describe('what records an origin', () => {
  it('[AD1] a decision does, and nothing else', () => {
    expect(origins(stopped, answered, changed('model'), changed('assessor'), changed('system'))).toEqual([
      ANN,
      undefined,
      undefined,
      undefined,
      undefined,
    ])
    expect(origins(changed('person'), changed('file'), resolved({}))).toEqual([ANN, ANN, ANN])
  })

  it('[AD1] of tasks that a model writes without a review, the first does', () => {
    expect(origins(created('model'), created('model'), created('system'))).toEqual([ANN, undefined, undefined])
  })

  it('[AD1] of a confirmed plan, the decision does, and not its tasks', () => {
    expect(origins(created('person'), created('person'), resolved({ action: 'confirm' }))).toEqual([
      undefined,
      undefined,
      ANN,
    ])
  })

  it("what ended by itself is the system's, whoever's command found it", () => {
    const timeout = resolved({ via: 'system', reason: 'review_timeout' })
    const closed = resolved({ via: 'system', reason: 'panel_closed' })
    const superseded = resolved({ via: 'system', reason: 'superseded' })
    // A reason of a person's own does not make it the system's.
    const cancelled = resolved({ via: 'http', reason: 'review_timeout' })
    expect(origins(timeout, closed, superseded, cancelled)).toEqual([SYSTEM, SYSTEM, ANN, ANN])
  })
})

it('[AD1] the decisions of a log are one for each, without origins too', () => {
  const log = [
    [stopped],
    [created('model'), created('model')],
    [created('person'), created('person'), created('person'), resolved({ action: 'confirm' })],
    [changed('model'), answered],
    [changed('person')],
  ].flatMap((commit, at) =>
    commit.map(event => ({ ...event, timestamp: `2026-01-01T00:00:0${at}.000Z` }) as StoredEvent),
  )
  expect(decisionsIn(log).map(({ what }) => what)).toEqual([
    'turn t stopped',
    '2 tasks written without review, from task 1 "Look"',
    'review r confirmed: 3 tasks',
    'task 1 "Look" set to blocked',
  ])
})

it('a turn that messages start at the end of another is started by the system, and by whoever sends them else', () => {
  const chat = inRun()
  const next = { turn_id: 'turn-2' }
  chat.run({ type: 'send_message', message_id: 'm', text: 'Also this', next })
  const originOf = (events: readonly NewEvent[]): unknown => origins(...events).at(-1)
  expect(originOf(chat.run({ ...finishes('turn-1'), next }))).toEqual(SYSTEM)
  chat.run(finishes('turn-2'))
  const sent = chat.run({ type: 'send_message', message_id: 'n', text: 'And that', next: { turn_id: 'turn-3' } })
  expect(sent.map(({ type }) => type)).toEqual(['message_queued', 'turn_started'])
  expect(origins(...sent)).toEqual([ANN, ANN])
})

describe('what a client calls itself', () => {
  const secret = 's3cret'.repeat(80)
  const nameOf = originNames(redactor({ known: [secret] }))

  it.each([
    ['curl/8.5.0', 'curl/8.5.0'],
    ['two\nlines\u001b[31m', String.raw`two\nlines\u001b[31m`],
    ['\u202egnp.exe', String.raw`\u202egnp.exe`],
    ['x'.repeat(500), 'x'.repeat(80)],
    [`tool ${secret}`, 'tool [redacted]'],
    ['tool Bearer abcdefgh12345678', 'tool Bearer [redacted]'],
    ['\ud800', '\ufffd'],
    [' \u200b ', undefined],
    ['', undefined],
    [null, undefined],
  ])('[AD6] is short, printable and without secrets: %j', (raw, name) => {
    expect([nameOf(raw), nameOf(raw)]).toEqual([name, name])
  })
})

it.each([
  ['10.0.0.5', '10.0.0.5'],
  ['::ffff:10.0.0.5', '10.0.0.5'],
  ['2001:db8::1', '2001:db8::1'],
  ['127.0.0.1', undefined],
  ['::ffff:127.0.0.1', undefined],
  ['::1', undefined],
  [undefined, undefined],
])('[AD1] the address %j is recorded as %j', (address, recorded) => {
  expect(remoteAddress(address)).toBe(recorded)
})
