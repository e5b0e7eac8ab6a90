import { describe, expect, it } from 'vitest'
import {
  dataOf,
  Driver,
  finishes,
  inRun,
  outside,
  SOME_MODEL,
  START,
  starts,
  typesOf,
  underReview,
} from '../../../test/support/domain.ts'
import { threadIn, told } from '../../../test/support/thread.ts'
import type { Command, CommandOf } from '../model/command.ts'
import { decisionsIn } from '../model/decision.ts'
import { needsOf } from '../model/needs.ts'
import { fateOf } from '../model/queue.ts'
import { changeIn } from '../text/search-documents.ts'
import { LIMITS } from '../model/text.ts'
import type { EndReason } from '../model/turn.ts'
import { view } from '../views/view.ts'

const next = { turn_id: 'turn-next' }
const writes = (message_id: string, text = `Text of ${message_id}`): CommandOf<'send_message'> => ({
  type: 'send_message',
  message_id,
  text,
  next,
})
const edits = (message_id: string, if_version: number, text: string): Command => ({
  type: 'edit_queued',
  message_id,
  text,
  if_version,
})
const takesBack = (message_id: string, if_version = 1): Command => ({ type: 'withdraw_queued', message_id, if_version })
const sends = (message_id: string): Command => ({ type: 'send_queued', message_id, next })
const delivers = (turn_id = 'turn-1'): Command => ({ type: 'deliver_queued', turn_id })
const ends = (because: EndReason, turn_id = 'turn-1'): Command => ({ ...finishes(turn_id, because), next })
const stops: Command = { type: 'stop_turn', turn_id: 'turn-1' }

const waiting = ({ state }: Driver): string[] => state.queued.map(({ message_id }) => message_id)

/** A running turn to which these messages were sent. */
function steered(...ids: readonly string[]): Driver {
  const chat = inRun()
  for (const id of ids) chat.run(writes(id))
  return chat
}

describe('a message to the agent at work', () => {
  it('[TU12] waits in the order in which it was sent, with a version and its time', () => {
    const chat = inRun()
    const events = chat.run(writes('a', 'Also\nthis, \u{1f389}.'))
    expect(events).toMatchObject([
      { type: 'message_queued', turn_id: 'turn-1', data: { message_id: 'a', text: 'Also\nthis, \u{1f389}.' } },
    ])
    chat.wait(5).run(writes('b'))
    expect(chat.state.queued).toEqual([
      { message_id: 'a', text: 'Also\nthis, \u{1f389}.', version: 1, queued_at: START },
      { message_id: 'b', text: 'Text of b', version: 1, queued_at: chat.now },
    ])
  })

  it('[TU12] waits, too, while the turn waits for a review, and nothing is decided by it', () => {
    const chat = underReview('A')
    chat.run(writes('a'))
    expect(chat.state.pending_reviews).toEqual(['review-1'])
    expect(waiting(chat)).toEqual(['a'])
    expect(needsOf(chat.state, 'turn-1')).toBeNull()
  })

  it('[TU12] has 1 to 32,000 characters, and 20 may wait', () => {
    const chat = inRun()
    for (const [text, rule] of [
      [' \n\u200b', 'empty'],
      ['\ud83d', 'malformed_unicode'],
      ['x'.repeat(LIMITS.message + 1), 'too_long'],
    ] as const) {
      const refusal = chat.refusal(writes('a', text))
      expect([refusal.code, refusal.data]).toMatchObject(['invalid_field', { field: 'text', rule }])
    }
    chat.run(writes('a', '\u{1f389}'.repeat(LIMITS.message)))
    for (let count = 1; count < LIMITS.queued; count += 1) chat.run(writes(`m${count}`))
    const refusal = chat.refusal(writes('z'))
    expect([refusal.code, refusal.data]).toEqual(['too_many_queued', { limit: 20 }])
    chat.run(takesBack('a'))
    chat.run(writes('z'))
  })

  it('[TU12] has an id of its own', () => {
    const chat = steered('a')
    expect([chat.refusal(writes('a')).code, chat.refusal(writes('a b')).code]).toEqual(['invalid_id', 'invalid_id'])
  })

  it('[TU12] is edited and taken back by the version that the person saw', () => {
    const chat = steered('a', 'b')
    expect(chat.run(edits('a', 1, 'Better'))).toMatchObject([
      { type: 'queued_message_edited', data: { message_id: 'a', text: 'Better', version: 2 } },
    ])
    for (const command of [edits('a', 1, 'Other'), takesBack('a', 1)]) {
      const refusal = chat.refusal(command)
      expect([refusal.code, refusal.data]).toMatchObject([
        'message_changed',
        { queued: { text: 'Better', version: 2 }, expected: 1 },
      ])
    }
    expect(chat.refusal(edits('a', 2, ' ')).code).toBe('invalid_field')
    expect(chat.run(edits('a', 2, 'Better'))).toEqual([])
    expect(typesOf(chat.run(takesBack('a', 2)))).toEqual(['queued_message_withdrawn'])
    expect(waiting(chat)).toEqual(['b'])
  })

  it('[TU15] only turns of ours take messages', () => {
    expect(new Driver().refusal(writes('a')).code).toBe('no_own_turn')
    expect(outside().refusal(writes('a')).code).toBe('no_own_turn')
  })
})

