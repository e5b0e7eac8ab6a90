import { planOf } from './plan.ts'
import { describe, expect, it } from 'vitest'
import { Driver, inRun, plain, START, underReview } from '../../../test/support/domain.ts'
import {
  apply,
  currentTask,
  emptyConversation,
  fold,
  listed,
  nextDeadline,
  openTasks,
  stamped,
} from './conversation.ts'
import type { StoredEvent } from './event.ts'

describe('the log', () => {
  it('[EV1] counts 1, 2, 3 … over all commands', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A', 'B'))
    chat.run(chat.sets('person', 1, { status: 'completed' }))
    expect(chat.log.map(event => event.seq)).toEqual(chat.log.map((_, index) => index + 1))
    expect(chat.state.seq).toBe(chat.log.length)
  })

  it('[EV1] state is the fold of it', () => {
    const chat = underReview('A', 'B')
    chat.wait(10).run(chat.confirms([{ draft_index: 1 }]))
    chat.wait(10).finish('turn-1')
    expect(plain(fold(emptyConversation('chat-1'), chat.log))).toStrictEqual(plain(chat.state))
  })

  it('[EV2] an event carries its conversation, its turn and its moment', () => {
    const chat = new Driver()
    chat.wait(1_500).start('turn-1')
    const policy = { type: 'policy_set', seq: 1, turn_id: 'turn-1', session_id: 'chat-1' }
    expect(chat.log[0]).toMatchObject({ ...policy, timestamp: '2026-11-02T09:00:01.500Z' })
    expect(Object.keys(chat.log[0] ?? {}).sort()).toEqual(['data', 'seq', 'session_id', 'timestamp', 'turn_id', 'type'])
  })

  it('[EV1] created_at is when the first event was, updated_at the last', () => {
    const chat = inRun()
    chat.wait(5_000).run(chat.adds('model', 'A'))
    expect(chat.state.created_at).toBe(START)
    expect(chat.state.updated_at).toBe('2026-11-02T09:00:05.000Z')
  })

  it('[EV3] a type that only a newer version knows advances the seq and changes nothing else', () => {
    const { state } = inRun()
    const later: object = {
      type: 'task_praised',
      seq: 3,
      timestamp: START,
      session_id: 'chat-1',
      turn_id: null,
      data: {},
    }
    const after = apply(state, later as StoredEvent)
    expect(plain(after)).toStrictEqual(plain({ ...state, seq: 3 }))
  })

  it('[EV1] an event about a turn or a review that is not there changes neither', () => {
    const { state } = inRun()
    const event = { seq: 3, timestamp: START, session_id: 'chat-1', turn_id: 'turn-9' } as const
    const finished = { type: 'turn_stop_requested', data: { turn_id: 'turn-9' }, ...event } as const
    const left = { type: 'review_panel_left', data: { review_id: 'nowhere', panel: 'p' }, ...event } as const
    for (const unknown of [finished, left])
      expect(plain(apply(state, unknown))).toStrictEqual(plain({ ...state, seq: 3 }))
  })

  it('[EV1] decided events get the places behind the last one', () => {
    const { state } = inRun()
    const stop = { type: 'turn_stop_requested', turn_id: 'turn-1', data: { turn_id: 'turn-1' } } as const
    expect(stamped(state, [stop, stop], START).map(event => event.seq)).toEqual([state.seq + 1, state.seq + 2])
  })
})

describe('reading the state', () => {
  const twoPlans = (): Driver => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A', 'B'))
    chat.run(chat.sets('person', 1, { status: 'blocked' }))
    chat.finish('turn-1')
    chat.start('turn-2')
    chat.run(chat.adds('model', 'C', { title: 'D', status: 'completed' }, 'E'))
    return chat
  }

  it('[TA3] remaining is the number of open tasks, of a plan or of the conversation', () => {
    const { state } = twoPlans()
    expect(openTasks(state).map(task => task.title)).toEqual(['B', 'C', 'E'])
    expect(openTasks(state, 'turn-1').map(task => task.title)).toEqual(['B'])
    expect(openTasks(state, 'turn-2').map(task => task.title)).toEqual(['C', 'E'])
  })

  it('[PL1] a plan is the tasks that the turn made', () => {
    const { state } = twoPlans()
    expect(listed(state, 'turn-2').map(task => task.title)).toEqual(['C', 'D', 'E'])
    expect(listed(state).map(task => task.title)).toEqual(['A', 'B', 'C', 'D', 'E'])
  })

  it('[CU1] each plan has its own current task', () => {
    const { state } = twoPlans()
    expect(currentTask(state, 'turn-1')?.title).toBe('B')
    expect(currentTask(state, 'turn-2')?.title).toBe('C')
    expect(currentTask(state, 'turn-3')).toBeUndefined()
  })

  it('the counts tell by status what became of a plan, the removed ones included', () => {
    const chat = twoPlans()
    chat.run(chat.removes('person', 5))
    chat.run(chat.sets('person', 3, { status: 'cancelled' }))
    expect(planOf(chat.state, 'turn-1').counts).toEqual({
      completed: 0,
      blocked: 1,
      disputed: 0,
      cancelled: 0,
      removed: 0,
      open: 1,
    })
    expect(planOf(chat.state, 'turn-2').counts).toEqual({
      completed: 1,
      blocked: 0,
      disputed: 0,
      cancelled: 1,
      removed: 1,
      open: 0,
    })
    expect(planOf(chat.state, 'turn-9').counts).toEqual({
      completed: 0,
      blocked: 0,
      disputed: 0,
      cancelled: 0,
      removed: 0,
      open: 0,
    })
  })

  it('the next deadline is that of the review which is due first', () => {
    const chat = underReview('A')
    expect(nextDeadline(inRun().state)).toBeUndefined()
    const patient = inRun({ review: true })
    patient.run(patient.adds('model', 'A'))
    expect(nextDeadline(patient.state)).toBeUndefined()
    expect(nextDeadline(chat.state)).toBe('2026-11-02T09:02:00.000Z')
    chat.run({ type: 'show_panel', review_id: 'review-1', panel: 'p' })
    chat.run({ type: 'leave_panel', review_id: 'review-1', panel: 'p' })
    expect(nextDeadline(chat.state)).toBe('2026-11-02T09:00:15.000Z')
  })
})
