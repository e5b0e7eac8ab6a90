import { describe, expect, it } from 'vitest'
import { cancels, dataOf, inRun, START, underReview } from '../../../test/support/domain.ts'
import type { CommandOf } from '../model/command.ts'
import { plusMs } from '../model/instant.ts'
import { statusAt } from '../model/review.ts'

const extends_ = (ms?: number): CommandOf<'extend_review'> => ({ type: 'extend_review', review_id: 'review-1', ms })

const DAY = 86_400_000

describe('more time for a review', () => {
  it('[RE20] it waits again as long as it had, from now, and its turn stays parked', () => {
    const chat = underReview('A').wait(100_000)
    const events = chat.run(extends_())
    const expires_at = plusMs(START, 220_000)
    expect(events).toMatchObject([
      { type: 'review_extended', turn_id: 'turn-1', data: { review_id: 'review-1', expires_at } },
    ])
    const review = chat.state.reviews.get('review-1')
    expect(review).toMatchObject({ status: 'pending', timeout_ms: 120_000, expires_at })
    expect(chat.wait(119_999).run({ type: 'expire_review', review_id: 'review-1' })).toEqual([])
    chat.wait(1).run({ type: 'expire_review', review_id: 'review-1' })
    expect(dataOf(chat.log, 'task_create_review_resolved')).toMatchObject([{ reason: 'review_timeout' }])
  })

  it('[RE20] the latest deadline counts: an earlier one changes nothing', () => {
    const chat = underReview('A')
    chat.run(extends_(DAY))
    expect([chat.run(extends_(1_000)), chat.run(extends_()), chat.run(extends_(DAY))]).toEqual([[], [], []])
    expect(chat.state.reviews.get('review-1')?.expires_at).toBe(plusMs(START, DAY))
  })

  it('[RE20] at most 30 days from now', () => {
    const chat = underReview('A')
    for (const ms of [0, -1, 1.5, Number.NaN, 30 * DAY + 1]) {
      const refusal = chat.refusal(extends_(ms))
      expect([refusal.code, refusal.data]).toMatchObject(['invalid_field', { field: 'ms', rule: 'out_of_range' }])
    }
    chat.run(extends_(30 * DAY))
    chat.wait(DAY).run(extends_(30 * DAY))
    expect(chat.state.reviews.get('review-1')?.expires_at).toBe(plusMs(START, 31 * DAY))
  })

  it('[RE20] is refused for a review that is decided, over, or has no deadline', () => {
    const chat = underReview('A')
    const over = underReview('A').wait(120_000)
    expect(over.refusal(extends_()).code).toBe('review_expired')
    chat.run(cancels())
    expect(chat.refusal(extends_()).code).toBe('review_already_decided')
    expect(chat.refusal({ ...extends_(), review_id: 'nowhere' }).code).toBe('review_not_found')
    const patient = inRun({ review: true })
    patient.run(patient.adds('model', 'A'))
    expect(patient.refusal(extends_()).code).toBe('review_without_deadline')
  })

  it('[RE20] a panel that leaves still closes it after the grace', () => {
    const chat = underReview('A')
    chat.run({ type: 'show_panel', review_id: 'review-1', panel: 'p' })
    chat.run(extends_(DAY))
    chat.run({ type: 'leave_panel', review_id: 'review-1', panel: 'p' })
    const review = chat.state.reviews.get('review-1')
    expect(review && statusAt(review, plusMs(START, 15_000))).toBe('cancelled')
  })
})
