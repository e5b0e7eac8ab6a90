import { describe, expect, it } from 'vitest'
import type { DraftRow, ReviewRequest } from '../../../core/model/review.ts'
import { revisionOf } from '../../../core/views/plan-card.ts'
import { splitList } from '../parts/text.ts'
import {
  areRowsEdited,
  asProposed,
  changedFields,
  commentedRows,
  draftOf,
  draftTally,
  draftText,
  firstUntitled,
  isBlank,
  isEdited,
  movedRows,
  newRow,
  rebaseDraft,
  removedRows,
  restored,
  rowChange,
  sentDraft,
  submittedRow,
} from './draft.ts'
import { isOwn } from './draft-checks.ts'
import { english } from '../texts/english.ts'
import { rowDifference } from './review-row.tsx'
import { BY_PLAN } from '../../../../test/support/asked-by.ts'

const row = (title: string, more: Partial<DraftRow> = {}): DraftRow => ({
  title,
  details: '',
  criteria: '',
  priority: 'medium',
  status: 'todo',
  tags: [],
  ...more,
})

const review = (...rows: readonly DraftRow[]): ReviewRequest => ({
  ...BY_PLAN,
  review_id: 'review-1',
  status: 'pending',
  session_id: 'chat-1',
  conversation_turn_id: 'turn-1',
  tool_call_id: 'call-1',
  draft_tasks: rows,
  timeout_ms: 120_000,
  expires_at: '2026-11-02T09:02:00.000Z',
})

