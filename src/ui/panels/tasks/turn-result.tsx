import { CircleCheck, CircleStop, RotateCcw, TriangleAlert } from 'lucide-react'
import type { ReactElement } from 'react'
import type { ThreadTurn } from '../../../core/views/thread.ts'
import { useThreadStrings } from '../texts/use-thread-strings.ts'
import { isDoneWith } from '../texts/tally-words.ts'
import { endWords, failureText, failureWords } from '../thread/turn-words.ts'

/** The props of `TurnResult`. */
export interface TurnResultProps {
  readonly turn: ThreadTurn
  /** Retries the turn's unfinished work, or its request. Without it there is no such button. */
  readonly onRetry?: (turnId: string) => void
  /** Opens the settings where that may help. Without it there is no such button. */
  readonly onSettings?: () => void
}

/** For a turn of an external agent: the tally is all there is to show. */
const SETTLED = { status: 'open', because: 'answered', left: undefined, failure: undefined } as const

/** How a turn ended: done, blocked and open tasks, or the error and what to do about it. */
export function TurnResult({ turn, onRetry, onSettings }: TurnResultProps): ReactElement | null {
  const strings = useThreadStrings()
  const { turn_id, tally, end = turn.is_settled ? SETTLED : undefined } = turn
  if (!end) return null
  const { result, reason } = endWords(end, tally, strings)
  const { failure, left, status } = end
  if (result === '' && reason === '' && !failure) return null
  const isDone = tally !== undefined && isDoneWith(tally, status)
  // The plan's panel offers to continue open tasks, and to answer disputes.
  const isEarly = (status === 'stopped' || status === 'incomplete') && !left && !isDone && !tally?.disputed
  // After a failure with open tasks, Retry covers blocked ones, too.
  const isBlocked = left !== undefined && tally !== undefined && tally.blocked > 0 && !(failure && left === 'open')
  const canRetry = status === 'failed' || isBlocked || isEarly
  const retry = onRetry && canRetry && (
    <button type="button" className="rs-button rs-small" onClick={() => onRetry(turn_id)}>
      <RotateCcw size={14} aria-hidden="true" /> {isBlocked ? strings.thread.retryBlocked : strings.retry}
    </button>
  )
  if (failure) {
    const { title, hint, isSetting } = failureWords(failure.code, strings)
    return (
      <div className="rs-result rs-failure" role="note">
        <TriangleAlert size={16} aria-hidden="true" />
        <div>
          <strong>{title}</strong>
          <p>{failureText(failure, strings)}</p>
          {hint !== '' && <p>{hint}</p>}
          {result !== '' && <p className="rs-note">{result}</p>}
        </div>
        {onSettings && isSetting && (
          <button type="button" className="rs-button rs-small" onClick={onSettings}>
            {strings.thread.openSettings}
          </button>
        )}
        {retry}
      </div>
    )
  }
  const Icon = isDone ? CircleCheck : status === 'stopped' ? CircleStop : TriangleAlert
  return (
    <div className={`rs-result${isDone ? ' rs-result-done' : ''}`} role="note">
      <Icon size={16} aria-hidden="true" />
      <span>
        {result !== '' && <strong>{result}</strong>}
        {reason !== '' && ` · ${reason}`}
      </span>
      {retry}
    </div>
  )
}
