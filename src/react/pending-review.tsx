import { Plus } from 'lucide-react'
import { type KeyboardEvent, type ReactElement, useId, useRef, useState } from 'react'
import type { Client } from '../client/client.ts'
import type { LiveState } from '../client/live.ts'
import type { Review } from '../domain/review.ts'
import { Countdown } from './countdown.tsx'
import { emptyRow, isChanged, MOST_ROWS, rowWithoutTitle } from './draft.ts'
import { Growing } from './growing.tsx'
import { turnsInOrder } from './in-order.ts'
import { isComposing } from './is-composing.ts'
import { ReviewRow } from './review-row.tsx'
import { SelectionBar } from './selection-bar.tsx'
import { Templates } from './templates.tsx'
import type { ConversationView } from './use-conversation.ts'
import { type Action, useDecision } from './use-decision.ts'
import { useDraft } from './use-draft.ts'
import { useDropAtEnd } from './use-drop-at-end.ts'
import { useFocusOn } from './use-focus-on.ts'
import { usePanel } from './use-panel.ts'
import { useRows } from './use-rows.ts'
import { useVisit } from './use-visit.ts'
import { useWords, type Words } from './words.ts'

interface PendingProps {
  readonly client: Client
  readonly view: ConversationView
  readonly review: Review
  /** A decision is on its way; undefined: it was not taken. */
  readonly onDecide: (action: Action | undefined) => void
}

/** A review that waits: its rows under a person's hands, and the decision. */
export function PendingReview({ client, view, review, onDecide }: PendingProps): ReactElement {
  const words = useWords()
  const { draft, setDraft, forgetDraft, earlier } = useDraft(review, view.state.conversation)
  const { rows } = draft
  const heading = useId()
  const { panel, onFocus } = useVisit<HTMLElement>()
  const edit = useRows(draft, setDraft, panel)
  const decision = useDecision({ client, review, draft, onDecide, onTaken: forgetDraft, onLook: view.retry })
  const { problem, rowProblem, isSending } = decision
  const list = useRef<HTMLOListElement>(null)
  useDropAtEnd('review', list, ({ place }, to) => edit.move(place, to))
  const question = useQuestion(panel, isSending)
  usePanel(client, review.review_id, view.state.status === 'live')
  const { session, turn } = whereOf(view.state, review)
  const isEdited = isChanged(draft, review)
  const send = (action: Action): void => {
    question.close()
    void decision.send(action)
  }
  return (
    <section
      ref={panel}
      className="rs-panel rs-review"
      aria-labelledby={heading}
      aria-busy={isSending}
      tabIndex={-1}
      onFocus={onFocus}
      onKeyDown={question.onKeyDown}
    >
      <header className="rs-review-head">
        <h2 id={heading}>{words.review}</h2>
        <span className="rs-where" title={session}>
          <span>{session}</span> · {words.turn(turn)}
        </span>
        <Countdown client={client} until={review.expires_at} />
      </header>
      <p className="rs-sr" role="alert">
        {words.reviewWaits(review.draft_tasks.length)}
      </p>
      <p className="rs-sr" role="status">
        {edit.said}
      </p>
      <div className="rs-review-body">
        {earlier && (
          <div className="rs-earlier">
            <span role="status">{words.earlierChanges}</span>
            <button
              type="button"
              className="rs-button"
              onClick={() => {
                earlier.takeUp()
                panel.current?.focus()
              }}
            >
              {words.takeUp}
            </button>
            <button
              type="button"
              className="rs-button"
              onClick={() => {
                earlier.letGo()
                panel.current?.focus()
              }}
            >
              {words.discard}
            </button>
          </div>
        )}
        <ol className="rs-rows" ref={list}>
          {rows.map((row, place) => (
            <ReviewRow
              key={row.key}
              row={row}
              place={place}
              count={rows.length}
              isSelected={edit.selected.has(row.key)}
              problem={rowProblem?.key === row.key ? rowProblem : undefined}
              onSelect={isOn => edit.select(row.key, isOn)}
              onChange={part => {
                decision.mending(row.key)
                edit.change(row.key, part)
              }}
              onMove={edit.move}
              onRemove={() => edit.remove(place)}
            />
          ))}
        </ol>
        <div className="rs-tools">
          <button
            type="button"
            className="rs-button rs-add-row"
            disabled={rows.length >= MOST_ROWS}
            onClick={() => edit.add([emptyRow()])}
          >
            <Plus size={16} aria-hidden="true" /> {words.addRow}
          </button>
          <Templates client={client} draft={draft} onInsert={edit.add} />
          {rows.length >= MOST_ROWS && (
            // It is read aloud when something did not fit.
            <span className="rs-full" aria-hidden="true">
              {words.tooManyRows(MOST_ROWS)}
            </span>
          )}
        </div>
        {edit.selected.size > 0 && <SelectionBar count={edit.selected.size} onSet={edit.setSelected} />}
        <label className="rs-comment">
          <span className="rs-sr">{words.comment}</span>
          <Growing
            className="rs-input"
            rows={1}
            placeholder={words.comment}
            value={draft.comment}
            onChange={event => setDraft({ ...draft, comment: event.target.value })}
          />
        </label>
      </div>
      {problem && (
        <div className="rs-problem" role="alert">
          <span>{problem.message}</span>
          {problem.again && (
            <button type="button" className="rs-button" onClick={() => send(problem.again ?? 'confirm')}>
              {words.retry}
            </button>
          )}
        </div>
      )}
      {question.isOpen ? (
        <Question
          text={isEdited ? words.throwAway : words.cancelAsk}
          onKeep={question.keepEditing}
          onCancel={() => send('cancel')}
        />
      ) : (
        <Decide
          isSending={isSending}
          missing={missingIn(rows.length, rowWithoutTitle(draft), words)}
          onCancel={() => (isEdited && !isSending ? question.ask() : send('cancel'))}
          onConfirm={() => send('confirm')}
        />
      )}
    </section>
  )
}