describe('a message that may start a turn', () => {
  const start = { model: SOME_MODEL, policy: { gate: false } }

  it('[TU15] starts the first one, or another, as it says', () => {
    const chat = new Driver()
    expect(chat.run({ ...writes('a'), start })).toMatchObject([
      { type: 'policy_set', data: { policy: { gate: false } } },
      {
        type: 'turn_started',
        data: { turn_id: 'turn-next', message_id: 'a', message: 'Text of a', model: SOME_MODEL },
      },
    ])
    expect(waiting(chat)).toEqual([])
    expect(fateOf(chat.log, 'a')).toBe('delivered')
    chat.run(finishes('turn-next'))
    const again = { ...writes('b'), next: { turn_id: 'turn-2' }, start: { ...start, continue_turn_id: 'turn-next' } }
    expect(dataOf(chat.run(again), 'turn_started')).toMatchObject([{ message_id: 'b', continue_turn_id: 'turn-next' }])
  })

  it('[TU15] joins the running turn, or what waits, all the same', () => {
    const chat = inRun()
    expect(typesOf(chat.run({ ...writes('a'), start }))).toEqual(['message_queued'])
    chat.run(ends('error'))
    const events = chat.run({ ...writes('b'), start })
    expect(dataOf(events, 'turn_started')).toMatchObject([{ message_id: 'a', continue_turn_id: 'turn-1' }])
    expect(waiting(chat)).toEqual(['b'])
  })

  it('[TU15] may be longer than one that waits, but has text and an id', () => {
    const long = 'x'.repeat(LIMITS.message + 1)
    expect(inRun().refusal({ ...writes('a', long), start }).code).toBe('invalid_field')
    expect(dataOf(new Driver().run({ ...writes('a', long), start }), 'turn_started')).toMatchObject([{ message: long }])
    const refusal = new Driver().refusal({ ...writes('a', ' '), start })
    expect(refusal.data).toMatchObject({ field: 'text', rule: 'empty' })
    expect(new Driver().refusal({ ...writes('a b'), start }).code).toBe('invalid_id')
  })
})

