import { Plus } from 'lucide-react'
import { type KeyboardEvent, type ReactElement, useEffect, useId, useRef, useState } from 'react'
import type { Client } from '../client/client.ts'
import { RunsheetError } from '../client/errors.ts'
import type { LiveState } from '../client/live.ts'
import type { Review } from '../domain/review.ts'
import { type EditRow, emptyRow, isChanged, MOST_ROWS, moved, rowWithoutTitle, submitted } from './draft.ts'
import { ReviewOutcome, type Resolution, useResolution } from './review-outcome.tsx'
import { ReviewRow, type RowProblem } from './review-row.tsx'
import { SelectionBar } from './selection-bar.tsx'
import { Templates } from './templates.tsx'
import type { ConversationView } from './use-conversation.ts'
import { forget, useDraft } from './use-draft.ts'
import { clockOf, useNow } from './use-now.ts'
import { useFocusOn } from './use-focus-on.ts'
import { usePanel } from './use-panel.ts'
import { useVisit } from './use-visit.ts'
import { useWords } from './words.ts'

const SOON_OVER_MS = 30_000

export interface ReviewPanelProps {
  readonly client: Client
  readonly view: ConversationView
  /** Asks the agent to propose again, after nobody decided in time. Without it there is no such button. */
  readonly onAskAgain?: (turnId: string) => void
}

type Action = 'confirm' | 'cancel'
const BECOMES = { confirm: 'confirmed', cancel: 'cancelled' } as const

/** The review that waits in a conversation; and, until it is put away, what became of the one before. */
export function ReviewPanel({ client, view, onAskAgain }: ReviewPanelProps): ReactElement | null {
  const { conversation } = view.state
  const [pendingId] = conversation.pending_reviews
  const [shown, setShown] = useState<string>()
  // What was decided in this window; what another one or the clock decided is said.
  const [mine, setMine] = useState<{ readonly id: string; readonly action: Action }>()
  const resolution: Resolution | undefined = useResolution(view)
  const pending = pendingId === undefined ? undefined : conversation.reviews.get(pendingId)
  useEffect(() => setShown(was => pendingId ?? was), [pendingId])
  const last = shown === undefined ? undefined : conversation.reviews.get(shown)
  const isOver = last !== undefined && last.status !== 'pending'
  useEffect(() => {
    if (isOver) forget(last.review_id)
  }, [isOver, last?.review_id])
  if (pending) {
    return (
      <PendingReview
        key={pending.review_id}
        client={client}
        view={view}
        review={pending}
        onDecide={action => setMine(action && { id: pending.review_id, action })}
      />
    )
  }
  if (!isOver || (mine?.id === last.review_id && BECOMES[mine.action] === last.status)) return null
  return (
    <ReviewOutcome
      review={last}
      resolution={resolution}
      onClose={() => setShown(undefined)}
      // While the turn still answers, another one would be refused.
      {...(onAskAgain && view.state.conversation.running_turn === null
        ? { onAskAgain: () => onAskAgain(last.conversation_turn_id) }
        : {})}
    />
  )
}

interface PendingProps {
  readonly client: Client
  readonly view: ConversationView
  readonly review: Review
  /** A decision is on its way; undefined: it was not taken. */
  readonly onDecide: (action: Action | undefined) => void
}

