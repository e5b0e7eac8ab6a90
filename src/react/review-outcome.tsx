import type { ReactElement } from 'react'
import { classNames } from './class-names.ts'
import { type Strings, useStrings } from './strings.ts'
import { usePanelFocus } from './use-panel-focus.ts'
import type { ReviewOutcomeHandle } from './use-review-outcome.ts'

interface ReviewOutcomeProps {
  readonly outcome: ReviewOutcomeHandle
  readonly className: string | undefined
  readonly onAskAgain: (() => void) | undefined
}

/** A review that was decided elsewhere, or not at all. */
export function ReviewOutcome({ outcome, className, onAskAgain }: ReviewOutcomeProps): ReactElement {
  const strings = useStrings()
  const { panel, onFocus } = usePanelFocus<HTMLElement>()
  return (
    <section
      ref={panel}
      className={classNames('rs-panel rs-outcome-panel', className)}
      tabIndex={-1}
      aria-label={strings.review}
      onFocus={onFocus}
    >
      <span role="alert">
        {outcomeText(outcome, strings)}
        {outcome.hasEdits && ` ${strings.editsKept}`}
      </span>
      {onAskAgain && (
        <button type="button" className="rs-button rs-primary" onClick={onAskAgain}>
          {strings.askAgain}
        </button>
      )}
      <button type="button" className="rs-button" onClick={outcome.dismiss}>
        {strings.close}
      </button>
    </section>
  )
}

function outcomeText({ review: { status }, reason }: ReviewOutcomeHandle, strings: Strings): string {
  if (status === 'expired') return strings.timedOut
  if (reason === 'turn_stopped') return strings.agentStopped
  if (reason === 'panel_closed') return strings.pageClosed
  return strings.decidedElsewhere(strings.outcome[status])
}
