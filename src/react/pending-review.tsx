import { Plus } from 'lucide-react'
import { type ReactElement, useId, useRef } from 'react'
import type { Client } from '../client/client.ts'
import type { LiveState } from '../client/live-state.ts'
import type { Review } from '../domain/review.ts'
import { AutosizeTextarea } from './autosize-textarea.tsx'
import { checkLabel } from './check-text.ts'
import { turnsInOrder } from './chronological.ts'
import { classNames } from './class-names.ts'
import { Countdown } from './countdown.tsx'
import { MAX_ROWS } from './draft.ts'
import { CancelQuestion, DecisionButtons, useCancelQuestion, useChangeRequest } from './review-decision.tsx'
import { ReviewRow } from './review-row.tsx'
import { SelectionBar } from './selection-bar.tsx'
import { useStrings } from './strings.ts'
import { Templates } from './templates.tsx'
import type { ConversationView } from './use-conversation.ts'
import type { EarlierEdits } from './use-draft.ts'
import { useDropAtEnd } from './use-drop-at-end.ts'
import { usePanelFocus } from './use-panel-focus.ts'
import type { ReviewHandle } from './use-review.ts'
import { type RowEditing, useRowEditing } from './use-row-editing.ts'
import { useUndoKey } from './use-undo-key.ts'

interface PendingReviewProps {
  readonly client: Client
  readonly view: ConversationView
  readonly handle: ReviewHandle
  readonly review: Review
  readonly className: string | undefined
}

/** A review that waits for a decision: its rows to edit, and the decision. */
export function PendingReview({ client, view, handle, review, className }: PendingReviewProps): ReactElement {
  const strings = useStrings()
  const { rows, earlierEdits, error, isBusy, isEdited } = handle
  const heading = useId()
  const { panel, onFocus } = usePanelFocus<HTMLElement>()
  const editing = useRowEditing(handle, panel)
  // The comment and the fields of the tools have nothing to do with the rows.
  useUndoKey(panel, editing, '.rs-template, .rs-selection, .rs-comment')
  const question = useCancelQuestion(panel, isBusy)
  const request = useChangeRequest(handle, panel)
  const { conversation, turn } = originOf(view.state, review)
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
      <header className="rs-review-head">
        <h2 id={heading}>{strings.review}</h2>
        <span className="rs-origin" title={conversation}>
          <span>{conversation}</span> · {strings.turn(turn)}
        </span>
        {review.expires_at !== null && <Countdown remainingMs={handle.remainingMs} />}
      </header>
      <p className="rs-sr" role="alert">
        {strings.reviewPending(review.draft_tasks.length)}
      </p>
      <p className="rs-sr" role="status">
        {editing.announcement}
      </p>
      <div className="rs-review-body">
        {review.revises !== undefined && <Revision request={handle.requestedChanges} />}
        {earlierEdits && <RestoreEdits edits={earlierEdits} onDone={() => panel.current?.focus()} />}
        <Rows handle={handle} editing={editing} />
        {handle.checks.ofPlan.length > 0 && (
          <p className="rs-note">
            {strings.checks.atTheEnd}:{' '}
            <span className="rs-code">{handle.checks.ofPlan.map(check => checkLabel(check, strings)).join(' · ')}</span>
          </p>
        )}
        <div className="rs-tools">
          <button
            type="button"
            className="rs-button rs-add-row"
            disabled={rows.length >= MAX_ROWS}
            onClick={() => editing.add()}
          >
            <Plus size={16} aria-hidden="true" /> {strings.addRow}
          </button>
          <Templates client={client} rows={rows} onInsert={editing.add} />
          {rows.length >= MAX_ROWS && (
            // Screen readers hear it when rows did not fit.
            <span className="rs-full" aria-hidden="true">
              {strings.tooManyRows(MAX_ROWS)}
            </span>
          )}
        </div>
        {editing.selected.size > 0 && <SelectionBar count={editing.selected.size} onSet={editing.editSelected} />}
        <label className="rs-comment">
          <span className="rs-sr">{strings.comment}</span>
          <AutosizeTextarea
            className="rs-input rs-comment-input"
            rows={1}
            placeholder={strings.comment}
            aria-invalid={request.isIncomplete}
            value={handle.comment}
            onChange={event => handle.setComment(event.target.value)}
          />
        </label>
      </div>
      {error && (
        <div className="rs-problem" role="alert">
          <span>{error.message}</span>
          {error.retry && (
            <button
              type="button"
              className="rs-button"
              onClick={() => {
                question.close()
                void error.retry?.()
              }}
            >
              {strings.retry}
            </button>
          )}
        </div>
      )}
      {question.isOpen ? (
        <CancelQuestion
          text={isEdited ? strings.askDiscard : strings.askCancel}
          onKeep={question.keepEditing}
          onCancel={() => {
            question.close()
            void handle.cancel()
          }}
        />
      ) : (
        <DecisionButtons
          handle={handle}
          isRequestIncomplete={request.isIncomplete}
          onRequest={request.send}
          onCancel={() => (isEdited ? question.ask() : void handle.cancel())}
        />
      )}
    </section>
  )
}

function Rows({ handle, editing }: { readonly handle: ReviewHandle; readonly editing: RowEditing }): ReactElement {
  const { rows, error } = handle
  const list = useRef<HTMLOListElement>(null)
  useDropAtEnd('review', list, ({ index }, to) => editing.move(index, to))
  return (
    <ol className="rs-rows" ref={list}>
      {rows.map((row, index) => (
        <ReviewRow
          key={row.key}
          row={row}
          checks={handle.checks}
          index={index}
          count={rows.length}
          isSelected={editing.selected.has(row.key)}
          error={error?.row?.key === row.key ? error.row : undefined}
          onSelect={isOn => editing.select(row.key, isOn)}
          onChange={fields => handle.edit(row.key, fields)}
          onMove={editing.move}
          onRemove={() => editing.remove(row.key)}
        />
      ))}
    </ol>
  )
}

/** Says that the plan answers the person's earlier request. */
function Revision({ request }: { readonly request: string | undefined }): ReactElement {
  const strings = useStrings()
  return (
    <p className="rs-revision">
      {strings.revised}
      {request !== undefined && <q>{request}</q>}
    </p>
  )
}

interface RestoreEditsProps {
  readonly edits: EarlierEdits
  readonly onDone: () => void
}

function RestoreEdits({ edits, onDone }: RestoreEditsProps): ReactElement {
  const strings = useStrings()
  const then = (act: () => void) => () => {
    act()
    onDone()
  }
  return (
    <div className="rs-earlier">
      <span role="status">{strings.earlierEdits}</span>
      <button type="button" className="rs-button" onClick={then(edits.restore)}>
        {strings.restoreEdits}
      </button>
      <button type="button" className="rs-button" onClick={then(edits.discard)}>
        {strings.discard}
      </button>
    </div>
  )
}

/** The conversation that a review belongs to, and the number of its turn. */
function originOf({ conversation, title }: LiveState, review: Review): { conversation: string; turn: number } {
  const turn = turnsInOrder(conversation).findIndex(({ id }) => id === review.conversation_turn_id) + 1
  return { conversation: title ?? review.session_id, turn }
}
