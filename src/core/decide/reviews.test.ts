import { describe, expect, it } from 'vitest'
import {
  authors,
  cancels,
  dataOf,
  type Driver,
  idOf,
  inRun,
  outside,
  plain,
  START,
  typesOf,
  underReview,
} from '../../../test/support/domain.ts'
import type { Command } from '../model/command.ts'
import type { Decision } from '../model/review-action.ts'
import type { ToolsetName } from '../model/policy.ts'
import type { SubmittedRow } from '../model/review.ts'
import { BY_PLAN } from '../../../test/support/asked-by.ts'

const LATER = '2026-11-02T09:00:01.000Z'
const show = (panel: string) => ({ type: 'show_panel', review_id: 'review-1', panel }) as const
const leave = (panel: string) => ({ type: 'leave_panel', review_id: 'review-1', panel }) as const
const EXPIRE = { type: 'expire_review', review_id: 'review-1' } as const
const resolution = (chat: Driver) => dataOf(chat.log, 'task_create_review_resolved').at(-1)
const status = (chat: Driver) => chat.state.reviews.get('review-1')?.status

describe('a review', () => {
  it('[RE1] is asked for with everything that a person needs to decide', () => {
    const chat = inRun({ review: true, review_timeout_ms: 60_000 })
    chat.run(chat.adds('person', 'Parent'))
    const create = [
      {
        id: chat.id(),
        title: ' A ',
        details: 'd',
        criteria: 'c',
        priority: 'high',
        status: 'in_progress',
        tags: ['x'],
      },
      { id: chat.id(), title: 'B', agent_type: 'tester', parent_id: idOf(1), order: 1, status: 'completed' },
      { id: chat.id(), title: 'C', status: 'blocked' },
    ] as const
    const sources = { source_user_message_id: 'u', source_assistant_message_id: 'a' }
    const events = chat.run(chat.edits('model', { create, ...sources }))
    const blank = { details: '', criteria: '', priority: 'medium', tags: [] }
    expect(events).toMatchObject([{ type: 'task_create_review_required', turn_id: 'turn-1' }])
    expect(events[0]?.data).toStrictEqual({
      review_id: 'review-1',
      status: 'pending',
      session_id: 'chat-1',
      conversation_turn_id: 'turn-1',
      tool_call_id: 'call-1',
      ...BY_PLAN,
      draft_tasks: [
        { title: 'A', details: 'd', criteria: 'c', priority: 'high', status: 'doing', tags: ['x'] },
        { ...blank, title: 'B', status: 'done', agent_type: 'tester', parent_id: idOf(1), order: 1 },
        { ...blank, title: 'C', status: 'blocked' },
      ],
      timeout_ms: 60_000,
      expires_at: '2026-11-02T09:01:00.000Z',
      ...sources,
    })
  })

  it('[RE1] nothing is written before an explicit confirm', () => {
    const chat = underReview('A')
    expect(chat.titles()).toEqual([])
    expect(chat.state.last_number).toBe(0)
    chat.run(show('p'))
    chat.run(cancels())
    expect(typesOf(chat.log)).not.toContain('task_created')
  })

  it('is refused where its open tasks would be too many', () => {
    const chat = inRun({ review: true })
    chat.run(chat.adds('file', ...Array.from({ length: 999 }, (_, index) => `Task ${index}`)))
    expect(chat.refusal(chat.adds('model', 'A', 'B')).code).toBe('too_many_open')
    chat.run(chat.adds('model', 'A', { title: 'B', status: 'completed' }))
  })

  it('a confirm that would be too many by then is refused, and the review stays pending', () => {
    const chat = underReview('A')
    chat.run(chat.adds('file', ...Array.from({ length: 1_000 }, (_, index) => `Task ${index}`)))
    expect(chat.refusal(chat.confirms([{ draft_index: 0 }])).code).toBe('too_many_open')
    expect(status(chat)).toBe('pending')
    chat.run(chat.confirms([{ draft_index: 0, status: 'done' }]))
  })

  it('[BA2] holds a batch that is valid to begin with', () => {
    const chat = inRun({ review: true })
    const refusal = chat.refusal(chat.adds('model', 'A', ''))
    expect([refusal.code, refusal.data]).toMatchObject(['invalid_field', { row: 1, field: 'title' }])
    const two = chat.adds('model', { title: 'A', status: 'in_progress' }, { title: 'B', status: 'in_progress' })
    expect(chat.refusal(two).code).toBe('two_in_progress')
    expect(chat.state.pending_reviews).toEqual([])
  })
})

