import { describe, expect, it } from 'vitest'
import { cancels, dataOf, inRun } from '../../../test/support/domain.ts'
import type { Row } from '../model/row.ts'
import { isUnchanged, outOfOrder, revisionOf, sentBackRows } from './plan-card.ts'
import { BY_PLAN } from '../../../test/support/asked-by.ts'

const row = (title: string, details = ''): Row => ({
  title,
  details,
  criteria: '',
  priority: 'medium',
  status: 'todo',
  tags: [],
})

describe('a plan that revises another', () => {
  it('is compared row by row: by equal title, then by position', () => {
    const before = [row('A'), row('B'), row('C'), row('D')]
    const after = [row('C', 'more'), row('B2'), row('A'), row('E'), row('F')]
    expect(revisionOf(before, after)).toEqual({
      rows: [
        { change: 'edited', from: row('C'), moved: true },
        { change: 'edited', from: row('B'), moved: true },
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

  it('is unchanged only where its order is, too; as few rows as possible count as moved', () => {
    const rows = ['A', 'B', 'C', 'D'].map(title => row(title))
    const [a, b, c, d] = rows
    if (!a || !b || !c || !d) throw new Error('no rows')
    expect(isUnchanged(revisionOf(rows, rows))).toBe(true)
    for (const after of [
      [b, a, c, d],
      [a, b, c],
      [...rows, row('E')],
      [a, b, c, row('D', 'x')],
    ]) {
      expect(isUnchanged(revisionOf(rows, after))).toBe(false)
    }
    expect([...outOfOrder([3, 0, undefined, 1, 2])]).toEqual([0])
    expect([...outOfOrder([1, 2, 3, 0])]).toEqual([3])
    expect([...outOfOrder([0, undefined, 4])]).toEqual([])
  })

  it('[RE22] the log has the rows that a plan was sent back with, in their order', () => {
    const chat = inRun({ review: true })
    chat.run(chat.adds('model', 'A', 'B', 'C'))
    const tasks = [{ draft_index: 2 }, { title: 'New' }, { draft_index: 0, title: 'A 2' }]
    const events = chat.run({ ...cancels(), decision: { action: 'revise', comment: 'Mine', tasks } })
    const [resolution] = dataOf(events, 'task_create_review_resolved')
    expect(resolution?.rows).toEqual([
      { change: 'kept', draft_index: 2 },
      { change: 'added' },
      { change: 'edited', draft_index: 0 },
    ])
    const draft = chat.state.reviews.get('review-1')?.draft_tasks ?? []
    const titles = (from: Parameters<typeof sentBackRows>[1]) => sentBackRows(draft, from).map(({ title }) => title)
    expect(titles(resolution)).toEqual(['C', 'New', 'A 2'])
    // Without edits it is the proposal.
    expect(titles({})).toEqual(['A', 'B', 'C'])
  })

  it('the plan that was sent back keeps its rows until the one that revises it is decided', () => {
    const chat = inRun({ review: true })
    const titles = (id: string): string[] => chat.state.reviews.get(id)?.draft_tasks.map(({ title }) => title) ?? []
    chat.run(chat.adds('model', 'A', 'B'))
    chat.run({ ...cancels(), decision: { action: 'revise', comment: 'One step' } })
    expect(titles('review-1')).toEqual(['A', 'B'])
    chat.run({ ...chat.adds('model', 'A'), review: { ...BY_PLAN, review_id: 'review-2', tool_call_id: 'call-2' } })
    expect([titles('review-1'), titles('review-2')]).toEqual([['A', 'B'], ['A']])
    chat.run({ ...cancels(), review_id: 'review-2', decision: { action: 'revise', comment: 'No' } })
    expect([titles('review-1'), titles('review-2')]).toEqual([[], ['A']])
  })
})