interface DecideProps {
  readonly isSending: boolean
  /** Why it cannot be confirmed as it is; empty where it can. */
  readonly missing: string
  readonly onCancel: () => void
  readonly onConfirm: () => void
}

function Decide({ isSending, missing, onCancel, onConfirm }: DecideProps): ReactElement {
  const words = useWords()
  const reason = useId()
  return (
    <footer className="rs-decide">
      <p id={reason} className="rs-reason" role="status">
        {isSending ? words.sending : missing}
      </p>
      <button type="button" className="rs-button rs-cancel" aria-disabled={isSending} onClick={onCancel}>
        {words.cancel}
      </button>
      <button
        type="button"
        className="rs-button rs-primary"
        aria-describedby={reason}
        aria-disabled={isSending}
        disabled={missing !== ''}
        onClick={onConfirm}
      >
        {words.confirm}
      </button>
    </footer>
  )
}

interface QuestionProps {
  readonly text: string
  readonly onKeep: () => void
  readonly onCancel: () => void
}

/** In place of the decision: one slip of a finger is none. */
function Question({ text, onKeep, onCancel }: QuestionProps): ReactElement {
  const words = useWords()
  return (
    <div className="rs-decide" role="alertdialog" aria-label={text}>
      <p className="rs-question">{text}</p>
      <button type="button" className="rs-button" autoFocus onClick={onKeep}>
        {words.keepEditing}
      </button>
      <button type="button" className="rs-button rs-danger" onClick={onCancel}>
        {words.throwAwayYes}
      </button>
    </div>
  )
}

/** Whether to cancel: asked by Escape, and put aside by it; the focus goes back to where it was. */
function useQuestion(panel: { readonly current: HTMLElement | null }, isSending: boolean) {
  const [isOpen, setOpen] = useState(false)
  const askedFrom = useRef<Element>(null)
  const focusOn = useFocusOn(panel)
  const ask = (): void => {
    askedFrom.current = document.activeElement
    setOpen(true)
  }
  const keepEditing = (): void => {
    setOpen(false)
    if (askedFrom.current instanceof HTMLElement && askedFrom.current.isConnected) askedFrom.current.focus()
    else focusOn('.rs-cancel')
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    // Escape while characters are being composed is the input method's.
    if (event.key !== 'Escape' || isSending || isComposing(event)) return
    event.preventDefault()
    if (isOpen) keepEditing()
    else ask()
  }
  return { isOpen, ask, keepEditing, close: () => setOpen(false), onKeyDown }
}

function missingIn(count: number, untitled: number | undefined, words: Words): string {
  if (count === 0) return words.noRows
  return untitled === undefined ? '' : words.emptyTitle(untitled)
}

/** The conversation and the number of its turn, in words. */
function whereOf({ conversation, title }: LiveState, review: Review): { session: string; turn: number } {
  const turn = turnsInOrder(conversation).findIndex(({ id }) => id === review.conversation_turn_id) + 1
  return { session: title ?? review.session_id, turn }
}
