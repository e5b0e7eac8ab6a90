import { RotateCcw } from 'lucide-react'
import type { ReactElement } from 'react'
import type { ReviewRequest } from '../../../core/model/review.ts'
import type { Revision } from '../../../core/views/revision.ts'
import type { RowField } from '../../../core/model/row.ts'
import { changedFields, type EditableRow, editableRow, proposedRow } from '../draft/draft.ts'
import { type Strings, useStrings } from '../texts/strings.ts'

/** `edited` and `added` compare with the proposal; `revised` and `new` compare the proposal with the previous plan. */
export interface RowDifference {
  readonly kind: 'edited' | 'added' | 'revised' | 'new'
  readonly was?: string
  readonly fields: readonly RowField[]
  readonly isMoved: boolean
}

/** The person's change takes precedence over the agent's; undefined without a change. */
export function rowDifference(
  row: EditableRow,
  review: ReviewRequest,
  revision: Revision | undefined,
  isMoved: boolean,
): RowDifference | undefined {
  const proposed = proposedRow(review, row.draft_index)
  if (!proposed) return { kind: 'added', fields: [], isMoved: false }
  const edited = between('edited', proposed, row, isMoved)
  if (edited) return edited
  const revised = revision?.rows[row.draft_index ?? -1]
  if (!revised || (revised.change === 'same' && !revised.moved)) return undefined
  const { from, moved = false } = revised
  return from ? between('revised', editableRow(from, 0), row, moved) : { kind: 'new', fields: [], isMoved: false }
}

function between(
  kind: 'edited' | 'revised',
  from: EditableRow,
  to: EditableRow,
  isMoved: boolean,
): RowDifference | undefined {
  const fields = changedFields(from, to)
  if (fields.length === 0 && !isMoved) return undefined
  const isRenamed = fields.includes('title')
  return {
    kind,
    fields: fields.filter(field => field !== 'title'),
    isMoved,
    ...(isRenamed ? { was: from.title } : {}),
  }
}

interface RowMarkProps {
  readonly difference: RowDifference
  readonly about: string
  readonly onReset: () => void
}

export function RowMark({ difference, about, onReset }: RowMarkProps): ReactElement {
  const strings = useStrings()
  const { kind, was, fields, isMoved } = difference
  const { reviewing } = strings
  const isOnlyMoved = isMoved && was === undefined && fields.length === 0
  const parts = [
    ...fields.map(field => strings.fields[field]),
    ...(isMoved && !isOnlyMoved ? [reviewing.revision.moved] : []),
  ]
  return (
    <p className="rs-row-mark">
      <span className={`rs-difference rs-difference-${kind}`}>{markText(kind, isOnlyMoved, strings)}</span>
      {was !== undefined && <del dir="auto">{was}</del>}
      {parts.length > 0 && <span>{strings.timeline.list(parts)}</span>}
      {kind === 'edited' && (
        <button type="button" className="rs-link" aria-label={reviewing.reset + about} onClick={onReset}>
          <RotateCcw size={12} aria-hidden="true" /> {reviewing.reset}
        </button>
      )}
    </p>
  )
}

interface RemovedRowProps {
  readonly title: string
  readonly isFull: boolean
  readonly onRestore: () => void
}

export function RemovedRow({ title, isFull, onRestore }: RemovedRowProps): ReactElement {
  const { reviewing, timeline } = useStrings()
  return (
    <li className="rs-removed-row">
      <del dir="auto">{title}</del>
      <span className="rs-difference">{reviewing.change.removed}</span>
      <button
        type="button"
        className="rs-link"
        aria-label={timeline.changed(reviewing.reset, title)}
        disabled={isFull}
        onClick={onRestore}
      >
        <RotateCcw size={12} aria-hidden="true" /> {reviewing.reset}
      </button>
    </li>
  )
}

function markText(kind: RowDifference['kind'], isOnlyMoved: boolean, strings: Strings): string {
  const { change, revision } = strings.reviewing
  if (isOnlyMoved) return kind === 'edited' ? change.moved : revision.moved
  return { edited: change.edited, added: change.added, revised: revision.edited, new: revision.new }[kind]
}
