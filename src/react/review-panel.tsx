import { Plus } from 'lucide-react'
import { type KeyboardEvent, type ReactElement, useEffect, useId, useState } from 'react'
import type { Client } from '../client/client.ts'
import { RunsheetError } from '../client/errors.ts'
import type { LiveState } from '../client/live.ts'
import type { Review } from '../domain/review.ts'
import { type Draft, type EditRow, emptyRow, isChanged, moved, rowWithoutTitle, submitted } from './draft.ts'
import { ReviewRow } from './review-row.tsx'
import { SelectionBar } from './selection-bar.tsx'
import { Templates } from './templates.tsx'
import type { ConversationView } from './use-conversation.ts'
import { useDraft } from './use-draft.ts'
import { clockOf, useNow } from './use-now.ts'
import { usePanel } from './use-panel.ts'
import { useWords } from './words.ts'

export interface ReviewPanelProps {
  readonly client: Client
  readonly view: ConversationView
  /** Asks the agent to propose again, after nobody decided in time. Without it there is no such button. */
  readonly onAskAgain?: () => void
}

/** The review that waits in a conversation; and, until it is put away, what became of the one before. */
export function ReviewPanel({ client, view, onAskAgain }: ReviewPanelProps): ReactElement | null {
  const { conversation } = view.state
  const [pendingId] = conversation.pending_reviews
  const [shown, setShown] = useState<Review>()
  const [mine, setMine] = useState<string>()
  const pending = pendingId === undefined ? undefined : conversation.reviews.get(pendingId)
  useEffect(() => {
    if (pending) setShown(pending)
  }, [pending])
  if (pending) {
    return (
      <PendingReview
        key={pending.review_id}
        client={client}
        review={pending}
        where={whereOf(view.state, pending)}
        onDecided={() => setMine(pending.review_id)}
      />
    )
  }
  const last = shown && conversation.reviews.get(shown.review_id)
  if (!last || last.status === 'pending' || last.review_id === mine) return null
  return <Outcome review={last} onClose={() => setShown(undefined)} {...(onAskAgain ? { onAskAgain } : {})} />
}

interface PendingProps {
  readonly client: Client
  readonly review: Review
  /** The conversation and its turn, in words. */
  readonly where: { readonly session: string; readonly turn: number }
  readonly onDecided: () => void
}