function PendingReview({ client, view, review, onDecide }: PendingProps): ReactElement {
  const words = useWords()
  const [draft, setDraft, forgetDraft] = useDraft(review)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [isAsking, setAsking] = useState(false)
  const [problem, setProblem] = useState<{ readonly message: string; readonly again?: Action }>()
  const [rowProblem, setRowProblem] = useState<RowProblem & { readonly key: string }>()
  const [isSending, setSending] = useState(false)
  const [said, setSaid] = useState('')
  const heading = useId()
  const reason = useId()
  const { panel, onFocus } = useVisit<HTMLElement>()
  const askedFrom = useRef<Element>(null)
  const focusOn = useFocusOn(panel)
  usePanel(client, review.review_id, view.state.status === 'live')

  const { rows } = draft
  const { session, turn } = whereOf(view.state, review)
  const chosen = rows.filter(({ key }) => selected.has(key))
  const missing = missingIn(rows.length, rowWithoutTitle(draft), words)
  const setRows = (next: readonly EditRow[]): void => setDraft({ ...draft, rows: next })
  const change = (key: string, part: Partial<EditRow>): void => {
    if (rowProblem?.key === key) {
      setRowProblem(undefined)
      setProblem(undefined)
    }
    setRows(rows.map(row => (row.key === key ? { ...row, ...part } : row)))
  }
  const add = (more: readonly EditRow[]): void => {
    const next = [...rows, ...more]
    setSaid(next.length > MOST_ROWS ? words.tooManyRows(MOST_ROWS) : '')
    setRows(next.slice(0, MOST_ROWS))
    focusOn('.rs-row-title', Math.min(rows.length, MOST_ROWS - 1))
  }
  const move = (from: number, to: number): void => {
    if (to < 0 || to >= rows.length) return
    setSaid(words.movedTo(to + 1, rows.length))
    setRows(moved(rows, from, to))
  }
  const remove = (place: number): void => {
    setRows(rows.toSpliced(place, 1))
    focusOn(rows.length > 1 ? '.rs-row-title' : '.rs-add-row', Math.min(place, Math.max(0, rows.length - 2)))
  }

  const send = async (action: Action): Promise<void> => {
    // Its button stays as it is, so that the focus is not lost.
    if (isSending) return
    const comment = draft.comment.trim() === '' ? {} : { comment: draft.comment.trim() }
    setSending(true)
    setAsking(false)
    setProblem(undefined)
    setRowProblem(undefined)
    onDecide(action)
    try {
      await client.decide(
        review.review_id,
        action === 'confirm' ? { action, tasks: rows.map(submitted), ...comment } : { action, ...comment },
      )
      // Until the log says so, too, there is nothing left to press.
      forgetDraft()
      view.retry()
    } catch (error) {
      setSending(false)
      refused(error, action)
    }
  }
  const refused = (error: unknown, action: Action): void => {
    const known = error instanceof RunsheetError && error.status > 0 ? error : undefined
    if (known) onDecide(undefined)
    // Somebody else was faster: the log shows what they decided.
    if (known?.code === 'review_already_decided' || known?.code === 'review_expired') return view.retry()
    const row = known?.details.row === undefined ? undefined : rows[known.details.row]
    if (!known || !row) return setProblem({ message: known?.message ?? words.failedToSend, again: action })
    setRowProblem({
      key: row.key,
      field: known.details.field ?? '',
      message: known.message.replace(/^Element \d+: (.)/, (_, first: string) => first.toUpperCase()),
    })
    setProblem({ message: words.rowProblem(rows.indexOf(row) + 1) })
  }

  const ask = (): void => {
    askedFrom.current = document.activeElement
    setAsking(true)
  }
  const keepEditing = (): void => {
    setAsking(false)
    if (askedFrom.current instanceof HTMLElement && askedFrom.current.isConnected) askedFrom.current.focus()
    else focusOn('.rs-cancel')
  }
  const isEdited = isChanged(draft, review)
  // One slip of a finger is no decision.
  const onKeyDown = (event: KeyboardEvent): void => {
    // Escape while characters are being composed is the input method's.
    if (event.key !== 'Escape' || isSending || event.nativeEvent.isComposing) return
    event.preventDefault()
    if (isAsking) keepEditing()
    else ask()
  }
  const question = isEdited ? words.throwAway : words.cancelAsk
  return (
    <section
      ref={panel}
      className="rs-panel rs-review"
      aria-labelledby={heading}
      aria-busy={isSending}
      tabIndex={-1}
      onFocus={onFocus}
      onKeyDown={onKeyDown}
    >
      <header className="rs-review-head">
        <h2 id={heading}>{words.review}</h2>
        <span className="rs-where" title={session}>
          {words.reviewOf(session, turn)}
        </span>
        <Countdown until={review.expires_at} />
      </header>
      <p className="rs-sr" role="alert">
        {words.reviewWaits(review.draft_tasks.length)}
      </p>
      <p className="rs-sr" role="status">
        {said}
      </p>
      <div className="rs-review-body">
        <ol className="rs-rows">
          {rows.map((row, place) => (
            <ReviewRow
              key={row.key}
              row={row}
              place={place}
              count={rows.length}
              isSelected={selected.has(row.key)}
              problem={rowProblem?.key === row.key ? rowProblem : undefined}
              onSelect={isOn => setSelected(toggled(selected, row.key, isOn))}
              onChange={part => change(row.key, part)}
              onMove={move}
              onRemove={() => remove(place)}
            />
          ))}
        </ol>
        <div className="rs-tools">
          <button
            type="button"
            className="rs-button rs-add-row"
            disabled={rows.length >= MOST_ROWS}
            onClick={() => add([emptyRow()])}
          >
            <Plus size={16} aria-hidden="true" /> {words.addRow}
          </button>
          <Templates client={client} draft={draft} onInsert={add} />
        </div>
        {chosen.length > 0 && (
          <SelectionBar
            count={chosen.length}
            onSet={part => setRows(rows.map(row => (selected.has(row.key) ? { ...row, ...part } : row)))}
          />
        )}
        <label className="rs-comment">
          <span className="rs-sr">{words.comment}</span>
          <textarea
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
            <button type="button" className="rs-button" onClick={() => void send(problem.again ?? 'confirm')}>
              {words.retry}
            </button>
          )}
        </div>
      )}
      {isAsking ? (
        <div className="rs-decide" role="alertdialog" aria-label={question}>
          <p className="rs-question">{question}</p>
          <button type="button" className="rs-button" autoFocus onClick={keepEditing}>
            {words.keepEditing}
          </button>
          <button type="button" className="rs-button rs-danger" onClick={() => void send('cancel')}>
            {words.throwAwayYes}
          </button>
        </div>
      ) : (
        <footer className="rs-decide">
          <p id={reason} className="rs-reason" role="status">
            {isSending ? words.sending : missing}
          </p>
          <button
            type="button"
            className="rs-button rs-cancel"
            aria-disabled={isSending}
            onClick={() => (isEdited && !isSending ? ask() : void send('cancel'))}
          >
            {words.cancel}
          </button>
          <button
            type="button"
            className="rs-button rs-primary"
            aria-describedby={reason}
            aria-disabled={isSending}
            disabled={missing !== ''}
            onClick={() => void send('confirm')}
          >
            {words.confirm}
          </button>
        </footer>
      )}
    </section>
  )
}