describe('delivery', () => {
  it('[TU13] makes all that waits user messages of the turn, once, in order, as they were edited', () => {
    const chat = steered('a', 'b', 'c')
    chat.run(edits('a', 1, 'Better'))
    chat.run(takesBack('b'))
    const events = chat.run(delivers())
    expect(events.map(({ type, turn_id, data }) => [type, turn_id, data])).toEqual([
      ['message_added', 'turn-1', { message_id: 'a', role: 'user', text: 'Better' }],
      ['message_added', 'turn-1', { message_id: 'c', role: 'user', text: 'Text of c' }],
    ])
    expect(waiting(chat)).toEqual([])
    expect(chat.run(delivers())).toEqual([])
  })

  it('[TU13] ends editing, taking back and sending: the log tells what became of the message', () => {
    const chat = steered('a', 'b')
    chat.run(takesBack('b'))
    chat.run(delivers())
    for (const command of [edits('a', 1, 'x'), takesBack('a'), sends('a'), takesBack('b'), sends('nowhere')]) {
      expect(chat.refusal(command).code).toBe('message_not_found')
    }
    expect(['a', 'b', 'nowhere'].map(id => fateOf(chat.log, id))).toEqual(['delivered', 'withdrawn', undefined])
    expect(chat.state.turns.get('turn-1')?.stop_requested).toBe(false)
  })

  it('[TU13] after a stop was asked for, nothing is delivered', () => {
    const chat = steered('a')
    chat.run(stops)
    expect(chat.run(delivers())).toEqual([])
    expect(waiting(chat)).toEqual(['a'])
    chat.run(ends('stopped'))
    expect(chat.refusal(delivers()).code).toBe('turn_finished')
    expect(chat.refusal(delivers('nowhere')).code).toBe('turn_not_found')
    expect(outside().run(delivers())).toEqual([])
  })

  it('[TU13] a delivered message is told in its turn and found by its words; one that waits, or was taken back, is not', () => {
    const chat = steered('a', 'b')
    expect(view.of(chat.log).messages.map(({ text }) => text)).toEqual(['Do it'])
    expect(chat.log.flatMap(event => changeIn(event) ?? []).map(({ text }) => text)).toEqual(['Do it'])
    chat.run(takesBack('b'))
    chat.run(delivers())
    expect(view.of(chat.log).messages).toMatchObject([{}, { message_id: 'a', turn_id: 'turn-1', role: 'user' }])
    expect(told(threadIn(chat.log))).toEqual(['turn-1:', 'user: Do it', 'user: Text of a', 'goes on'])
    const found = chat.log.flatMap(event => changeIn(event) ?? [])
    expect(found.map(({ ref, text }) => [ref, text])).toEqual([
      ['turn-1/message-1', 'Do it'],
      ['turn-1/a', 'Text of a'],
    ])
  })
})

describe('a turn that ends with messages waiting', () => {
  it.each(['answered', 'gate', 'budget', 'repeats', 'rejected', 'unjudged'] as const)(
    '[TU14] %s: the same commit starts a turn that continues it, with the first message; the others wait for its model',
    because => {
      const place = { machine: 'm1', path: '/work' }
      const chat = new Driver()
      const policy = { review: false, assessor: false, gate: false }
      chat.run({ ...(starts('turn-1', policy) as CommandOf<'start_turn'>), workspace: place })
      chat.run(chat.adds('model', 'Open'))
      chat.run(writes('a'))
      chat.run(writes('b'))
      const events = chat.run(ends(because))
      expect(typesOf(events).slice(-2)).toEqual(['turn_finished', 'turn_started'])
      expect(events.at(-1)?.data).toMatchObject({
        turn_id: 'turn-next',
        message_id: 'a',
        message: 'Text of a',
        model: SOME_MODEL,
        continue_turn_id: 'turn-1',
        workspace: place,
      })
      expect(chat.state.running_turn).toBe('turn-next')
      expect(waiting(chat)).toEqual(['b'])
      expect(chat.titles('turn-next')).toEqual(['Open'])
      expect(dataOf(chat.run(delivers('turn-next')), 'message_added')).toMatchObject([{ message_id: 'b' }])
    },
  )

  it('[TU14] without any, or if they were all taken back, none is started', () => {
    const chat = steered('a')
    chat.run(takesBack('a'))
    expect(typesOf(chat.run(ends('answered')))).toEqual(['turn_finished'])
  })

  it.each(['stopped', 'error', 'empty'] as const)('[TU14] %s: they wait until a person sends them', because => {
    const chat = steered('a', 'b')
    if (because === 'stopped') chat.run(stops)
    chat.run(ends(because))
    expect([chat.state.running_turn, waiting(chat)]).toEqual([null, ['a', 'b']])
    chat.run(edits('b', 1, 'Better'))
    const events = chat.run(sends('b'))
    expect(events.map(({ type, data }) => [type, data])).toMatchObject([
      ['turn_started', { turn_id: 'turn-next', message_id: 'a', continue_turn_id: 'turn-1' }],
    ])
    expect(waiting(chat)).toEqual(['b'])
  })

  it('[TU14] stopped in the moment of its answer, it is not followed by another', () => {
    const chat = steered('a')
    chat.run(stops)
    expect(typesOf(chat.run(ends('answered')))).toEqual(['turn_finished'])
    expect(waiting(chat)).toEqual(['a'])
  })

  it('[TU14] a turn that is started otherwise takes them along', () => {
    const chat = steered('a')
    chat.run(stops)
    chat.run(ends('stopped'))
    chat.start('turn-2')
    expect(waiting(chat)).toEqual(['a'])
    expect(dataOf(chat.run(delivers('turn-2')), 'message_added')).toMatchObject([{ message_id: 'a' }])
  })

  it('[TU14] it ends even if no turn can be started', () => {
    const chat = steered('a')
    const taken = { ...finishes('turn-1'), next: { turn_id: 'turn-1' } }
    expect(typesOf(chat.run(taken))).toEqual(['turn_finished'])
    expect(waiting(chat)).toEqual(['a'])
  })
})