describe('a confirm', () => {
  it('[RE2] writes the edited rows, not the draft', () => {
    const chat = underReview({ title: 'A', details: 'd', tags: ['x'] }, 'B')
    const rows: SubmittedRow[] = [
      { title: 'New', criteria: 'c' },
      { draft_index: 0, title: 'A2' },
    ]
    const events = chat.wait(1_000).run(chat.confirms(rows))
    expect(typesOf(events)).toEqual(['task_created', 'task_created', 'task_create_review_resolved'])
    expect(chat.titles()).toEqual(['New', 'A2'])
    expect(chat.task(1)).toMatchObject({ criteria: 'c', status: 'in_progress', priority: 'medium', created_at: LATER })
    expect(chat.task(2)).toMatchObject({ details: 'd', tags: ['x'], status: 'pending', conversation_turn_id: 'turn-1' })
    expect(authors(events)).toEqual([
      [1, 'person'],
      [2, 'person'],
    ])
    expect(events.map(event => event.turn_id)).toEqual(['turn-1', 'turn-1', 'turn-1'])
  })

  it('that is refused names row and field, writes nothing, and leaves the review pending', () => {
    const chat = underReview('A', 'B')
    const before = plain(chat.state)
    const refusal = chat.refusal(chat.confirms([{ draft_index: 0 }, { draft_index: 1, title: 'x'.repeat(401) }]))
    expect([refusal.code, refusal.data]).toMatchObject(['invalid_field', { row: 1, field: 'title' }])
    expect(chat.refusal(chat.confirms([])).code).toBe('batch_empty')
    expect(
      chat.refusal(
        chat.confirms([
          { draft_index: 0, status: 'doing' },
          { title: 'C', status: 'doing' },
        ]),
      ).code,
    ).toBe('two_in_progress')
    expect(plain(chat.state)).toStrictEqual(before)
    chat.run(chat.confirms([{ draft_index: 0 }]))
    expect(status(chat)).toBe('confirmed')
  })

  it('rows with a draft_index are made by the tool, the others by the user', () => {
    const chat = underReview('A')
    chat.run(chat.confirms([{ draft_index: 0, title: 'A2' }, { title: 'New' }]))
    expect([chat.task(1).created_by, chat.task(2).created_by]).toEqual(['tool', 'user'])
  })

  it('rows that are done or blocked need no outcome, and are judged by the person', () => {
    const chat = underReview({ title: 'A', status: 'completed' }, 'B')
    chat.run(
      chat.confirms([{ draft_index: 0 }, { draft_index: 1, status: 'blocked' }, { title: 'C', status: 'doing' }]),
    )
    expect([1, 2, 3].map(number => chat.task(number))).toMatchObject([
      { status: 'completed', judged_by: 'person', completed_at: START },
      { status: 'blocked', judged_by: 'person' },
      { status: 'in_progress', judged_by: null, started_at: START },
    ])
    expect(chat.task(1)).not.toHaveProperty('outcome')
  })

  it('also under an assessor', () => {
    const chat = inRun({ review: true, assessor: true })
    chat.run(chat.adds('model', 'A'))
    chat.run(chat.confirms([{ draft_index: 0, status: 'done' }]))
    expect(chat.task(1)).toMatchObject({ status: 'completed', judged_by: 'person' })
  })

  it('[RE9] reports what changed; activating a row is not a change', () => {
    const chat = underReview('A', 'B')
    chat.run(chat.confirms([{ draft_index: 0 }, { draft_index: 1, title: 'B2' }, { title: 'C' }]))
    expect(chat.statuses()).toEqual(['in_progress', 'pending', 'pending'])
    const blank = { details: '', criteria: '', priority: 'medium', status: 'todo', tags: [] }
    expect(resolution(chat)).toStrictEqual({
      review_id: 'review-1',
      action: 'confirm',
      via: 'http',
      created_count: 3,
      changes: {
        kept: [{ ...blank, title: 'A' }],
        edited: [{ from: { ...blank, title: 'B' }, to: { ...blank, title: 'B2' } }],
        added: [{ ...blank, title: 'C' }],
        removed: [],
        reordered: false,
      },
      tasks: [
        { task_id: chat.task(1).id, change: 'kept', draft_index: 0 },
        { task_id: chat.task(2).id, change: 'edited', draft_index: 1 },
        { task_id: chat.task(3).id, change: 'added' },
      ],
    })
  })

  it('[CU1] with a doing row returns the current task to pending, by the system', () => {
    const chat = inRun({ review: true })
    chat.run(chat.adds('person', 'Now'))
    chat.run(chat.adds('model', 'A'))
    const events = chat.run(chat.confirms([{ draft_index: 0, status: 'doing' }]))
    expect(chat.statuses()).toEqual(['pending', 'in_progress'])
    expect(authors(events)).toEqual([
      [2, 'person'],
      [1, 'system'],
    ])
  })

  it('an order that was asked for holds unless the person reordered the rows', () => {
    const planned = (): Driver => {
      const chat = inRun({ review: true })
      chat.run(chat.adds('person', 'Now'))
      chat.run(chat.adds('model', 'A', { title: 'B', order: 1 }))
      return chat
    }
    const kept = planned()
    kept.run(kept.confirms([{ draft_index: 0 }, { draft_index: 1 }]))
    expect(kept.titles()).toEqual(['B', 'Now', 'A'])
    const reordered = planned()
    reordered.run(reordered.confirms([{ draft_index: 1 }, { draft_index: 0 }]))
    expect(reordered.titles()).toEqual(['Now', 'B', 'A'])
  })

  it('a parent that is gone by then is left out', () => {
    const chat = inRun({ review: true })
    chat.run(chat.adds('person', 'P', 'Q'))
    chat.run(chat.adds('model', { title: 'A', parent_id: idOf(1) }, { title: 'B', parent_id: idOf(2) }))
    chat.run(chat.removes('person', 1))
    chat.run(chat.confirms([{ draft_index: 0 }, { draft_index: 1 }]))
    expect(chat.task(3)).not.toHaveProperty('parent_id')
    expect(chat.task(4).parent_id).toBe(idOf(2))
  })

  it('carries agent type and sources of the draft along', () => {
    const chat = inRun({ review: true })
    const create = [{ id: chat.id(), title: 'A', agent_type: 'tester' }]
    chat.run(chat.edits('model', { create, source_user_message_id: 'u', source_assistant_message_id: 'a' }))
    chat.run(chat.confirms([{ draft_index: 0 }]))
    expect(chat.task(1)).toMatchObject({
      agent_type: 'tester',
      source_user_message_id: 'u',
      source_assistant_message_id: 'a',
    })
  })

  it('[ID2] needs as many ids as it has rows', () => {
    const chat = underReview('A', 'B')
    const refusal = chat.refusal(chat.confirms([{ draft_index: 0 }, { draft_index: 1 }], { ids: [idOf(1)] }))
    expect(refusal.code).toBe('invalid_id')
  })

  it('keeps the comment and the channel of the decision', () => {
    const chat = underReview('A')
    chat.run(
      chat.confirms([{ draft_index: 0 }], {
        via: 'mcp_form',
        decision: { action: 'confirm', tasks: [{ draft_index: 0 }], comment: ' go\r\n' },
        ids: [idOf(9)],
      }),
    )
    expect(resolution(chat)).toMatchObject({ comment: 'go', via: 'mcp_form' })
  })
})

