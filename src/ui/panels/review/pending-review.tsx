import { Plus } from 'lucide-react'
import { useId, useRef, useState, type ReactElement, type RefObject } from 'react'
import { AutosizeTextarea, Button, classNames } from '../parts/controls.tsx'
import type { Client } from '../../../client/client.ts'
import type { Review } from '../../../core/model/review.ts'
import { revisionOf, type Revision } from '../../../core/views/plan-card.ts'
import { checkLabel } from '../parts/text.ts'
import { MAX_ROWS, movedRows, removedRows } from './draft.ts'
import { RejectedPlan, RestoreEdits, ReviewOutcome, RevisedPlan } from './review-outcome.tsx'
import { DecisionButtons, RejectQuestion, ReviewHead, SelectionBar, useRejectQuestion } from './review-bar.tsx'
import { RemovedRow, ReviewRow, rowDifference } from './review-row.tsx'
import { ScrollCue, useRowsOutOfSight } from '../parts/menu.tsx'
import { useStrings } from '../texts/strings.ts'
import { Templates } from './templates.tsx'
import { useDropAtEnd } from '../parts/reorder.ts'
import { useFocusOn, usePanelFocus, useUndoKey } from '../parts/hooks.ts'
import type { ReviewHandle } from './use-review.ts'
import { useRowEditing, type RowEditing } from './row-editing.ts'

export interface ReviewPartProps {
  readonly client: Client
  readonly handle: ReviewHandle
  readonly className: string | undefined
}

/** The part of `ReviewPanel` that loads on demand. */
export default function ReviewPart({ client, handle, className }: ReviewPartProps): ReactElement | null {
  const { review, outcome } = handle
  if (!review) return outcome ? <ReviewOutcome outcome={outcome} className={className} /> : null
  return <PendingReview key={review.review_id} client={client} handle={handle} review={review} className={className} />
}

interface PendingReviewProps extends ReviewPartProps {
  readonly review: Review
}

function PendingReview({ client, handle, review, className }: PendingReviewProps): ReactElement {
  const { rejection, isBusy } = handle
  const heading = useId()
  const strings = useStrings()
  const { panel, onFocus } = usePanelFocus<HTMLElement>()
  const focusOn = useFocusOn(panel)
  const editing = useRowEditing(handle, panel)
  const undoRejection = (): boolean => {
    rejection?.undo()
    focusOn('.rs-cancel')
    return true
  }
  // Ctrl+Z in the comment and the tool fields does not undo row edits.
  useUndoKey(
    panel,
    rejection ? { undo: undoRejection, redo: () => false } : editing,
    '.rs-dialog, .rs-selection, .rs-comment',
  )
  const question = useRejectQuestion(panel, isBusy || rejection !== undefined)
  return (
    <section
      ref={panel}
      className={classNames('rs-panel rs-review', className)}
      aria-labelledby={heading}
      aria-busy={isBusy}
      tabIndex={-1}
      onFocus={onFocus}
      onKeyDown={question.onKeyDown}
    >
      <p className="rs-sr" role="alert">
        {strings.reviewPending(review.draft_tasks.length)}
      </p>
      <p className="rs-sr" role="status">
        {editing.announcement}
      </p>
      {rejection && <RejectedPlan rejection={rejection} isBusy={isBusy} onUndo={undoRejection} />}
      {/* Hidden, not unmounted, so that undo restores it unchanged. */}
      <div className="rs-open-review" hidden={rejection !== undefined}>
        <OpenReview
          client={client}
          handle={handle}
          review={review}
          editing={editing}
          question={question}
          heading={heading}
          panel={panel}
        />
      </div>
    </section>
  )
}

interface OpenReviewProps extends Omit<PendingReviewProps, 'className'> {
  readonly editing: RowEditing
  readonly question: ReturnType<typeof useRejectQuestion>
  readonly heading: string
  readonly panel: { readonly current: HTMLElement | null }
}

function OpenReview({ client, handle, review, editing, question, heading, panel }: OpenReviewProps): ReactElement {
  const strings = useStrings()
  const { rows, error, isEdited } = handle
  const body = useRef<HTMLDivElement>(null)
  const { above, below } = useRowsOutOfSight(body, '.rs-row')
  const comment = useRef<HTMLTextAreaElement>(null)
  const [showsTemplates, setShowsTemplates] = useState(false)
  const nextCheck = (): void => panel.current?.querySelector<HTMLElement>('.rs-approval input:not(:checked)')?.focus()
  return (
    <>
      <ReviewHead handle={handle} editing={editing} headingId={heading} onTemplates={() => setShowsTemplates(true)} />
      <div className="rs-review-body" ref={body}>
        <ReviewBody handle={handle} review={review} editing={editing} panel={panel} />
        {!handle.commentField && <Comment handle={handle} field={comment} />}
      </div>
      {showsTemplates && (
        <Templates client={client} rows={rows} onInsert={editing.add} onClose={() => setShowsTemplates(false)} />
      )}
      <footer className="rs-review-foot">
        <ScrollCue where="above" count={above} of={body} />
        <ScrollCue where="below" count={below} of={body} />
        {error && (
          <div className="rs-problem" role="alert">
            <span>{error.message}</span>
            {error.retry && (
              <Button
                onClick={() => {
                  question.close()
                  void error.retry?.()
                }}
              >
                {strings.retry}
              </Button>
            )}
          </div>
        )}
        {editing.selected.size > 0 && <SelectionBar editing={editing} count={rows.length} />}
        {question.isOpen ? (
          <RejectQuestion
            text={isEdited ? strings.askDiscard : strings.askCancel}
            onKeep={question.keepEditing}
            onReject={() => {
              question.close()
              handle.reject()
            }}
          />
        ) : (
          <DecisionButtons
            handle={handle}
            editing={editing}
            onRequest={() => {
              void handle.revise()
              if (handle.comment.trim() === '') comment.current?.focus()
            }}
            onNextCheck={nextCheck}
          />
        )}
      </footer>
    </>
  )
}