/** How long there is, to the second; said aloud once, when it is nearly over. */
function Countdown({ until }: { readonly until: string }): ReactElement {
  const words = useWords()
  const left = Date.parse(until) - useNow(true)
  const isSoonOver = left <= SOON_OVER_MS
  const [said, setSaid] = useState('')
  if (isSoonOver && said === '') setSaid(words.timeLeft(clockOf(left)))
  return (
    <>
      <span className={`rs-countdown${isSoonOver ? ' rs-soon' : ''}`} role="timer">
        {words.timeLeft(clockOf(left))}
      </span>
      <span className="rs-sr" role="status">
        {said}
      </span>
    </>
  )
}

function missingIn(count: number, untitled: number | undefined, words: ReturnType<typeof useWords>): string {
  if (count === 0) return words.noRows
  return untitled === undefined ? '' : words.emptyTitle(untitled)
}

function toggled(selected: ReadonlySet<string>, key: string, isOn: boolean): ReadonlySet<string> {
  const others = new Set(selected)
  if (isOn) others.add(key)
  else others.delete(key)
  return others
}

/** The conversation and the number of its turn, in words. */
function whereOf({ conversation, title }: LiveState, review: Review): { session: string; turn: number } {
  const turns = [...conversation.turns.values()].sort((a, b) => (a.started_at < b.started_at ? -1 : 1))
  const turn = turns.findIndex(({ id }) => id === review.conversation_turn_id) + 1
  return { session: title ?? review.session_id, turn }
}