describe('a cancel', () => {
  it('without a reason is user_cancelled', () => {
    const chat = underReview('A')
    chat.run(cancels())
    expect(resolution(chat)).toStrictEqual({
      review_id: 'review-1',
      action: 'cancel',
      reason: 'user_cancelled',
      via: 'http',
      created_count: 0,
    })
    expect(status(chat)).toBe('cancelled')
    expect(chat.state.pending_reviews).toEqual([])
  })

  it('keeps reason and comment', () => {
    const chat = underReview('A')
    chat.run(cancels({ reason: 'panel_closed', comment: 'Not\tnow' }))
    expect(resolution(chat)).toMatchObject({ reason: 'panel_closed', comment: 'Not\tnow' })
  })

  it('[RE10] by a person is cancelled whatever the reason: only the clock lets a review expire', () => {
    const chat = underReview('A')
    chat.run(cancels({ reason: 'review_timeout' }))
    expect([...chat.state.reviews.values()].map(({ status }) => status)).toEqual(['cancelled'])
    expect(chat.refusal(cancels({})).code).toBe('review_already_decided')
  })

  it('keeps how long it was held back, up to a minute', () => {
    const held = (held_ms: number): Command => ({ ...cancels(), decision: { action: 'cancel', held_ms } })
    const chat = underReview('A')
    for (const ms of [-1, 0.5, 60_001, Number.NaN]) {
      expect(chat.refusal(held(ms)).data).toMatchObject({ field: 'held_ms' })
    }
    chat.run(held(10_000))
    expect(resolution(chat)).toMatchObject({ reason: 'user_cancelled', held_ms: 10_000 })
  })

  it('with words that are too long or broken is refused, and the review waits on', () => {
    const chat = underReview('A')
    expect(chat.refusal(cancels({ reason: ' ' })).data).toMatchObject({ field: 'reason' })
    expect(chat.refusal(cancels({ comment: 'x'.repeat(8_001) })).data).toMatchObject({ field: 'comment' })
    expect(chat.refusal(cancels({ comment: '\ud83d' })).data).toMatchObject({ field: 'comment' })
    expect(status(chat)).toBe('pending')
  })
})