function PendingReview({ client, review, where, onDecided }: PendingProps): ReactElement {
  const words = useWords()
  const [draft, setDraft, forget] = useDraft(review)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [isAsking, setAsking] = useState(false)
  const [problem, setProblem] = useState<{ readonly message: string; readonly again: () => void }>()
  const [isSending, setSending] = useState(false)
  const now = useNow(true)
  const heading = useId()
  const reason = useId()
  usePanel(client, review.review_id, true)

  const untitled = rowWithoutTitle(draft)
  const setRows = (rows: readonly EditRow[]): void => setDraft({ ...draft, rows })
  const change = (key: string, part: Partial<EditRow>): void =>
    setRows(draft.rows.map(row => (row.key === key ? { ...row, ...part } : row)))

  const send = async (decision: Parameters<Client['decide']>[1]): Promise<void> => {
    setSending(true)
    setProblem(undefined)
    try {
      onDecided()
      await client.decide(review.review_id, decision)
      forget()
    } catch (error) {
      const known = error instanceof RunsheetError ? error : undefined
      // Somebody else was faster: the log shows what they decided.
      if (known?.code === 'review_already_decided' || known?.code === 'review_expired') return
      const message = known && known.status > 0 ? known.message : words.failedToSend
      setProblem({ message, again: () => void send(decision) })
    } finally {
      setSending(false)
    }
  }
  const said = draft.comment.trim() === '' ? {} : { comment: draft.comment.trim() }
  const confirm = (): void => void send({ action: 'confirm', tasks: draft.rows.map(submitted), ...said })
  const cancel = (): void => void send({ action: 'cancel', ...said })
  // Edits are not thrown away unasked; and one slip of a finger is no decision.
  const abandon = (): void => (isChanged(draft, review) ? setAsking(true) : cancel())
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return
    event.preventDefault()
    setAsking(!isAsking)
  }
  return (
    <section className="rs-panel rs-review" aria-labelledby={heading} onKeyDown={onKeyDown}>
      <header className="rs-review-head">
        <h2 id={heading}>{words.review}</h2>
        <span className="rs-where">{words.reviewOf(where.session, where.turn)}</span>
        <span className="rs-countdown" role="timer">
          {words.timeLeft(clockOf(Date.parse(review.expires_at) - now))}
        </span>
      </header>
      <p className="rs-sr" role="status">
        {words.review}
      </p>
      <ol className="rs-rows">
        {draft.rows.map((row, place) => (
          <ReviewRow
            key={row.key}
            row={row}
            place={place}
            count={draft.rows.length}
            isSelected={selected.has(row.key)}
            onSelect={isOn => setSelected(toggled(selected, row.key, isOn))}
            onChange={part => change(row.key, part)}
            onMove={to => setRows(moved(draft.rows, place, to))}
            onMoveFrom={from => setRows(moved(draft.rows, from, place))}
            onRemove={() => setRows(draft.rows.filter(({ key }) => key !== row.key))}
          />
        ))}
      </ol>
      <div className="rs-tools">
        <button
          type="button"
          className="rs-button"
          disabled={draft.rows.length >= 20}
          onClick={() => setRows([...draft.rows, emptyRow(newKey(draft))])}
        >
          <Plus size={16} aria-hidden="true" /> {words.addRow}
        </button>
        <Templates client={client} draft={draft} onInsert={rows => setRows([...draft.rows, ...rows].slice(0, 20))} />
      </div>
      {selected.size > 0 && (
        <SelectionBar
          count={selected.size}
          onSet={part => setRows(draft.rows.map(row => (selected.has(row.key) ? { ...row, ...part } : row)))}
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
      {problem && (
        <div className="rs-problem" role="alert">
          <span>{problem.message}</span>
          <button type="button" className="rs-button" onClick={problem.again}>
            {words.retry}
          </button>
        </div>
      )}
      {isAsking ? (
        <div className="rs-asking" role="alertdialog" aria-label={words.throwAway}>
          <span>{words.throwAway}</span>
          <button type="button" className="rs-button" autoFocus onClick={() => setAsking(false)}>
            {words.keepEditing}
          </button>
          <button type="button" className="rs-button rs-danger" onClick={cancel}>
            {words.throwAwayYes}
          </button>
        </div>
      ) : (
        <footer className="rs-decide">
          <p id={reason} className="rs-reason" role="status">
            {untitled === undefined ? '' : words.emptyTitle(untitled)}
          </p>
          <button type="button" className="rs-button" disabled={isSending} onClick={abandon}>
            {words.cancel}
          </button>
          <button
            type="button"
            className="rs-button rs-primary"
            aria-describedby={reason}
            disabled={isSending || untitled !== undefined || draft.rows.length === 0}
            onClick={confirm}
          >
            {words.confirm}
          </button>
        </footer>
      )}
    </section>
  )
}

interface OutcomeProps {
  readonly review: Review
  readonly onClose: () => void
  readonly onAskAgain?: () => void
}

/** A review that somebody else decided, or nobody did. */
function Outcome({ review, onClose, onAskAgain }: OutcomeProps): ReactElement {
  const words = useWords()
  const isLate = review.status === 'expired'
  return (
    <section className="rs-panel rs-outcome-panel" role="status">
      <span>{isLate ? words.timedOut : words.decidedElsewhere(words.outcome[review.status])}</span>
      {isLate && onAskAgain && (
        <button
          type="button"
          className="rs-button rs-primary"
          onClick={() => {
            onAskAgain()
            onClose()
          }}
        >
          {words.askAgain}
        </button>
      )}
      <button type="button" className="rs-button" onClick={onClose}>
        {words.dismiss}
      </button>
    </section>
  )
}

function toggled(selected: ReadonlySet<string>, key: string, isOn: boolean): ReadonlySet<string> {
  const others = new Set(selected)
  if (isOn) others.add(key)
  else others.delete(key)
  return others
}

const newKey = ({ rows }: Draft): string =>
  `n${Math.max(0, ...rows.map(({ key }) => Number(key.slice(1)) || 0)) + 1}-${rows.length}`

function whereOf({ conversation, title }: LiveState, review: Review): PendingProps['where'] {
  const turns = [...conversation.turns.values()].sort((a, b) => (a.started_at < b.started_at ? -1 : 1))
  const turn = turns.findIndex(({ id }) => id === review.conversation_turn_id) + 1
  return { session: title ?? review.session_id, turn }
}