describe('a draft', () => {
  it('[PA11] submits every field of a proposed row as it stands, with the row that it was made from', () => {
    const proposed = row('A', { details: 'd', criteria: 'c', priority: 'high', status: 'doing', tags: ['x', 'y'] })
    const { rows } = draftOf(review(proposed))
    expect(rows.map(submittedRow)).toEqual([{ ...proposed, checks: [], scope: [], draft_index: 0 }])
  })

  it('[PA11] submits an added row without a draft index', () => {
    expect(submittedRow(newRow({ title: 'B' }))).toEqual({ ...row('B'), checks: [], scope: [], draft_index: null })
  })

  it('tags are separated by Western or Chinese commas; empty ones are left out', () => {
    expect(splitList(' a, b，c ,, ')).toEqual(['a', 'b', 'c'])
    expect(splitList(' , ')).toEqual([])
  })

  it('the first row without a title is named by its number', () => {
    const { rows } = draftOf(review(row('A'), row('B')))
    expect(firstUntitled(rows)).toBeUndefined()
    expect(firstUntitled([...rows, newRow({ title: '  ' })])).toBe(3)
  })

  it('is edited where anything that is sent differs from the proposal', () => {
    const request = review(row('A', { tags: ['x'] }), row('B'))
    const draft = draftOf(request)
    expect(isEdited(draft, request)).toBe(false)
    expect(isEdited({ ...draft, comment: 'Hi' }, request)).toBe(true)
    expect(isEdited({ ...draft, rows: draft.rows.toReversed() }, request)).toBe(true)
    const spaced = draft.rows.map(each => ({ ...each, tags: each.tags === '' ? '' : ` ${each.tags} ` }))
    expect(isEdited({ ...draft, rows: spaced }, request)).toBe(false)
  })

  it('[RE22] a comment on a proposed row is an edit, but not of the row', () => {
    const request = review(row('A'), row('B'))
    const { rows } = draftOf(request)
    const commented = [
      ...rows.map(each => ({ ...each, comment: each.title === 'B' ? 'Why?' : ' ' })),
      newRow({ comment: 'x' }),
    ]
    const draft = { rows: commented, comment: '' }
    expect(commentedRows(commented).map(({ draft_index, comment }) => [draft_index, comment])).toEqual([[1, 'Why?']])
    expect([
      isEdited({ ...draft, rows: commented.slice(0, 2) }, request),
      areRowsEdited({ rows: commented.slice(0, 2), comment: '' }, request),
    ]).toEqual([true, false])
    expect(submittedRow(commented[1] ?? newRow())).not.toHaveProperty('comment')
    expect(draftText(draft, english)).toContain('2. B\n   Comment on this step: Why?')
  })

  it('[RE9] says what the person did to a row, and makes one or all as they were proposed', () => {
    const request = review(row('A', { tags: ['x'] }), row('B'))
    const [a, b] = draftOf(request).rows
    if (!a || !b) throw new Error('no rows')
    const edited = [newRow({ title: 'C' }), { ...b, title: 'B2', comment: 'Why?' }, a]
    expect(edited.map(each => rowChange(each, request))).toEqual(['added', 'edited', 'kept'])
    expect(asProposed(edited, request, b.key)).toEqual([edited[0], a, { ...b, comment: 'Why?' }])
    expect(asProposed(edited, request)).toEqual([a, { ...b, comment: 'Why?' }])
  })

  it('counts what differs from the proposal; to approve a check is not to edit its row', () => {
    const check = { kind: 'command', run: ['npm', 'test'], id: 'c', hash: 'h' } as const
    const request = review(row('A', { checks: [check] }), row('B'), row('C'))
    const [a, b, c] = draftOf(request).rows
    if (!a || !b || !c) throw new Error('no rows')
    const approved = { ...a, checks: a.checks.map(each => ({ ...each, isApproved: true })) }
    expect([changedFields(a, approved), rowChange(approved, request)]).toEqual([[], 'kept'])
    expect(changedFields(b, { ...b, title: 'B2', tags: 'x', comment: 'Why?' })).toEqual(['title', 'tags'])
    expect(draftTally([c, { ...approved, title: 'A2' }, newRow()], request)).toEqual({
      edited: 1,
      added: 1,
      removed: 1,
      isReordered: true,
    })
    expect(draftTally([approved, b, c], request)).toEqual({ edited: 0, added: 0, removed: 0, isReordered: false })
  })

  it('a row says what the person did to it, else what the agent did to the plan before', () => {
    const before = review(row('A'), row('B'), row('C'))
    const after = review(row('A'), row('B', { criteria: 'c' }), row('D'), row('E'))
    const revision = revisionOf(before.draft_tasks, after.draft_tasks)
    const { rows } = draftOf(after)
    const [isMoved, isNotMoved] = [{ isMoved: true }, { isMoved: false }]
    expect(rows.map(each => rowDifference(each, after, revision, false))).toEqual([
      undefined,
      { kind: 'revised', fields: ['criteria'], ...isNotMoved },
      { kind: 'revised', fields: [], was: 'C', ...isNotMoved },
      { kind: 'new', fields: [], ...isNotMoved },
    ])
    const [a = newRow(), b = newRow()] = rows
    const renamed = { kind: 'edited', fields: [], was: 'B' }
    expect(rowDifference({ ...b, title: 'B2' }, after, revision, true)).toEqual({ ...renamed, ...isMoved })
    expect(rowDifference(a, after, revision, true)).toEqual({ kind: 'edited', fields: [], ...isMoved })
    expect(rowDifference(newRow(), after, revision, false)).toEqual({ kind: 'added', fields: [], ...isNotMoved })
    expect(rowDifference(b, after, undefined, false)).toBeUndefined()
    const swapped = revisionOf(before.draft_tasks, before.draft_tasks.toReversed())
    expect(swapped.rows.map(({ moved }) => moved ?? false)).toEqual([true, true, false])
  })

  it('a row that was moved goes back to its place, and one that was removed comes back there', () => {
    const request = review(row('A'), row('B'), row('C'), row('D'))
    const [a, b, c, d] = draftOf(request).rows
    if (!a || !b || !c || !d) throw new Error('no rows')
    const own = newRow({ title: 'Mine' })
    const titles = (rows: readonly { readonly title: string }[]) => rows.map(({ title }) => title).join('')
    expect([...movedRows([d, own, a, b, c])]).toEqual([0])
    expect(titles(asProposed([{ ...d, title: 'D2' }, own, a, b, c], request, d.key))).toBe('MineABCD')
    // Another row that was moved is no guide.
    expect(titles(asProposed([c, d, b, a], request, a.key))).toBe('ACDB')
    expect(removedRows([d, a, own], request)).toEqual([
      { index: 1, title: 'B', place: 2 },
      { index: 2, title: 'C', place: 2 },
    ])
    expect(titles(restored([d, a, own], request, 2))).toBe('DACMine')
    expect(titles(restored([], request, 1))).toBe('B')
    expect(removedRows([a, b, c, d], request)).toEqual([])
  })

  it('a row is empty where it says nothing, whatever its priority', () => {
    expect([isBlank(newRow({ priority: 'high' })), isBlank(newRow({ details: 'x' }))]).toEqual([true, false])
  })

  it('[PA11] keys are unique and do not depend on titles', () => {
    const { rows } = draftOf(review(row('A'), row('A')))
    const keys = [...rows, newRow(), newRow()].map(({ key }) => key)
    expect(new Set(keys).size).toBe(4)
  })
})