describe('a plan that is sent back', () => {
  const revises = (decision: Partial<Extract<Decision, { action: 'revise' }>> = {}): Command => ({
    type: 'decide_review',
    review_id: 'review-1',
    decision: { action: 'revise', comment: 'Fewer steps', ...decision },
    via: 'http',
    ids: [],
  })

  it('[RE22] is cancelled as changes_requested, with the comment', () => {
    const chat = underReview('A')
    chat.run(revises({ comment: ' Fewer\r\nsteps ' }))
    expect(resolution(chat)).toStrictEqual({
      review_id: 'review-1',
      action: 'cancel',
      reason: 'changes_requested',
      comment: 'Fewer\nsteps',
      via: 'http',
      created_count: 0,
    })
    expect(status(chat)).toBe('cancelled')
    expect(chat.refusal(revises()).code).toBe('review_already_decided')
  })

  it('[RE22] records what the person did to the rows, and writes none of them', () => {
    const chat = underReview('A', 'B')
    chat.run(revises({ tasks: [{ draft_index: 1, title: 'B2' }, { title: 'C' }] }))
    expect(resolution(chat)?.changes).toMatchObject({
      kept: [],
      edited: [{ from: { title: 'B' }, to: { title: 'B2' } }],
      added: [{ title: 'C' }],
      removed: [{ title: 'A' }],
      reordered: false,
    })
    expect(chat.titles()).toEqual([])
  })

  it('[RE22] needs words, and valid rows: otherwise it waits on', () => {
    const chat = underReview('A')
    for (const comment of ['', ' \n', 7 as unknown as string]) {
      const refusal = chat.refusal(revises({ comment }))
      expect([refusal.code, refusal.data]).toMatchObject(['invalid_field', { field: 'comment' }])
    }
    expect(chat.refusal(revises({ tasks: [] })).code).toBe('batch_empty')
    expect(chat.refusal(revises({ tasks: [{ title: ' ' }] })).data).toMatchObject({ row: 0, field: 'title' })
    expect(status(chat)).toBe('pending')
  })

  it('[RE22] is named by the next review of its turn, and by that one only', () => {
    const chat = underReview('A')
    chat.run(revises())
    for (const review_id of ['review-2', 'review-3']) {
      chat.run({ ...chat.adds('model', 'A'), review: { ...BY_PLAN, review_id, tool_call_id: review_id } })
      chat.run({ ...cancels(), review_id })
    }
    const reviews = ['review-1', 'review-2', 'review-3'].map(id => chat.state.reviews.get(id))
    expect(reviews.map(review => review?.revises)).toEqual([undefined, 'review-1', undefined])
    expect(reviews.map(review => review?.successor)).toEqual(['review-2', undefined, undefined])
  })

  it('[RE22] is not named by a review of another turn', () => {
    const chat = underReview('A')
    chat.run(revises())
    chat.finish('turn-1')
    chat.start('turn-2')
    chat.run({ ...chat.adds('model', 'A'), review: { ...BY_PLAN, review_id: 'review-2', tool_call_id: 'call-2' } })
    expect(chat.state.reviews.get('review-2')).not.toHaveProperty('revises')
  })
})

