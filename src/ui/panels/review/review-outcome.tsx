import { Copy } from 'lucide-react'
import { type ReactElement, useId, useState } from 'react'
import { classNames } from '../parts/class-names.ts'
import { type Draft, draftText, filledFields } from '../draft/draft.ts'
import { type Strings, useStrings } from '../texts/strings.ts'
import { usePanelFocus } from '../parts/use-panel-focus.ts'
import type { ReviewOutcomeHandle } from './use-review-outcome.ts'

interface ReviewOutcomeProps {
  readonly outcome: ReviewOutcomeHandle
  readonly className: string | undefined
}

export function ReviewOutcome({ outcome, className }: ReviewOutcomeProps): ReactElement {
  const strings = useStrings()
  const { panel, onFocus } = usePanelFocus<HTMLElement>()
  const [showsEdits, setShowsEdits] = useState(false)
  const editsId = useId()
  const { edits, reopen, isReopening, error } = outcome
  return (
    <section
      ref={panel}
      className={classNames('rs-panel rs-outcome-panel', className)}
      tabIndex={-1}
      aria-label={strings.review}
      aria-busy={isReopening}
      onFocus={onFocus}
    >
      <span role="alert">
        {outcomeText(outcome, strings)}
        {edits && outcome.review.status !== 'expired' && ` ${reopen ? strings.editsSaved : strings.editsNotSent}`}
      </span>
      {edits && (
        <button
          type="button"
          className="rs-button"
          aria-expanded={showsEdits}
          aria-controls={editsId}
          onClick={() => setShowsEdits(!showsEdits)}
        >
          {strings.yourEdits}
        </button>
      )}
      {reopen && (
        <button
          type="button"
          className="rs-button rs-primary"
          aria-disabled={isReopening}
          onClick={() => void reopen()}
        >
          {strings.reopen}
        </button>
      )}
      <button type="button" className="rs-button" onClick={outcome.dismiss}>
        {strings.close}
      </button>
      {error !== undefined && (
        <p className="rs-problem" role="alert">
          {error}
        </p>
      )}
      {edits && (
        <div id={editsId} className="rs-edits" hidden={!showsEdits}>
          {showsEdits && <Edits draft={edits} />}
        </div>
      )}
    </section>
  )
}

function Edits({ draft }: { readonly draft: Draft }): ReactElement {
  const strings = useStrings()
  const [isCopied, setCopied] = useState(false)
  const copy = (): void => {
    navigator.clipboard.writeText(draftText(draft, strings)).then(
      () => setCopied(true),
      () => {},
    )
  }
  return (
    <>
      <ol className="rs-edits-rows" tabIndex={0} aria-label={strings.yourEdits}>
        {draft.rows.map(row => (
          <li key={row.key} dir="auto">
            {row.title}
            {filledFields(row, strings).map(text => (
              <small key={text} dir="auto">
                {text}
              </small>
            ))}
          </li>
        ))}
      </ol>
      {draft.comment !== '' && (
        <p className="rs-edits-comment" dir="auto">
          {draft.comment}
        </p>
      )}
      {/* Pages served over plain HTTP have no clipboard API. */}
      {'clipboard' in navigator && (
        <button type="button" className="rs-button" onClick={copy}>
          <Copy size={16} aria-hidden="true" /> {isCopied ? strings.copied : strings.copy}
        </button>
      )}
    </>
  )
}

function outcomeText(
  { review: { status }, reason, isUnanswered, edits }: ReviewOutcomeHandle,
  strings: Strings,
): string {
  if (isUnanswered) return strings.reviewing.unanswered
  if (status === 'expired') return strings.timedOut(edits !== undefined)
  if (reason === 'turn_stopped') return strings.agentStopped
  if (reason === 'panel_closed') return strings.pageClosed
  if (reason === 'superseded') return strings.superseded
  if (reason === 'changes_requested') return strings.changesRequestedElsewhere
  return strings.decidedElsewhere(strings.outcome[status])
}
