import { describe, expect, it } from 'vitest'
import { Refusal } from './refusal.ts'
import {
  changesBetween,
  type ConfirmedRow,
  confirmedRows,
  type DraftRow,
  dueAt,
  overdue,
  statusAt,
  type SubmittedRow,
} from './review.ts'
import type { Row } from './row.ts'

const BLANK: Omit<Row, 'title'> = { details: '', criteria: '', priority: 'medium', status: 'todo', tags: [] }
const row = (title: string, more: Partial<DraftRow> = {}): DraftRow => ({ ...BLANK, title, ...more })

function confirmed(draft: readonly DraftRow[], rows: readonly SubmittedRow[]): ConfirmedRow[] {
  const answer = confirmedRows(draft, rows)
  if (answer instanceof Refusal) throw answer
  return answer
}

function refused(draft: readonly DraftRow[], rows: unknown): Refusal {
  const answer = confirmedRows(draft, rows as readonly SubmittedRow[])
  if (answer instanceof Refusal) return answer
  throw new Error(`Taken: ${JSON.stringify(answer)}`)
}

describe('rows without a draft_index', () => {
  const draft = [row('A', { details: 'd', agent_type: 'tester', order: 2 }), row('B', { tags: ['x'] }), row('A')]
  const indexes = (rows: readonly SubmittedRow[]): (number | undefined)[] =>
    confirmed(draft, rows).map(({ draft_index }) => draft_index)

  it('[RE21] a draft that is sent back as it is was kept, row by row', () => {
    const rows = confirmed(draft, draft)
    expect(rows).toEqual(draft.map((each, draft_index) => ({ ...each, draft_index })))
    expect(changesBetween(draft, rows)).toMatchObject({ edited: [], added: [], removed: [], reordered: false })
    expect(changesBetween(draft, rows).kept).toHaveLength(3)
  })

  it('[RE21] a row that equals a draft row in every field it has is that row, fields it leaves out included', () => {
    expect(confirmed(draft, [{ title: ' B ' }, { title: 'A', details: 'd' }])).toEqual([
      { ...draft[1], draft_index: 1 },
      { ...draft[0], draft_index: 0 },
    ])
    expect(indexes([{ title: 'A', details: '' }])).toEqual([2])
  })

  it('[RE21] each draft row is used once, and not if another row names it', () => {
    expect(indexes([{ title: 'A' }, { title: 'A' }, { title: 'A' }])).toEqual([0, 2, undefined])
    expect(indexes([{ title: 'A' }, { draft_index: 0, title: 'A2' }])).toEqual([2, 0])
  })

  it('[RE21] a row that fits several draft rows leaves to another row the one that only that fits', () => {
    const twice = [row('A', { priority: 'high' }), row('A', { tags: ['x'] })]
    const found = (...rows: readonly SubmittedRow[]): (number | undefined)[] =>
      confirmed(twice, rows).map(({ draft_index }) => draft_index)
    expect(found({ title: 'A' }, { title: 'A', priority: 'high' })).toEqual([1, 0])
    expect(found({ title: 'A', priority: 'medium' }, { title: 'A' })).toEqual([1, 0])
    expect(found({ title: 'A' }, { title: 'A' })).toEqual([0, 1])
    expect(found({ title: 'A' }, { title: 'A', tags: ['x'] }, { title: 'A', priority: 'high' })).toEqual([
      undefined,
      1,
      0,
    ])
  })

  it('[RE21][RE9] tags in another order are the same tags', () => {
    const tagged = [row('A', { tags: ['x', 'y'] })]
    const rows = confirmed(tagged, [{ title: 'A', tags: ['y', 'x'] }])
    expect(rows).toMatchObject([{ draft_index: 0, tags: ['y', 'x'] }])
    expect(changesBetween(tagged, rows)).toMatchObject({ edited: [], added: [], removed: [] })
  })

  it('[RE21] a row that has the title of a draft row is that row, edited; the others are new', () => {
    expect(indexes([{ title: 'B', tags: [] }, { title: 'B', status: 'done' }, { title: 'b' }])).toEqual([
      1,
      undefined,
      undefined,
    ])
    expect(confirmed(draft, [{ title: 'A', priority: 'high' }])).toEqual([
      { ...draft[0], priority: 'high', draft_index: 0 },
    ])
    expect(refused(draft, [{ details: 'd' }]).data).toMatchObject({ row: 0, field: 'title' })
  })

  // Each list in titles: lower case for a row of three fields, `+` for another priority, `0 A` for a draft_index.
  it.each([
    ['all as proposed', 'A B C', [0, 1, 2]],
    ['other priorities', 'A+ B+ C', [0, 1, 2]],
    ['one renamed', 'A X C', [0, 1, 2]],
    ['all renamed', 'X Y Z', [0, 1, 2]],
    ['one renamed, one added at the end', 'A X C Y', [0, 1, 2, undefined]],
    ['the last renamed, one added behind it', 'A B X Y', [0, 1, 2, undefined]],
    ['the last two renamed or removed: nothing says which', 'A X', [0, undefined]],
    ['one added in front', 'X A B C', [undefined, 0, 1, 2]],
    ['the first removed, one added at the end', 'B C X', [1, 2, undefined]],
    ['the last renamed, or replaced', 'A B X', [0, 1, 2]],
    ['one removed, another renamed: nothing says which', 'X C', [undefined, 2]],
    ['two in the place of one', 'A X Y C', [0, 1, undefined, 2]],
    ['moved, and one renamed in its place', 'C X A', [2, 1, 0]],
    ['moved and renamed', 'B+ A X', [1, 0, 2]],
    ['a row without all fields of the panel', 'A x C', [0, undefined, 2]],
    ['rows of a sender that knows the indexes', '0A X 2C', [0, undefined, 2]],
    ['the sender says that a row is new', 'A -X C', [0, undefined, 2]],
    ['the sender says that a row is new, whatever its title', '-B', [undefined]],
  ])('[RE21] %s', (_, list, expected) => {
    const proposed = [row('A', { criteria: 'a' }), row('B', { criteria: 'b' }), row('C')]
    const rows = list.split(' ').map((text): SubmittedRow => {
      const [, index, title = '', plus] = /^(\d|-)?(\w)(\+)?$/.exec(text) ?? []
      const { criteria: _criteria, ...whole } = row(title.toUpperCase(), plus ? { priority: 'high' } : {})
      if (title !== title.toUpperCase()) return { title: whole.title, details: '', status: 'todo' }
      if (index === undefined) return whole
      return { ...whole, draft_index: index === '-' ? null : Number(index) }
    })
    expect(confirmed(proposed, rows).map(({ draft_index }) => draft_index)).toEqual(expected)
  })

  it('[RE21] a row that is found by its place is that row: what it leaves out is as in the draft', () => {
    const { criteria: _criteria, ...whole } = row('X')
    expect(confirmed([row('A', { criteria: 'a', agent_type: 'tester' })], [whole])).toEqual([
      { ...row('X', { criteria: 'a', agent_type: 'tester' }), draft_index: 0 },
    ])
  })

  it('[RE21] agent_type, parent_id and order are as in the draft, whatever is sent', () => {
    const sent = { agent_type: 'other', parent_id: 'p', order: 9 }
    expect(confirmed(draft, [{ title: 'A', details: 'd', ...sent }])).toEqual([{ ...draft[0], draft_index: 0 }])
    expect(confirmed(draft, [{ title: 'New', ...sent }])).toEqual([row('New')])
  })
})

