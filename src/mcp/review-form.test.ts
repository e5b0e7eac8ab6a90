import { describe, expect, it } from 'vitest'
import { underReview } from '../../test/support/domain.ts'
import type { SomeFields } from '../domain/fields.ts'
import type { ReviewRequest } from '../domain/review.ts'
import { decisionFrom, type FormContent, reviewForm } from './review-form.ts'

function reviewOf(...rows: readonly (string | SomeFields)[]): ReviewRequest {
  const review = underReview(...rows).state.reviews.get('review-1')
  if (!review) throw new Error('no review was opened')
  return review
}

const fieldsOf = (review: ReviewRequest, content?: FormContent): Record<string, unknown> =>
  reviewForm(review, content && { message: 'Row 1 is too long.', content }).requestedSchema.properties

const tasksIn = (review: ReviewRequest, content: FormContent): unknown => {
  const decision = decisionFrom(review, content)?.decision
  return decision?.action === 'confirm' ? decision.tasks : decision
}

describe('the form', () => {
  it('[MC15] has a title and a priority for each row, two spare rows and a comment', () => {
    expect(Object.keys(fieldsOf(reviewOf('A', 'B')))).toEqual([
      ...[1, 2, 3, 4].flatMap(row => [`title_${row}`, `priority_${row}`]),
      'comment',
    ])
  })

  it('[MC15] has no more rows than a plan holds tasks', () => {
    const titles = (count: number): string[] =>
      Object.keys(fieldsOf(reviewOf(...Array.from({ length: count }, (_, row) => `Task ${row}`)))).filter(name =>
        name.startsWith('title_'),
      )
    expect([18, 19, 20].map(count => titles(count).length)).toEqual([20, 20, 20])
  })

  it("[MC15] shows a row's fields and describes the rest", () => {
    const review = reviewOf({ title: 'A', details: 'soon', criteria: 'seen', priority: 'high', tags: ['x', 'y'] })
    expect(fieldsOf(review)).toMatchObject({
      title_1: { title: 'Task 1', default: 'A', description: 'soon · Done when: seen · Tags: x, y' },
      priority_1: { default: 'high' },
      title_2: { title: 'Another task (optional)' },
      priority_2: { default: 'medium' },
    })
    expect(fieldsOf(review)).not.toHaveProperty('title_2.default')
  })

  it('[MC15] asks for the status only of a row that does not start as to do', () => {
    const fields = fieldsOf(reviewOf('A', { title: 'B', status: 'completed' }))
    expect(fields).toMatchObject({ status_2: { enum: ['todo', 'doing', 'blocked', 'done'], default: 'done' } })
    expect(fields).not.toHaveProperty('status_1')
  })

  it('[MC17] shows what was typed, with the reason, when it is asked again', () => {
    const review = reviewOf('A', 'B')
    const content = { title_1: 'A2', priority_1: 'high', priority_2: 'none', comment: 'Hm' }
    expect(fieldsOf(review, content)).toMatchObject({
      title_1: { default: 'A2' },
      priority_1: { default: 'high' },
      // Cleared, with a priority that is none.
      title_2: { default: '' },
      priority_2: { default: 'medium' },
      comment: { default: 'Hm' },
    })
    expect(reviewForm(review, { message: 'Row 1 is too long.', content }).message).toMatch(
      /^Row 1 is too long\. The agent proposes 2 tasks\./,
    )
  })
})

describe('the decision in a form', () => {
  const review = reviewOf('A', 'B')

  it('[MC15] keeps and rewords rows by their number', () => {
    expect(tasksIn(review, { title_1: 'A', title_2: 'B2', priority_2: 'low' })).toEqual([
      { title: 'A', draft_index: 0 },
      { title: 'B2', priority: 'low', draft_index: 1 },
    ])
  })

  it.each([
    ['empty', { title_1: ' ', title_2: 'B' }],
    ['missing beside its priority', { priority_1: 'medium', title_2: 'B' }],
    ['missing beside its status', { status_1: 'done', title_2: 'B' }],
  ])('[MC15] removes a row whose title is %s', (_, content) => {
    expect(tasksIn(review, content)).toEqual([{ title: 'B', draft_index: 1 }])
  })

  it('[MC15] keeps a row that is left out altogether', () => {
    expect(tasksIn(review, { title_2: 'B2' })).toEqual([
      { title: 'A', draft_index: 0 },
      { title: 'B2', draft_index: 1 },
    ])
  })

  it('[MC15] adds a spare row that is filled in, and says which row each task came from', () => {
    const content = { title_1: '', title_2: 'B', title_4: 'D', status_2: 'doing', comment: ' Go ' }
    expect(decisionFrom(review, content)).toEqual({
      decision: {
        action: 'confirm',
        tasks: [{ title: 'B', status: 'doing', draft_index: 1 }, { title: 'D' }],
        comment: ' Go ',
      },
      formRows: [2, 4],
    })
  })

  it.each([{}, { comment: 'Fine' }, { priority_1: 'high' }, { title: 'A' }])(
    '[MC15] is undefined without any title: %j',
    content => {
      expect(decisionFrom(review, content)).toBeUndefined()
    },
  )

  it('[MC15] leaves out a comment that is blank or no text', () => {
    expect([' ', 5, undefined].map(comment => decisionFrom(review, { title_1: 'A', comment })?.decision)).toEqual(
      Array.from({ length: 3 }, () => expect.not.objectContaining({ comment: expect.anything() })),
    )
  })
})
