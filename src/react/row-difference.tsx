import { RotateCcw } from 'lucide-react'
import type { ReactElement } from 'react'
import type { ReviewRequest } from '../domain/review.ts'
import { type Revision, revisionOf } from '../domain/revision.ts'
import { changedFields, type EditableRow, editableRow, proposedRow, type RowField } from './draft.ts'
import { type Strings, useStrings } from './strings.ts'

/** How a step differs from the proposal (`edited`, `added`), or the proposal from the plan before (`revised`, `new`). */
export interface RowDifference {
  readonly kind: 'edited' | 'added' | 'revised' | 'new'
  /** The title that it had. */
  readonly was?: string
  /** The other fields that differ. */
  readonly fields: readonly RowField[]
}

/** What the person did to a row, else what the agent did to it; undefined where neither did anything. */
export function rowDifference(
  row: EditableRow,
  review: ReviewRequest,
  revision: Revision | undefined,
): RowDifference | undefined {
  const proposed = proposedRow(review, row.draft_index)
  if (!proposed) return { kind: 'added', fields: [] }
  const edited = between('edited', proposed, row)
  if (edited) return edited
  const revised = revision?.rows[row.draft_index ?? -1]
  if (!revised || revised.change === 'same') return undefined
  return revised.from ? between('revised', editableRow(revised.from, 0), row) : { kind: 'new', fields: [] }
}

/** How a plan differs from the one that was sent back. */
export const revisionIn = (review: ReviewRequest, revised: ReviewRequest | undefined): Revision | undefined =>
  revised && revisionOf(revised.draft_tasks, review.draft_tasks)

function between(kind: 'edited' | 'revised', from: EditableRow, to: EditableRow): RowDifference | undefined {
  const fields = changedFields(from, to)
  if (fields.length === 0) return undefined
  const isRenamed = fields.includes('title')
  return { kind, fields: fields.filter(field => field !== 'title'), ...(isRenamed ? { was: from.title } : {}) }
}

interface RowMarkProps {
  readonly difference: RowDifference
  readonly about: string
  readonly onReset: () => void
}

/** Says how a step differs, with a way back from the person's own edits. */
export function RowMark({ difference, about, onReset }: RowMarkProps): ReactElement {
  const strings = useStrings()
  const { kind, was, fields } = difference
  const { reviewing } = strings
  return (
    <p className="rs-row-mark">
      <span className={`rs-difference rs-difference-${kind}`}>{markText(kind, strings)}</span>
      {was !== undefined && <del dir="auto">{was}</del>}
      {fields.length > 0 && <span>{strings.timeline.list(fields.map(field => fieldLabel(field, strings)))}</span>}
      {kind === 'edited' && (
        <button type="button" className="rs-link" aria-label={reviewing.reset + about} onClick={onReset}>
          <RotateCcw size={12} aria-hidden="true" /> {reviewing.reset}
        </button>
      )}
    </p>
  )
}

function markText(kind: RowDifference['kind'], { reviewing: { change, revision } }: Strings): string {
  return { edited: change.edited, added: change.added, revised: revision.edited, new: revision.new }[kind]
}

function fieldLabel(field: RowField, strings: Strings): string {
  return {
    title: strings.title,
    details: strings.details,
    criteria: strings.criteria,
    priority: strings.priorityLabel,
    status: strings.statusLabel,
    tags: strings.tagsLabel,
    checks: strings.checks.title,
    may_change: strings.checks.mayChange,
  }[field]
}