describe('a review and the clock', () => {
  const review = { status: 'pending', expires_at: '2026-11-02T09:02:00.000Z', closes_at: null } as const
  const closing = { ...review, closes_at: '2026-11-02T09:01:00.000Z' }

  it('[RE10] is overdue from its deadline on, not a millisecond before', () => {
    expect(overdue(review, '2026-11-02T09:01:59.999Z')).toBeUndefined()
    expect(overdue(review, '2026-11-02T09:02:00.000Z')).toBe('review_timeout')
  })

  it('[RE10] reads as expired once it is overdue', () => {
    expect(statusAt(review, '2026-11-02T09:01:59.999Z')).toBe('pending')
    expect(statusAt(review, '2026-11-02T09:02:00.000Z')).toBe('expired')
  })

  it('is closed when the grace of the last panel is over, and reads as cancelled', () => {
    expect(overdue(closing, '2026-11-02T09:00:59.999Z')).toBeUndefined()
    expect(overdue(closing, '2026-11-02T09:01:00.000Z')).toBe('panel_closed')
    expect(statusAt(closing, '2026-11-02T09:01:00.000Z')).toBe('cancelled')
  })

  it('a grace that would end after the deadline does not prolong it', () => {
    const late = { ...review, closes_at: '2026-11-02T09:03:00.000Z' }
    expect(dueAt(late)).toBe(review.expires_at)
    expect(overdue(late, '2026-11-02T09:02:00.000Z')).toBe('review_timeout')
    expect(overdue({ ...review, closes_at: review.expires_at }, '2026-11-02T09:02:00.000Z')).toBe('review_timeout')
  })

  it('[RE10] what was decided does not expire', () => {
    for (const status of ['confirmed', 'cancelled', 'expired'] as const) {
      expect(overdue({ ...review, status }, '2027-01-01T00:00:00.000Z')).toBeUndefined()
      expect(statusAt({ ...review, status }, '2027-01-01T00:00:00.000Z')).toBe(status)
    }
  })
})