type ReviewBodyProps = Pick<OpenReviewProps, 'handle' | 'review' | 'editing' | 'panel'>

function ReviewBody({ handle, review, editing, panel }: ReviewBodyProps): ReactElement {
  const strings = useStrings()
  const { rows, earlierEdits, checks } = handle
  const { sentBack, requestedChanges, requestedOnRows } = handle
  const revision = sentBack && revisionOf(sentBack, review.draft_tasks)
  return (
    <div className="rs-plan">
      {revision && <RevisedPlan request={requestedChanges} onRows={requestedOnRows} revision={revision} />}
      {earlierEdits && <RestoreEdits edits={earlierEdits} onDone={() => panel.current?.focus()} />}
      <Rows handle={handle} review={review} editing={editing} revision={revision} />
      <div className="rs-tools">
        <button
          type="button"
          className="rs-link rs-add-row"
          disabled={rows.length >= MAX_ROWS}
          onClick={() => editing.add()}
        >
          <Plus size={16} aria-hidden="true" /> {strings.addRow}
        </button>
        {rows.length >= MAX_ROWS && (
          // Screen readers get an announcement instead.
          <span className="rs-full" aria-hidden="true">
            {strings.tooManyRows(MAX_ROWS)}
          </span>
        )}
      </div>
      {review.unchecked && (
        <p className="rs-note">
          {strings.timeline.changed(strings.checks.leftOut, '')}
          <span className="rs-code">--workspace</span>
        </p>
      )}
      {checks.ofPlan.length > 0 && (
        <p className="rs-note">
          {strings.timeline.changed(strings.checks.atTheEnd, '')}
          <span className="rs-code">{checks.ofPlan.map(check => checkLabel(check, strings)).join(' · ')}</span>
        </p>
      )}
    </div>
  )
}

interface RowsProps extends Omit<ReviewBodyProps, 'panel'> {
  readonly revision: Revision | undefined
}

function Rows({ handle, review, editing, revision }: RowsProps): ReactElement {
  const { rows, error } = handle
  const list = useRef<HTMLOListElement>(null)
  useDropAtEnd('review', list, ({ index }, to) => editing.move(index, to))
  const moved = movedRows(rows)
  const removed = removedRows(rows, review)
  const removedAt = (place: number): ReactElement[] =>
    removed
      .filter(row => row.place === place)
      .map(({ index, title }) => (
        <RemovedRow
          key={`removed ${index}`}
          title={title}
          isFull={rows.length >= MAX_ROWS}
          onRestore={() => editing.restore(index, place)}
        />
      ))
  return (
    <ol className={`rs-rows${editing.selected.size > 0 ? ' rs-selecting' : ''}`} ref={list}>
      {rows.flatMap((row, index) => [
        ...removedAt(index),
        <ReviewRow
          key={row.key}
          row={row}
          checks={handle.checks}
          index={index}
          count={rows.length}
          isSelected={editing.selected.has(row.key)}
          difference={rowDifference(row, review, revision, moved.has(index))}
          error={error?.row?.key === row.key ? error.row : undefined}
          onSelect={isOn => editing.select(row.key, isOn)}
          onChange={fields => handle.edit(row.key, fields)}
          onMove={editing.move}
          onEnter={isAtStart => editing.add([{}], isAtStart ? index : index + 1)}
          onReset={() => handle.reset(row.key)}
          onRemove={isBackwards => editing.remove(row.key, isBackwards)}
        />,
      ])}
      {removedAt(rows.length)}
    </ol>
  )
}

interface CommentProps {
  readonly handle: ReviewHandle
  readonly field: RefObject<HTMLTextAreaElement | null>
}

function Comment({ handle, field }: CommentProps): ReactElement {
  const strings = useStrings()
  return (
    <label className="rs-comment">
      <span className="rs-sr">{strings.comment}</span>
      <AutosizeTextarea
        ref={field}
        className="rs-input rs-comment-input"
        rows={1}
        placeholder={strings.comment}
        aria-invalid={handle.isRequestEmpty}
        value={handle.comment}
        onChange={event => handle.setComment(event.target.value)}
      />
    </label>
  )
}
