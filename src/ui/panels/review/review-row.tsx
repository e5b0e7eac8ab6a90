import {
  ArrowDown,
  ArrowUp,
  ChevronDown,
  ChevronUp,
  GripVertical,
  MessageSquare,
  RotateCcw,
  SquareCheck,
  X,
} from 'lucide-react'
import { useEffect, useId, useRef, useState, type FocusEvent, type KeyboardEvent, type ReactElement } from 'react'
import { MenuButton } from '../parts/menu.tsx'
import { AutosizeTextarea, IconButton, isComposing } from '../parts/controls.tsx'
import { changedFields, editableRow, isBlank, proposedRow, type EditableRow, type RowFields } from './draft.ts'
import type { ReviewChecks } from './draft-checks.ts'
import { edgeClass, useReorder } from '../parts/reorder.ts'
import { RowFieldsEditor, type RowError } from './review-fields.tsx'
import { useStrings, type Strings } from '../texts/strings.ts'
import type { ReviewRequest } from '../../../core/model/review.ts'
import type { Revision } from '../../../core/views/plan-card.ts'
import type { RowField } from '../../../core/model/row.ts'

interface ReviewRowProps {
  readonly row: EditableRow
  readonly checks: ReviewChecks
  readonly index: number
  readonly count: number
  readonly isSelected: boolean
  readonly difference: RowDifference | undefined
  readonly error: RowError | undefined
  readonly onSelect: (isOn: boolean) => void
  readonly onChange: (fields: Partial<RowFields>) => void
  readonly onMove: (from: number, to: number) => void
  readonly onEnter: (isAtStart: boolean) => void
  readonly onReset: () => void
  /** With Backspace the focus moves to the previous step. */
  readonly onRemove: (isBackwards?: boolean) => void
}

/**
 * One proposed step. Empty fields are hidden until it is opened. Alt with an arrow key moves it, as does dragging its
 * handle. Enter adds a step after it, or before it if the caret is at the start of the title; Backspace removes an
 * empty step.
 */
export function ReviewRow(props: ReviewRowProps): ReactElement {
  const { row, checks, index, count, isSelected, difference, error } = props
  const { onSelect, onChange, onMove, onEnter, onReset, onRemove } = props
  const strings = useStrings()
  const [isOpen, setOpen] = useState(false)
  const [isCommenting, setCommenting] = useState(false)
  const { item, handle, edge, onKeyDown } = useReorder('review', row.key, index, (from, to) => onMove(from.index, to))
  const errorId = useId()
  useFocusOnError(item, error)
  const about = strings.timeline.list(['', String(index + 1)])
  const isProposed = row.draft_index !== undefined
  const comment = (): void => {
    setCommenting(true)
    item.current?.querySelector<HTMLElement>('.rs-row-comment')?.focus()
  }
  const onTitleKey = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (isComposing(event)) return
    if (event.key === 'Enter') {
      event.preventDefault()
      onEnter(row.title !== '' && event.currentTarget.selectionEnd === 0)
    }
    // Ignores key repeat: a held Backspace that empties the title must not remove the step.
    if (event.key === 'Backspace' && !event.repeat && isBlank(row)) {
      event.preventDefault()
      onRemove(true)
    }
  }
  const toggle = { label: isOpen ? strings.fewerFields : strings.moreFields, icon: isOpen ? ChevronUp : ChevronDown }
  return (
    <li
      ref={item}
      className={`rs-row${edgeClass(edge)}${difference ? ` rs-row-${difference.kind}` : ''}`}
      // Receives the focus when Escape leaves a field.
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      <span ref={handle} className="rs-handle" title={strings.drag} aria-hidden="true">
        <GripVertical size={16} />
      </span>
      <label className="rs-check">
        <input
          type="checkbox"
          aria-label={strings.selectRow(index + 1)}
          checked={isSelected}
          onChange={event => onSelect(event.target.checked)}
        />
        <span className="rs-number" aria-hidden="true">
          {index + 1}
        </span>
      </label>
      <div className="rs-fields">
        <div className="rs-row-head">
          <AutosizeTextarea
            aria-label={strings.fields.title + about}
            aria-invalid={row.title.trim() === '' || error?.field === 'title'}
            {...(error?.field === 'title' ? { 'aria-describedby': errorId } : {})}
            rows={1}
            className="rs-input rs-quiet rs-row-title"
            placeholder={strings.fields.title}
            value={row.title}
            onChange={event => onChange({ title: event.target.value.replaceAll(/[\r\n]+/g, ' ') })}
            onFocus={caretAtEnd}
            onKeyDown={onTitleKey}
          />
          <div className="rs-row-room" data-title={row.title}>
            <div className="rs-hover-actions">
              <IconButton {...toggle} about={about} isExpanded={isOpen} onAct={() => setOpen(!isOpen)} />
              {isProposed && (
                <IconButton label={strings.rowComment} about={about} icon={MessageSquare} onAct={comment} />
              )}
              <IconButton label={strings.remove} about={about} icon={X} onAct={() => onRemove()} />
            </div>
          </div>
          <div className="rs-actions">
            <MenuButton
              label={strings.moreActions}
              about={about}
              items={() => [
                { ...toggle, onChoose: () => setOpen(!isOpen) },
                ...(isProposed ? [{ label: strings.rowComment, icon: MessageSquare, onChoose: comment }] : []),
                {
                  label: strings.moveUp,
                  icon: ArrowUp,
                  isDisabled: index === 0,
                  onChoose: () => onMove(index, index - 1),
                },
                {
                  label: strings.moveDown,
                  icon: ArrowDown,
                  isDisabled: index === count - 1,
                  onChoose: () => onMove(index, index + 1),
                },
                { label: strings.reviewing.select, icon: SquareCheck, onChoose: () => onSelect(!isSelected) },
                ...(difference?.kind === 'edited'
                  ? [{ label: strings.reviewing.reset, icon: RotateCcw, onChoose: onReset }]
                  : []),
                { label: strings.remove, icon: X, onChoose: () => onRemove() },
              ]}
            />
          </div>
        </div>
        {difference && <RowMark difference={difference} about={about} onReset={onReset} />}
        {error && (
          <p id={errorId} className="rs-row-problem">
            {error.message}
          </p>
        )}
        <RowFieldsEditor
          row={row}
          checks={checks}
          about={about}
          isOpen={isOpen}
          isCommenting={isCommenting}
          error={error}
          errorId={errorId}
          onChange={onChange}
          onCommented={() => setCommenting(false)}
        />
      </div>
    </li>
  )
}

/** Tab puts the caret of an untouched field at the start, where Enter would add a step before this one. */
function caretAtEnd({ currentTarget: field }: FocusEvent<HTMLTextAreaElement>): void {
  if (field.selectionEnd === 0) field.setSelectionRange(field.value.length, field.value.length)
}

function useFocusOnError(item: { readonly current: HTMLElement | null }, error: RowError | undefined): void {
  const last = useRef(error)
  useEffect(() => {
    if (error && error !== last.current) {
      item.current?.querySelector<HTMLElement>('[aria-describedby]')?.focus()
      item.current?.querySelector('.rs-row-problem')?.scrollIntoView({ block: 'nearest' })
    }
    last.current = error
  }, [item, error])
}

/** `edited` and `added` compare with the proposal; `revised` and `new` compare the proposal with the previous plan. */
interface RowDifference {
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

function RowMark({ difference, about, onReset }: RowMarkProps): ReactElement {
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