describe('a message that does not wait', () => {
  it('[TU15] stops the turn, and its end starts the next one, however it ends', () => {
    for (const because of ['stopped', 'answered', 'error'] as const) {
      const chat = steered('a', 'b')
      expect(typesOf(chat.run(sends('b')))).toEqual(['turn_stop_requested', 'queue_released'])
      expect(chat.state.turns.get('turn-1')).toMatchObject({ stop_requested: true, releases_queue: true })
      expect(chat.run(sends('a'))).toEqual([])
      const events = chat.run(ends(because))
      expect(dataOf(events, 'turn_started')).toMatchObject([{ message_id: 'a', continue_turn_id: 'turn-1' }])
      expect(chat.state.turns.get('turn-next')?.releases_queue).toBeUndefined()
    }
  })

  it('[TU15] after a plain stop it only says that they are to be sent', () => {
    const chat = steered('a')
    chat.run(stops)
    expect(typesOf(chat.run(sends('a')))).toEqual(['queue_released'])
  })

  it('[TU15] ends what the turn waits for, as a stop does', () => {
    const chat = underReview('A')
    chat.run(writes('a'))
    const events = chat.run(sends('a'))
    expect(dataOf(events, 'task_create_review_resolved')).toMatchObject([{ action: 'cancel', reason: 'turn_stopped' }])
  })

  it('[TU15] taken back before the end, nothing is started', () => {
    const chat = steered('a')
    chat.run(sends('a'))
    chat.run(takesBack('a'))
    expect(typesOf(chat.run(ends('stopped')))).toEqual(['turn_finished'])
  })

  it('[TU15] whoever writes after a stop is answered, with all that waits', () => {
    const chat = steered('a')
    chat.run(stops)
    expect(typesOf(chat.run(writes('b')))).toEqual(['message_queued', 'queue_released'])
    expect(typesOf(chat.run(writes('c')))).toEqual(['message_queued'])
    const events = chat.run(ends('stopped'))
    expect(dataOf(events, 'turn_started')).toMatchObject([{ message_id: 'a' }])
    expect(waiting(chat)).toEqual(['b', 'c'])
  })

  it('[TU15] and so is whoever writes after the end, behind what waits already', () => {
    const chat = inRun()
    chat.run(ends('answered'))
    const events = chat.run(writes('a'))
    expect(typesOf(events)).toEqual(['message_queued', 'turn_started'])
    expect(events[1]?.data).toMatchObject({ turn_id: 'turn-next', message_id: 'a', continue_turn_id: 'turn-1' })
    const held = steered('a')
    held.run(ends('error'))
    expect(dataOf(held.run(writes('b')), 'turn_started')).toMatchObject([{ message_id: 'a' }])
    expect(waiting(held)).toEqual(['b'])
  })

  it('[TU15] it goes on from the latest turn of ours, also if an agent elsewhere came after it', () => {
    const chat = steered('a')
    chat.run(stops)
    chat.run(ends('stopped'))
    chat.wait(1_000).start('turn-2')
    chat.run({ ...finishes('turn-2', 'error'), next })
    chat.run({ type: 'open_turn', turn_id: 'elsewhere' })
    expect(dataOf(chat.run(sends('a')), 'turn_started')).toMatchObject([{ continue_turn_id: 'turn-2' }])
  })
})

it('[AD1] queueing, editing, taking back and sending now are decisions; delivery is none', () => {
  const chat = steered('a', 'b')
  chat.wait(1).run(edits('a', 1, 'Better'))
  chat.wait(1).run(takesBack('b'))
  chat.wait(1).run(delivers())
  chat.wait(1).run(writes('c'))
  chat.wait(1).run(sends('c'))
  expect(decisionsIn(chat.log).map(({ event }) => event.type)).toEqual([
    'policy_set',
    'turn_started',
    'message_queued',
    'message_queued',
    'queued_message_edited',
    'queued_message_withdrawn',
    'message_queued',
    'turn_stop_requested',
    'queue_released',
  ])
})