describe('edits of an earlier proposal', () => {
  const before = review(row('A'), row('B'), row('C'))
  const saved = {
    rows: [
      { ...newRow({ title: 'B, shorter' }), draft_index: 1 },
      newRow({ title: 'Mine' }),
      { ...newRow({ title: 'A' }), draft_index: 0 },
    ],
    comment: 'Mind the gap',
    proposed: before.draft_tasks.map(({ title }) => title),
  }

  it('are matched to the rows that had the same title when they were proposed', () => {
    const { rows, comment } = rebaseDraft(saved, review(row('A'), row('X'), row('B')))
    expect(rows.map(({ title, draft_index }) => [title, draft_index])).toEqual([
      ['B, shorter', 2],
      ['Mine', undefined],
      ['A', 0],
    ])
    expect(comment).toBe('Mind the gap')
  })

  it('become added rows where the new proposal lacks the title', () => {
    const { rows } = rebaseDraft(saved, review(row('X')))
    expect(rows.map(({ draft_index }) => draft_index)).toEqual([undefined, undefined, undefined])
  })

  it('that were sent with a request for changes come back as they were sent', () => {
    const proposed = { kind: 'command', run: ['npm', 'test'], id: 'c1', hash: 'h1' } as const
    const written = { kind: 'command', run: ['npm', 'run', 'lint'], id: 'c2', hash: 'h2' } as const
    const request = review(row('A', { checks: [proposed], allowed: ['h1'] }), row('B'), row('C'))
    const { checks: _, ...b } = row('B', { tags: ['x', 'y'] })
    const sent = {
      review_id: 'review-1',
      action: 'cancel',
      reason: 'changes_requested',
      via: 'http',
      created_count: 0,
      changes: {
        kept: [row('A', { checks: [proposed] })],
        edited: [{ from: row('B'), to: { ...b, title: 'B 2' } }],
        added: [row('Mine', { checks: [written] })],
        removed: [row('C')],
        reordered: true,
      },
      rows: [{ change: 'edited', draft_index: 1 }, { change: 'added' }, { change: 'kept', draft_index: 0 }],
    } as const
    const draft = sentDraft(request, sent)
    expect(draft?.rows.map(({ title, draft_index, tags }) => [title, draft_index, tags])).toEqual([
      ['B 2', 1, 'x, y'],
      ['Mine', undefined, ''],
      ['A', 0, ''],
    ])
    // What the agent proposed still has to be approved; what the person wrote is theirs.
    expect(
      draft?.rows.map(({ checks }) => checks.map(check => [isOwn(check), check.isApproved, check.isAllowed])),
    ).toEqual([[], [[true, false, false]], [[false, false, true]]])
    // The agent took one edit over, and dropped the rest.
    const { rows } = draft ? rebaseDraft(draft, review(row('A'), row('B 2'), row('Else'))) : { rows: [] }
    expect(rows.map(({ draft_index }) => draft_index)).toEqual([1, undefined, 0])
    expect(sentDraft(request, undefined)).toBeUndefined()
  })

  it('match each of two equal titles once', () => {
    const twice = { ...saved, rows: [0, 1].map(draft_index => ({ ...newRow({ title: 'A' }), draft_index })) }
    const { rows } = rebaseDraft({ ...twice, proposed: ['A', 'A'] }, review(row('A'), row('A')))
    expect(rows.map(({ draft_index }) => draft_index)).toEqual([0, 1])
  })
})