describe('the rows of a confirm', () => {
  const draft = [row('A', { details: 'why', priority: 'high', tags: ['x'], status: 'doing', order: 2 }), row('B')]

  it('[RE21] what a row leaves out is as in the draft row of its draft_index', () => {
    expect(confirmed(draft, [{ draft_index: 0 }, { draft_index: 1, title: ' B2 ' }])).toStrictEqual([
      { ...draft[0], draft_index: 0 },
      { ...row('B2'), draft_index: 1 },
    ])
  })

  it('[RE21] what a row without a draft_index leaves out is the default', () => {
    expect(confirmed(draft, [{ title: 'C' }])).toStrictEqual([row('C')])
  })

  it('[RE21] what is emptied stays empty', () => {
    expect(confirmed(draft, [{ draft_index: 0, details: '', tags: [] }])[0]).toMatchObject({ details: '', tags: [] })
  })

  it('[RE2] a confirm has 1 to 20 rows', () => {
    const rows = (count: number): SubmittedRow[] => Array.from({ length: count }, () => ({ title: 'A' }))
    expect(refused(draft, []).code).toBe('batch_empty')
    expect(confirmed(draft, rows(20))).toHaveLength(20)
    expect(refused(draft, rows(21)).code).toBe('batch_too_large')
  })

  it.each([
    ['a blank title', 'title', { title: ' ' }],
    ['a title of 401', 'title', { title: '🗒'.repeat(401) }],
    ['half a character', 'title', { title: '\ud83d' }],
    ['no string for a title', 'title', { title: null }],
    ['no title at all', 'title', { details: 'no title' }],
    ['details of 8,001', 'details', { title: 'A', details: 'x'.repeat(8_001) }],
    ['a number for criteria', 'criteria', { title: 'A', criteria: 7 }],
    ['an unknown priority', 'priority', { title: 'A', priority: 'urgent' }],
    ['an empty tag', 'tags', { title: 'A', tags: [''] }],
    ['the status of a task', 'status', { title: 'A', status: 'pending' }],
    ['a name that every object has', 'status', { title: 'A', status: 'toString' }],
    ['a status in a list', 'status', { title: 'A', status: ['todo'] }],
    ['null', 'row', null],
    ['a string', 'row', 'A'],
  ])('each row is checked again: %s is refused with row and field', (_, field, submitted) => {
    const refusal = refused(draft, [{ title: 'fine' }, submitted])
    expect(refusal.code).toBe('invalid_field')
    expect(refusal.data).toMatchObject({ row: 1, field })
  })

  it('two doing rows are refused, also when the draft says so', () => {
    const refusal = refused(draft, [{ draft_index: 0 }, { title: 'C', status: 'doing' }])
    expect([refusal.code, refusal.data]).toEqual(['two_in_progress', { row: 1, field: 'status' }])
    expect(
      confirmed(draft, [
        { draft_index: 0, status: 'todo' },
        { title: 'C', status: 'doing' },
      ]),
    ).toHaveLength(2)
  })

  it('two rows with the same draft_index are refused', () => {
    const refusal = refused(draft, [{ draft_index: 1 }, { draft_index: 0, status: 'todo' }, { draft_index: 1 }])
    expect(refusal.data).toMatchObject({ row: 2, field: 'draft_index' })
  })

  it('a draft_index outside the draft is refused', () => {
    for (const draft_index of [2, -1, 0.5, Number.NaN, '0', false]) {
      expect(refused(draft, [{ title: 'A', draft_index }]).data).toMatchObject({ row: 0, field: 'draft_index' })
    }
  })
})

describe('what the person did', () => {
  const draft = [row('A', { order: 1, agent_type: 'tester' }), row('B'), row('C')]
  const changes = (rows: readonly SubmittedRow[]) => changesBetween(draft, confirmed(draft, rows))

  it('[RE9] nothing: all kept, as a person sees a row', () => {
    expect(changes([{ draft_index: 0 }, { draft_index: 1 }, { draft_index: 2 }])).toStrictEqual({
      kept: [row('A'), row('B'), row('C')],
      edited: [],
      added: [],
      removed: [],
      reordered: false,
    })
  })

  it('[RE9] edited, added and removed are told apart, row by row', () => {
    const rows = [{ draft_index: 0, title: 'A2', tags: ['x'] }, { title: 'New' }, { draft_index: 2 }]
    expect(changes(rows)).toStrictEqual({
      kept: [row('C')],
      edited: [{ from: row('A'), to: row('A2', { tags: ['x'] }) }],
      added: [row('New')],
      removed: [row('B')],
      reordered: false,
    })
  })

  it('[RE9] a row that was set to done is edited', () => {
    expect(changes([{ draft_index: 0, status: 'done' }]).edited).toStrictEqual([
      { from: row('A'), to: row('A', { status: 'done' }) },
    ])
  })

  it('[RE9] the order changed only where drafted rows stand in another order', () => {
    expect(changes([{ draft_index: 1 }, { draft_index: 0 }]).reordered).toBe(true)
    expect(changes([{ title: 'New' }, { draft_index: 0 }, { title: 'New' }, { draft_index: 2 }]).reordered).toBe(false)
  })
})
