import { describe, expect, it } from 'vitest'
import { cancels, inRun } from '../../test/support/domain.ts'
import type { Row } from './review.ts'
import { revisionOf } from './revision.ts'

const row = (title: string, details = ''): Row => ({
  title,
  details,
  criteria: '',
  priority: 'medium',
  status: 'todo',
  tags: [],
})

describe('a plan that revises another', () => {
  it('[RE32] is compared row by row: by equal title, then by position', () => {
    const before = [row('A'), row('B'), row('C'), row('D')]
    const after = [row('C', 'more'), row('B2'), row('A'), row('E'), row('F')]
    expect(revisionOf(before, after)).toEqual({
      rows: [
        { change: 'edited', from: row('C') },
        { change: 'edited', from: row('B') },
        { change: 'same', from: row('A') },
        { change: 'edited', from: row('D') },
        { change: 'new' },
      ],
      removed: [],
    })
    expect(revisionOf(before, [row('D')])).toEqual({
      rows: [{ change: 'same', from: row('D') }],
      removed: [row('A'), row('B'), row('C')],
    })
    expect(revisionOf([row('A'), row('A')], [row('A'), row('A'), row('A')]).rows.map(({ change }) => change)).toEqual([
      'same',
      'same',
      'new',
    ])
  })

  it('[RE32] the plan that was sent back keeps its rows until the one that revises it is decided', () => {
    const chat = inRun({ review: true })
    const titles = (id: string): string[] => chat.state.reviews.get(id)?.draft_tasks.map(({ title }) => title) ?? []
    chat.run(chat.adds('model', 'A', 'B'))
    chat.run({ ...cancels(), decision: { action: 'revise', comment: 'One step' } })
    expect(titles('review-1')).toEqual(['A', 'B'])
    chat.run({ ...chat.adds('model', 'A'), review: { review_id: 'review-2', tool_call_id: 'call-2' } })
    expect([titles('review-1'), titles('review-2')]).toEqual([['A', 'B'], ['A']])
    chat.run({ ...cancels(), review_id: 'review-2', decision: { action: 'revise', comment: 'No' } })
    expect([titles('review-1'), titles('review-2')]).toEqual([[], ['A']])
  })
})