describe('many plans in one turn', () => {
  const propose = (chat: Driver, review_id: string, toolset: ToolsetName = 'runsheet'): Command => ({
    ...chat.adds('model', 'A'),
    review: { ...BY_PLAN, review_id, tool_call_id: review_id, toolset },
  })

  it('[RE24] from outside: a newer one supersedes one that still waits, in the same commit', () => {
    const chat = outside('runsheet', { review: true })
    chat.run(propose(chat, 'review-1'))
    const events = chat.run(propose(chat, 'review-2'))
    expect(typesOf(events)).toEqual(['task_create_review_resolved', 'task_create_review_required'])
    expect(resolution(chat)).toStrictEqual({
      review_id: 'review-1',
      action: 'cancel',
      reason: 'superseded',
      via: 'system',
      created_count: 0,
    })
    expect(chat.state.pending_reviews).toEqual(['review-2'])
    expect(chat.refusal(chat.confirms([{ draft_index: 0 }])).code).toBe('review_already_decided')
  })

  it('[RE24] one that was overdue by then has expired', () => {
    const chat = outside('runsheet', { review: true, review_timeout_ms: 1_000 })
    chat.run(propose(chat, 'review-1'))
    chat.wait(1_000).run(propose(chat, 'review-2'))
    expect(resolution(chat)?.reason).toBe('review_timeout')
  })

  it('[RE24] a plan of another turn waits on, and so do the single tasks of task_list', () => {
    const chat = outside('runsheet', { review: true })
    chat.run(propose(chat, 'review-1'))
    chat.run({ type: 'open_turn', turn_id: 'turn-2' })
    chat.run(propose(chat, 'review-2'))
    expect(chat.state.pending_reviews).toEqual(['review-1', 'review-2'])
    const list = outside('task_list', { review: true })
    for (const id of ['review-1', 'review-2']) list.run(propose(list, id, 'task_list'))
    expect(list.state.pending_reviews).toEqual(['review-1', 'review-2'])
  })

  it('a model may propose 20, and is then told to go on', () => {
    const chat = inRun({ review: true })
    for (let n = 1; n <= 20; n += 1) {
      chat.run(propose(chat, `review-${n}`))
      chat.run({ ...cancels(), review_id: `review-${n}` })
    }
    const refusal = chat.refusal(propose(chat, 'review-21'))
    expect([refusal.code, refusal.data]).toEqual(['too_many_reviews', { limit: 20 }])
    expect(refusal.message).toContain('already proposed 20 plans')
    chat.finish('turn-1')
    chat.start('turn-2')
    chat.run(propose(chat, 'review-21'))
  })

  it('those that a person reopened do not count', () => {
    const chat = outside('runsheet', { review: true, review_timeout_ms: 1 })
    for (let n = 1; n <= 19; n += 1) chat.wait(1).run(propose(chat, `review-${n}`))
    chat.wait(1).run({ type: 'reopen_review', review_id: 'review-19', new_review_id: 'again' })
    chat.wait(1).run(propose(chat, 'review-20'))
    expect(chat.wait(1).refusal(propose(chat, 'review-21')).code).toBe('too_many_reviews')
  })
})

describe('a review without a deadline', () => {
  const DAYS = 400 * 86_400_000

  it('[RE20] waits until it is decided', () => {
    const chat = inRun({ review: true })
    chat.run(chat.adds('model', 'A'))
    expect(chat.state.reviews.get('review-1')).toMatchObject({ timeout_ms: null, expires_at: null })
    expect(chat.wait(DAYS).run(EXPIRE)).toEqual([])
    chat.run(chat.confirms([{ draft_index: 0 }]))
    expect(chat.titles()).toEqual(['A'])
  })

  it('[RE20] is not closed with its last panel', () => {
    const chat = inRun({ review: true })
    chat.run(chat.adds('model', 'A'))
    chat.run(show('p'))
    chat.run(leave('p'))
    expect(chat.state.reviews.get('review-1')?.closes_at).toBeNull()
    expect(chat.wait(DAYS).run(EXPIRE)).toEqual([])
    expect(status(chat)).toBe('pending')
  })

  it('[RE20] is closed with its last panel where the policy has a grace', () => {
    const chat = inRun({ review: true, panel_grace_ms: 15_000 })
    chat.run(chat.adds('model', 'A'))
    chat.run(show('p'))
    chat.run(leave('p'))
    chat.wait(15_000).run(EXPIRE)
    expect(resolution(chat)?.reason).toBe('panel_closed')
  })

  it('[RE20] may have a deadline without a grace', () => {
    const chat = inRun({ review: true, review_timeout_ms: 15_000 })
    chat.run(chat.adds('model', 'A'))
    chat.run(show('p'))
    chat.run(leave('p'))
    chat.wait(15_000).run(EXPIRE)
    expect(resolution(chat)?.reason).toBe('review_timeout')
  })
})

