import { describe, expect, it } from 'vitest'
import {
  cancels,
  dataOf,
  type Driver,
  inRun,
  outside,
  SOME_MODEL,
  START,
  starts,
  typesOf,
  underReview,
} from '../../../test/support/domain.ts'
import type { Command, CommandOf } from '../model/command.ts'
import type { Decision } from '../model/review-action.ts'
import { successorOf } from '../model/conversation.ts'
import { plusMs } from '../model/instant.ts'
import type { PolicyPatch } from '../model/policy.ts'
import { isReopenable, type Review } from '../model/review.ts'
import { BY_PLAN } from '../../../test/support/asked-by.ts'

const EXPIRE: Command = { type: 'expire_review', review_id: 'review-1' }
const DRAFT = [
  { title: 'A', details: 'd' },
  { title: 'B', criteria: 'c' },
]

const reopens = (review_id = 'review-1', new_review_id = 'review-2'): Command => ({
  type: 'reopen_review',
  review_id,
  new_review_id,
})

const decides = (chat: Driver, decision: Decision, review_id = 'review-2'): CommandOf<'decide_review'> => ({
  type: 'decide_review',
  review_id,
  decision,
  via: 'http',
  ids: [chat.id(), chat.id()],
  continuation: { turn_id: 'turn-9', message_id: 'message-9' },
})

const reviewOf = (chat: Driver, id = 'review-1'): Review => {
  const review = chat.state.reviews.get(id)
  if (!review) throw new Error(`There is no review ${id}`)
  return review
}

/** An own turn that ended after its review expired. */
function expired(): Driver {
  const chat = underReview(...DRAFT)
  chat.wait(120_000).run(EXPIRE)
  chat.finish('turn-1')
  return chat
}

/** A turn of an agent elsewhere whose review ended in this way. */
function elsewhere(end: Command, host: PolicyPatch = { review_timeout_ms: 120_000 }): Driver {
  const chat = outside('runsheet', { review: true, ...host })
  chat.run(chat.adds('model', ...DRAFT))
  chat.wait(120_000).run(end)
  return chat
}

describe('a review that can be reopened', () => {
  const leave = { review_id: 'review-1', panel: 'p' }
  it.each([
    ['expired', [EXPIRE]],
    ['was cancelled as panel_closed', [{ type: 'show_panel', ...leave }, { type: 'leave_panel', ...leave }, EXPIRE]],
    ['was rejected through an MCP form', [{ ...cancels(), via: 'mcp_form' }]],
    ['was sent back', [{ ...cancels(), decision: { action: 'revise', comment: 'Shorter' } }]],
  ] as [string, Command[]][])('[RE26] %s', (_, ends) => {
    const chat = outside('runsheet', {
      review: true,
      ...(ends.length === 3 ? { panel_grace_ms: 15_000 } : { review_timeout_ms: 15_000 }),
    })
    chat.run(chat.adds('model', ...DRAFT))
    for (const command of ends) chat.wait(command === EXPIRE ? 15_000 : 1).run(command)
    expect(isReopenable(reviewOf(chat))).toBe(true)
    expect(reviewOf(chat).draft_tasks).toMatchObject(DRAFT)
    expect(chat.run(reopens())).toHaveLength(1)
  })

  it('[RE26] comes back with its draft, under a new id, and names the old one, which stays as it ended', () => {
    const chat = expired()
    const asked = dataOf(chat.log, 'task_create_review_required')[0]
    const [event] = chat.wait(500).run(reopens())
    expect(event).toMatchObject({ type: 'task_create_review_required', turn_id: 'turn-1' })
    expect(event?.data).toStrictEqual({
      ...asked,
      review_id: 'review-2',
      tool_call_id: 'review-2',
      reopens: 'review-1',
      expires_at: plusMs(START, 120_000 + 500 + 120_000),
    })
    expect(reviewOf(chat)).toMatchObject({ status: 'expired', successor: 'review-2', draft_tasks: [] })
    expect(reviewOf(chat, 'review-2')).toMatchObject({ status: 'pending', draft_tasks: DRAFT })
    expect(chat.state.pending_reviews).toEqual(['review-2'])
  })

  it('[RE26] has the deadline that the policy gives now', () => {
    const chat = expired()
    chat.run({ type: 'set_policy', by: 'person', policy: { review_timeout_ms: null } })
    chat.run(reopens())
    expect(reviewOf(chat, 'review-2')).toMatchObject({ timeout_ms: null, expires_at: null })
  })

  it('[RE26] may be overdue without that being written: then it is written first', () => {
    const chat = outside('runsheet', { review: true, review_timeout_ms: 1_000 })
    chat.run(chat.adds('model', 'A'))
    const events = chat.wait(1_000).run(reopens())
    expect(typesOf(events)).toEqual(['task_create_review_resolved', 'task_create_review_required'])
    expect(dataOf(events, 'task_create_review_resolved')[0]).toMatchObject({ reason: 'review_timeout', via: 'system' })
  })

  it('[RE26] is reopened once; its successor may end and be reopened again', () => {
    const chat = expired()
    chat.run(reopens())
    const refusal = chat.refusal(reopens('review-1', 'review-3'))
    expect([refusal.code, refusal.data]).toMatchObject(['review_not_reopenable', { successor: 'review-2' }])
    chat.wait(120_000).run({ type: 'expire_review', review_id: 'review-2' })
    chat.run(reopens('review-2', 'review-3'))
    expect(reviewOf(chat, 'review-3')).toMatchObject({ status: 'pending', reopens: 'review-2', draft_tasks: DRAFT })
  })
})

