import type { Resolution } from '../../../core/model/event.ts'
import type { ReviewRequest, RowComment } from '../../../core/model/review.ts'
import { FIELD_NAMES, type Row } from '../../../core/model/row.ts'
import { sentBackRows } from '../../../core/views/revision.ts'
import { splitList } from '../tasks/check-text.ts'
import { commentedRows, type Draft, fieldsOf, isList, type RowFields } from '../draft/draft.ts'

/** True if the decision includes everything in the draft, so that no edit is lost. */
export function isAsDecided(
  { rows, comment }: Draft,
  review: ReviewRequest,
  resolution: Resolution | undefined,
): boolean {
  if (!resolution) return false
  const isSentBack = resolution.reason === 'changes_requested'
  if (resolution.action !== 'confirm' && !isSentBack) return false
  const decided: readonly Row[] = sentBackRows(review.draft_tasks, resolution)
  // A plan sent back for changes omits rows without a title.
  const sent = isSentBack ? rows.filter(({ title }) => title.trim() !== '') : rows
  return (
    isSame(sent.map(comparable), decided.map(fieldsOf).map(comparable)) &&
    isSame(saidOf(commentedRows(rows)), saidOf(resolution.row_comments ?? [])) &&
    (comment.trim() === '' || clean(comment) === clean(resolution.comment ?? ''))
  )
}

/** The server trims what a person typed, so both sides are normalised. */
const comparable = (row: RowFields): unknown =>
  FIELD_NAMES.map(name => {
    if (name === 'checks') return row.checks.map(({ text }) => clean(text))
    return isList(name) ? [...new Set(splitList(row[name]).map(clean))] : clean(row[name])
  })

const saidOf = (comments: readonly RowComment[]): unknown =>
  comments.map(each => [each.draft_index, clean(each.comment)]).toSorted(([a], [b]) => Number(a) - Number(b))

const clean = (text: string): string => text.trim().replaceAll(/\s+/g, ' ')

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