describe('one decision wins', () => {
  it('[RE10] another one is review_already_decided, whatever it is', () => {
    const confirmed = underReview('A')
    confirmed.run(confirmed.confirms([{ draft_index: 0 }]))
    expect(confirmed.refusal(cancels()).code).toBe('review_already_decided')
    expect(confirmed.refusal(confirmed.confirms([{ title: 'B' }])).code).toBe('review_already_decided')
    expect(confirmed.titles()).toEqual(['A'])
    const cancelled = underReview('A')
    cancelled.run(cancels())
    expect(cancelled.refusal(cancelled.confirms([{ draft_index: 0 }])).code).toBe('review_already_decided')
  })

  it('[RE10] after the timeout it is review_expired, and stays so once that is written', () => {
    const chat = underReview('A')
    chat.wait(120_000)
    expect(chat.refusal(chat.confirms([{ draft_index: 0 }])).code).toBe('review_expired')
    chat.run(EXPIRE)
    expect(chat.refusal(chat.confirms([{ draft_index: 0 }])).code).toBe('review_expired')
    expect(chat.refusal(cancels()).code).toBe('review_expired')
  })

  it('[RE10] an unknown review is review_not_found', () => {
    const chat = inRun()
    for (const command of [cancels(), chat.confirms([{ title: 'A' }]), EXPIRE, show('p'), leave('p')]) {
      expect(chat.refusal(command).code).toBe('review_not_found')
    }
  })
})

describe('the deadline', () => {
  it('a millisecond before it a confirm still counts', () => {
    const chat = underReview('A')
    chat.wait(119_999).run(chat.confirms([{ draft_index: 0 }]))
    expect(chat.titles()).toEqual(['A'])
  })

  it('at the deadline it is cancelled with review_timeout, by the system', () => {
    const chat = underReview('A')
    expect(chat.wait(119_999).run(EXPIRE)).toEqual([])
    chat.wait(1).run(EXPIRE)
    expect(resolution(chat)).toStrictEqual({
      review_id: 'review-1',
      action: 'cancel',
      reason: 'review_timeout',
      via: 'system',
      created_count: 0,
    })
    expect(status(chat)).toBe('expired')
    expect(chat.run(EXPIRE)).toEqual([])
  })

  it('[RE10] no panel opens on a review that is overdue', () => {
    const chat = underReview('A')
    expect(chat.wait(120_000).refusal(show('p')).code).toBe('review_expired')
  })

  it('what was decided in time does not expire', () => {
    const chat = underReview('A')
    chat.run(cancels())
    expect(chat.wait(200_000).run(EXPIRE)).toEqual([])
    expect(status(chat)).toBe('cancelled')
  })
})

