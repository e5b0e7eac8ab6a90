import { describe, expect, it } from 'vitest'
import { cancels, dataOf, type Driver, inRun, plain, underReview } from '../../../test/support/domain.ts'
import type { Command } from '../model/command.ts'
import type { Decision } from '../model/review-action.ts'
import type { RowComment } from '../model/review.ts'

const decides = (decision: Decision): Command => ({ ...cancels(), decision, ids: [] })

const resolved = (chat: Driver) => dataOf(chat.log, 'task_create_review_resolved').at(-1)

const ABOUT_B: readonly RowComment[] = [{ draft_index: 1, title: 'B', comment: 'Too vague' }]

describe('comments on rows', () => {
  it('[RE22] are kept with a confirm, together with its edits, also for a row that is not confirmed', () => {
    const chat = underReview('A', 'B', 'C')
    const row_comments = [
      { draft_index: 2, comment: ' Not now\r\n' },
      { draft_index: 1, comment: 'Too vague' },
    ]
    const tasks = [{ draft_index: 1, title: 'B2' }, { draft_index: 0 }]
    chat.run(chat.confirms(tasks, { decision: { action: 'confirm', tasks, comment: 'Go', row_comments } }))
    expect(resolved(chat)).toMatchObject({
      comment: 'Go',
      row_comments: [...ABOUT_B, { draft_index: 2, title: 'C', comment: 'Not now' }],
      changes: { edited: [{ from: { title: 'B' }, to: { title: 'B2' } }], removed: [{ title: 'C' }] },
      tasks: [
        { change: 'edited', draft_index: 1 },
        { change: 'kept', draft_index: 0 },
      ],
    })
  })

  it('[RE22] are kept with a cancel', () => {
    const chat = underReview('A', 'B')
    chat.run(decides({ action: 'cancel', row_comments: [{ draft_index: 1, comment: 'Too vague' }] }))
    expect(resolved(chat)).toStrictEqual({
      review_id: 'review-1',
      action: 'cancel',
      reason: 'user_cancelled',
      row_comments: ABOUT_B,
      via: 'http',
      created_count: 0,
    })
  })

  it('[RE22] are enough to send a plan back; blank ones are none', () => {
    const chat = underReview('A', 'B')
    const blank = { draft_index: 0, comment: ' \u200b ' }
    expect(chat.refusal(decides({ action: 'revise', row_comments: [blank] })).data).toMatchObject({
      field: 'comment',
      rule: 'empty',
    })
    const row_comments = [blank, { draft_index: 1, comment: 'Too vague' }]
    chat.run(decides({ action: 'revise', row_comments, tasks: [{ draft_index: 1, title: 'B2' }] }))
    expect(resolved(chat)).toMatchObject({
      reason: 'changes_requested',
      row_comments: ABOUT_B,
      changes: { edited: [{ to: { title: 'B2' } }], removed: [{ title: 'A' }] },
    })
    expect(resolved(chat)).not.toHaveProperty('comment')
  })

  it.each<[unknown, object]>([
    ['B', { field: 'row_comments', rule: 'not_an_array' }],
    [[null], { field: 'row_comments[0]', rule: 'not_an_object' }],
    [[{ draft_index: 2, comment: 'x' }], { field: 'row_comments[0].draft_index', rule: 'out_of_range', max: 1 }],
    [[{ draft_index: 0.5, comment: 'x' }], { field: 'row_comments[0].draft_index', rule: 'out_of_range' }],
    [[{ comment: 'x' }], { field: 'row_comments[0].draft_index', rule: 'out_of_range' }],
    [[{ draft_index: 0 }], { field: 'row_comments[0].comment', rule: 'not_text' }],
    [
      [
        { draft_index: 0, comment: 'x' },
        { draft_index: 0, comment: 'y' },
      ],
      { field: 'row_comments[1].draft_index', rule: 'duplicate', got: 0 },
    ],
    [
      [{ draft_index: 1, comment: 'x'.repeat(8_001) }],
      { field: 'row_comments[0].comment', rule: 'too_long', limit: 8_000 },
    ],
    [[{ draft_index: 1, comment: '\ud800' }], { field: 'row_comments[0].comment', rule: 'malformed_unicode' }],
  ])('[RE22] %j is refused with its place, and the review stays pending', (row_comments, data) => {
    const chat = underReview('A', 'B')
    const before = plain(chat.state)
    for (const action of ['confirm', 'revise', 'cancel'] as const) {
      const decision = { action, comment: 'c', tasks: [{ draft_index: 0 }], row_comments } as Decision
      const refusal = chat.refusal(chat.confirms([{ draft_index: 0 }], { decision }))
      expect([refusal.code, refusal.data]).toMatchObject(['invalid_field', data])
    }
    expect(plain(chat.state)).toStrictEqual(before)
  })

  it('[RE22] on a reopened plan are in the message of the turn that goes on', () => {
    const chat = inRun({ review: true, review_timeout_ms: 1_000 })
    chat.run(chat.adds('model', 'A', 'B'))
    chat.wait(2_000).run({ type: 'expire_review', review_id: 'review-1' })
    chat.finish('turn-1')
    chat.run({ type: 'reopen_review', review_id: 'review-1', new_review_id: 'review-2' })
    const continuation = { turn_id: 'turn-2', message_id: 'message-2' }
    const row_comments = [{ draft_index: 1, comment: 'Too vague' }]
    chat.run({
      ...cancels(),
      review_id: 'review-2',
      decision: { action: 'revise', comment: 'Shorter', row_comments },
      continuation,
    })
    expect(dataOf(chat.log, 'turn_started').at(-1)?.message).toBe(
      'Change the plan: Shorter\n- About "B": Too vague\nThe plan:\n- A\n- B',
    )
  })
})
