import type { ReactElement } from 'react'
import type { Review } from '../domain/review.ts'
import { useVisit } from './use-visit.ts'
import { useWords, type Words } from './words.ts'

interface OutcomeProps {
  readonly review: Review
  /** Why it was cancelled, if it was. */
  readonly reason: string | undefined
  /** A person's edits of it are there to be taken up again. */
  readonly keepsChanges: boolean
  readonly onClose: () => void
  readonly onAskAgain?: () => void
}

/** A review that somebody else decided, or nobody did. */
export function ReviewOutcome({ review, reason, keepsChanges, onClose, onAskAgain }: OutcomeProps): ReactElement {
  const words = useWords()
  const { panel, onFocus } = useVisit<HTMLElement>()
  return (
    <section
      ref={panel}
      className="rs-panel rs-outcome-panel"
      tabIndex={-1}
      aria-label={words.review}
      onFocus={onFocus}
    >
      <span role="alert">
        {told(review, reason, words)}
        {keepsChanges && ` ${words.changesKept}`}
      </span>
      {onAskAgain && (
        <button type="button" className="rs-button rs-primary" onClick={onAskAgain}>
          {words.askAgain}
        </button>
      )}
      <button type="button" className="rs-button" onClick={onClose}>
        {words.dismiss}
      </button>
    </section>
  )
}

function told({ status }: Review, reason: string | undefined, words: Words): string {
  if (status === 'expired') return words.timedOut
  if (reason === 'turn_stopped') return words.stoppedBefore
  if (reason === 'panel_closed') return words.closedBefore
  return words.decidedElsewhere(words.outcome[status])
}