describe('a plan that was sent back', () => {
  const sentBack = (): Driver => {
    const chat = underReview(...DRAFT)
    chat.run(decides(chat, { action: 'revise', comment: 'Shorter' }, 'review-1'))
    return chat
  }

  it('[RE26] can be reopened once its turn ended without another plan, and goes on in a new one', () => {
    const chat = sentBack()
    expect(chat.refusal(reopens()).code).toBe('turn_running')
    chat.finish('turn-1')
    chat.run(reopens())
    expect(reviewOf(chat, 'review-2')).toMatchObject({ status: 'pending', reopens: 'review-1', draft_tasks: DRAFT })
    chat.run(decides(chat, { action: 'confirm', tasks: [{ draft_index: 0 }, { draft_index: 1 }] }))
    expect([chat.titles('turn-9'), chat.state.running_turn]).toEqual([['A', 'B'], 'turn-9'])
  })

  it('[RE26] cannot once a plan revises it: that one counts', () => {
    const chat = sentBack()
    chat.run({ ...chat.adds('model', 'A'), review: { ...BY_PLAN, review_id: 'review-3', tool_call_id: 'call-3' } })
    chat.finish('turn-1')
    const refusal = chat.refusal(reopens())
    expect([refusal.code, refusal.data]).toMatchObject(['review_not_reopenable', { successor: 'review-3' }])
  })
})

describe('a review that cannot be reopened', () => {
  it.each([
    ['pending', undefined],
    ['confirmed', { action: 'confirm', tasks: [{ draft_index: 0 }] }],
    ['cancelled', { action: 'cancel' }],
    ['cancelled', { action: 'cancel', reason: 'review_timeout' }],
  ] as [string, Decision | undefined][])('[RE26] is %s by a decision of %j', (status, decision) => {
    const chat = outside('runsheet', { review: true })
    chat.run(chat.adds('model', 'A'))
    if (decision) chat.run(decides(chat, decision, 'review-1'))
    const refusal = chat.refusal(reopens())
    expect([refusal.code, refusal.data]).toMatchObject(['review_not_reopenable', { review_id: 'review-1', status }])
    if (decision) expect(reviewOf(chat).draft_tasks).toEqual([])
  })

  it('[RE26] has ended with its turn, or does not exist', () => {
    const chat = underReview('A')
    chat.run({ type: 'stop_turn', turn_id: 'turn-1' })
    expect(chat.refusal(reopens()).code).toBe('review_not_reopenable')
    expect(chat.refusal(reopens('review-7')).code).toBe('review_not_found')
    expect(expired().refusal(reopens('review-1', 'review-1')).code).toBe('invalid_id')
  })

  it('[RE26] belongs to a turn that still runs: its model goes on already', () => {
    const chat = underReview('A')
    chat.wait(120_000).run(EXPIRE)
    expect(chat.refusal(reopens()).code).toBe('turn_running')
    chat.finish('turn-1')
    chat.run(reopens())
  })
})