describe('panels', () => {
  it('that come and go are events', () => {
    const chat = underReview('A')
    expect(chat.run(show('p'))).toMatchObject([
      { type: 'review_panel_opened', turn_id: 'turn-1', data: { review_id: 'review-1', panel: 'p' } },
    ])
    expect(chat.run(show('p'))).toEqual([])
    expect(chat.run(leave('p'))).toMatchObject([
      { type: 'review_panel_left', turn_id: 'turn-1', data: { review_id: 'review-1', panel: 'p' } },
    ])
    expect(chat.run(leave('p'))).toEqual([])
  })

  it('when the last one left and none came back within the grace, it is cancelled with panel_closed', () => {
    const chat = underReview('A')
    chat.run(show('p'))
    chat.run(leave('p'))
    expect(chat.wait(14_999).run(EXPIRE)).toEqual([])
    expect(chat.wait(1).refusal(chat.confirms([{ draft_index: 0 }])).code).toBe('review_already_decided')
    expect(chat.refusal(show('p')).code).toBe('review_already_decided')
    chat.run(EXPIRE)
    expect(resolution(chat)).toMatchObject({ action: 'cancel', reason: 'panel_closed', via: 'system' })
    expect(status(chat)).toBe('cancelled')
  })

  it('a panel that comes back within the grace keeps it open', () => {
    const chat = underReview('A')
    chat.run(show('p'))
    chat.run(leave('p'))
    chat.wait(14_999).run(show('q'))
    expect(chat.wait(60_000).run(EXPIRE)).toEqual([])
    expect(status(chat)).toBe('pending')
  })

  it('as long as another one shows it, nothing closes', () => {
    const chat = underReview('A')
    chat.run(show('p'))
    chat.run(show('q'))
    chat.run(leave('p'))
    expect(chat.wait(60_000).run(EXPIRE)).toEqual([])
    chat.run(leave('q'))
    expect(chat.wait(15_000).run(EXPIRE)).toHaveLength(1)
  })

  it('a review that no panel ever showed waits for its deadline', () => {
    const chat = underReview('A')
    expect(chat.run(leave('p'))).toEqual([])
    expect(chat.wait(60_000).run(EXPIRE)).toEqual([])
  })

  it('the grace is that of the policy', () => {
    const chat = inRun({ review: true, panel_grace_ms: 0 })
    chat.run(chat.adds('model', 'A'))
    chat.run(show('p'))
    chat.run(leave('p'))
    expect(chat.run(EXPIRE)).toHaveLength(1)
  })

  it('a name is a short line, the same when it comes and when it goes', () => {
    const chat = underReview('A')
    expect(chat.refusal(show(' ')).data).toMatchObject({ field: 'panel' })
    expect(chat.refusal(show('x'.repeat(201))).data).toMatchObject({ field: 'panel' })
    expect(chat.refusal(leave(' ')).data).toMatchObject({ field: 'panel' })
    chat.run(show(' p '))
    expect(chat.run(leave(' p '))).toHaveLength(1)
  })

  it('[RE10] a panel of a decided review has nothing left to leave', () => {
    const chat = underReview('A')
    chat.run(show('p'))
    chat.run(cancels())
    expect(chat.run(leave('p'))).toEqual([])
    expect(chat.refusal(show('p')).code).toBe('review_already_decided')
  })
})

describe('the end of its turn', () => {
  it('stopping cancels the review that waits in it with turn_stopped', () => {
    const chat = underReview('A')
    const events = chat.run({ type: 'stop_turn', turn_id: 'turn-1' })
    expect(typesOf(events)).toEqual(['turn_stop_requested', 'task_create_review_resolved'])
    expect(resolution(chat)).toStrictEqual({
      review_id: 'review-1',
      action: 'cancel',
      reason: 'turn_stopped',
      via: 'system',
      created_count: 0,
    })
    expect(chat.refusal(chat.confirms([{ draft_index: 0 }])).code).toBe('review_already_decided')
  })

  it('so does finishing', () => {
    const chat = underReview('A')
    expect(typesOf(chat.finish('turn-1', 'error'))).toEqual([
      'task_create_review_resolved',
      'turn_failed',
      'turn_finished',
    ])
    expect(resolution(chat)?.reason).toBe('turn_stopped')
  })

  it('a review of another turn waits on', () => {
    const chat = outside('runsheet', { review: true })
    chat.run(chat.adds('model', 'A'))
    chat.start('turn-2')
    chat.run({ type: 'stop_turn', turn_id: 'turn-2' })
    chat.finish('turn-2', 'stopped')
    expect(status(chat)).toBe('pending')
    chat.run(chat.confirms([{ draft_index: 0 }]))
    expect(chat.task(1).conversation_turn_id).toBe('turn-1')
  })

  it('[RE10] a review that was overdue by then has expired, as every reader was told', () => {
    const stopped = underReview('A')
    stopped.wait(120_000).run({ type: 'stop_turn', turn_id: 'turn-1' })
    expect(resolution(stopped)?.reason).toBe('review_timeout')
    expect(status(stopped)).toBe('expired')
    const finished = underReview('A')
    finished.run(show('p'))
    finished.run(leave('p'))
    finished.wait(15_000).finish('turn-1')
    expect(resolution(finished)?.reason).toBe('panel_closed')
  })
})
