import { type ReactElement, useEffect, useState } from 'react'
import type { EventData } from '../domain/event.ts'
import type { Review } from '../domain/review.ts'
import type { ConversationView } from './use-conversation.ts'
import { useVisit } from './use-visit.ts'
import { useWords, type Words } from './words.ts'

export type Resolution = EventData['task_create_review_resolved']

interface OutcomeProps {
  readonly review: Review
  /** How it ended, where this window saw it. */
  readonly resolution: Resolution | undefined
  readonly onClose: () => void
  readonly onAskAgain?: () => void
}

/** A review that somebody else decided, or nobody did. */
export function ReviewOutcome({ review, resolution, onClose, onAskAgain }: OutcomeProps): ReactElement {
  const words = useWords()
  const { panel, onFocus } = useVisit<HTMLElement>()
  const reason = resolution?.review_id === review.review_id ? resolution.reason : undefined
  const canAskAgain = review.status === 'expired' || reason === 'panel_closed'
  return (
    <section
      ref={panel}
      className="rs-panel rs-outcome-panel"
      tabIndex={-1}
      aria-label={words.review}
      onFocus={onFocus}
    >
      <span role="alert">{told(review, reason, words)}</span>
      {canAskAgain && onAskAgain && (
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

/** The newest decision that came by. */
export function useResolution({ onEvent }: ConversationView): Resolution | undefined {
  const [resolution, setResolution] = useState<Resolution>()
  useEffect(
    () => onEvent(event => (event.type === 'task_create_review_resolved' ? setResolution(event.data) : undefined)),
    [onEvent],
  )
  return resolution
}

function told({ status }: Review, reason: string | undefined, words: Words): string {
  if (status === 'expired') return words.timedOut
  if (reason === 'turn_stopped') return words.stoppedBefore
  if (reason === 'panel_closed') return words.closedBefore
  return words.decidedElsewhere(words.outcome[status])
}