describe('a reopened plan of an own turn that is over', () => {
  it('is confirmed: its tasks are written and a new turn goes on with them, in one commit', () => {
    const chat = expired()
    chat.run(reopens())
    const tasks = [{ draft_index: 0, title: 'A2' }, { draft_index: 1 }]
    const events = chat.run(decides(chat, { action: 'confirm', tasks, comment: ' Be quick ' }))
    expect(typesOf(events)).toEqual(['task_created', 'task_created', 'task_create_review_resolved', 'turn_started'])
    expect(dataOf(events, 'task_create_review_resolved')[0]).toMatchObject({
      action: 'confirm',
      created_count: 2,
      continued_by: 'turn-9',
    })
    expect(dataOf(events, 'turn_started')[0]).toMatchObject({
      turn_id: 'turn-9',
      message_id: 'message-9',
      message: 'Go on with the plan I approved. Be quick',
      model: SOME_MODEL,
      continue_turn_id: 'turn-1',
    })
    expect(chat.titles('turn-9')).toEqual(['A2', 'B'])
    expect(chat.statuses('turn-9')).toEqual(['in_progress', 'pending'])
    expect(chat.task(1)).toMatchObject({ conversation_turn_id: 'turn-1', plan_id: 'turn-1' })
    expect(chat.state.running_turn).toBe('turn-9')
    expect(chat.state.unheard_reviews).toEqual(['review-1'])
  })

  it('is sent back: a new turn is told what to change, with the edited rows in their order', () => {
    const chat = expired()
    chat.run(reopens())
    const tasks = [{ title: 'First' }, { draft_index: 1 }]
    const events = chat.run(decides(chat, { action: 'revise', comment: 'No A, please', tasks }))
    expect(typesOf(events)).toEqual(['task_create_review_resolved', 'turn_started'])
    expect(dataOf(events, 'turn_started')[0]).toMatchObject({
      message: 'Change the plan: No A, please\nMy version of it:\n- First\n- B',
      continue_turn_id: 'turn-1',
    })
    expect(chat.titles()).toEqual([])
  })

  it('is cancelled: no turn is started', () => {
    const chat = expired()
    chat.run(reopens())
    expect(typesOf(chat.run(decides(chat, { action: 'cancel' })))).toEqual(['task_create_review_resolved'])
    expect(chat.state.running_turn).toBeNull()
  })

  it('waits while another turn runs: nothing is written, and the review stays pending', () => {
    const chat = expired()
    chat.run(reopens())
    chat.run(starts('turn-2'))
    const confirm = (): Command => decides(chat, { action: 'confirm', tasks: [{ draft_index: 0 }] })
    expect(chat.refusal(confirm()).data).toMatchObject({ turn_id: 'turn-2' })
    expect(chat.refusal(confirm()).code).toBe('turn_running')
    expect(reviewOf(chat, 'review-2').status).toBe('pending')
    chat.finish('turn-2')
    chat.run(confirm())
    expect(chat.titles('turn-9')).toEqual(['A'])
  })
})

describe('a reopened plan of an agent elsewhere', () => {
  it('is confirmed in the turn that asked; no turn is started', () => {
    const chat = elsewhere(EXPIRE)
    chat.run(reopens())
    chat.run(decides(chat, { action: 'confirm', tasks: [{ draft_index: 0 }, { draft_index: 1 }] }))
    expect(chat.titles('turn-1')).toEqual(['A', 'B'])
    expect(chat.state.running_turn).toBeNull()
    expect(chat.state.unheard_reviews).toEqual(['review-1', 'review-2'])
  })

  it('an answer that carries its outcome counts as heard', () => {
    const chat = elsewhere(EXPIRE)
    chat.run(reopens())
    chat.run(decides(chat, { action: 'cancel' }))
    const data = { tool_call_id: 'call-9', tool: 'tasks', result: {}, duration_ms: 1, ok: true, review_id: 'review-2' }
    chat.run({ type: 'record', turn_id: 'turn-1', fact: { type: 'tool_answered', data } })
    expect(chat.state.unheard_reviews).toEqual(['review-1'])
  })
})

describe('the review to wait for', () => {
  const plan = (chat: Driver, review_id: string, tool_call_id: string): Command => ({
    ...chat.adds('model', 'A'),
    review: { ...BY_PLAN, review_id, tool_call_id },
  })

  it('is the one that reopens it, and the one that reopens that', () => {
    const chat = elsewhere(EXPIRE)
    expect(successorOf(chat.state, 'review-1')).toBe('review-1')
    chat.run(reopens())
    expect(successorOf(chat.state, 'review-1')).toBe('review-2')
    chat.wait(120_000).run(reopens('review-2', 'review-3'))
    expect(successorOf(chat.state, 'review-1')).toBe('review-3')
    expect(successorOf(chat.state, 'nowhere')).toBe('nowhere')
  })

  it('is the one that revises it, once the agent has heard that it was sent back', () => {
    const chat = outside('runsheet', { review: true })
    chat.run(plan(chat, 'review-1', 'call-1'))
    chat.run(decides(chat, { action: 'revise', comment: 'Shorter' }, 'review-1'))
    chat.run(plan(chat, 'review-2', 'call-2'))
    expect(reviewOf(chat, 'review-2').revises).toBe('review-1')
    expect(successorOf(chat.state, 'review-1')).toBe('review-1')
    chat.answer()
    expect(chat.state.unheard_reviews).toEqual([])
    expect(successorOf(chat.state, 'review-1')).toBe('review-2')
  })
})

it('only a turn that is driven here has a model', () => {
  const chat = inRun()
  expect(chat.state.turns.get('turn-1')?.model).toBe(SOME_MODEL)
  expect(outside().state.turns.get('turn-1')?.model).toBeUndefined()
})
