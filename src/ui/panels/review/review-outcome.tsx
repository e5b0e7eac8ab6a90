import { Copy, Undo2 } from 'lucide-react'
import { Fragment, useId, useState, type ReactElement } from 'react'
import { Button, classNames } from '../parts/controls.tsx'
import { draftText, filledFields, type Draft } from './draft.ts'
import { useStrings, type Strings } from '../texts/strings.ts'
import { usePanelFocus } from '../parts/hooks.ts'
import type { ReviewOutcomeHandle } from './outcome.ts'
import type { Rejection } from './rejection.ts'
import type { RowComment } from '../../../core/model/review.ts'
import { isUnchanged, type Revision } from '../../../core/views/plan-card.ts'
import type { EarlierEdits } from './use-draft.ts'

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
        <Button aria-expanded={showsEdits} aria-controls={editsId} onClick={() => setShowsEdits(!showsEdits)}>
          {strings.yourEdits}
        </Button>
      )}
      {reopen && (
        <Button kind="primary" aria-disabled={isReopening} onClick={() => void reopen()}>
          {strings.reopen}
        </Button>
      )}
      <Button onClick={outcome.dismiss}>{strings.close}</Button>
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
        <Button onClick={copy}>
          <Copy size={16} aria-hidden="true" /> {isCopied ? strings.copied : strings.copy}
        </Button>
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

interface RejectedPlanProps {
  readonly rejection: Rejection
  readonly isBusy: boolean
  readonly onUndo: () => void
}

export function RejectedPlan({ rejection, isBusy, onUndo }: RejectedPlanProps): ReactElement {
  const strings = useStrings()
  const { reviewing } = strings
  const seconds = Math.ceil(rejection.remainingMs / 1_000)
  return (
    <div className="rs-rejected">
      <p>
        <span role="status">{reviewing.rejected}</span>{' '}
        <small>{isBusy || seconds === 0 ? strings.sending : reviewing.rejectedIn(seconds)}</small>
      </p>
      <Button autoFocus aria-disabled={isBusy} onClick={onUndo}>
        <Undo2 size={16} aria-hidden="true" /> {reviewing.undo}
      </Button>
    </div>
  )
}

interface RevisedPlanProps {
  readonly request: string | undefined
  readonly onRows: readonly RowComment[]
  readonly revision: Revision
}

export function RevisedPlan({ request, onRows, revision }: RevisedPlanProps): ReactElement {
  const strings = useStrings()
  const { removed } = revision
  const requests = [
    ...(request === undefined ? [] : [request]),
    ...onRows.map(({ title, comment }) => strings.reviewing.aboutStep(title, comment)),
  ]
  return (
    <div className="rs-revision">
      <p>
        {isUnchanged(revision) ? strings.reviewing.unrevised : strings.revised}
        {strings.reviewing.youAsked}
        {requests.map((text, index) => (
          <Fragment key={index}>
            <q dir="auto">{text}</q>{' '}
          </Fragment>
        ))}
      </p>
      {removed.length > 0 && (
        <p>
          {strings.reviewing.noLongerPlanned}:{' '}
          {removed.map((row, index) => (
            <del key={index} dir="auto">
              {row.title}
            </del>
          ))}
        </p>
      )}
    </div>
  )
}

interface RestoreEditsProps {
  readonly edits: EarlierEdits
  readonly onDone: () => void
}

export function RestoreEdits({ edits, onDone }: RestoreEditsProps): ReactElement {
  const strings = useStrings()
  const then = (act: () => void) => () => {
    act()
    onDone()
  }
  return (
    <div className="rs-earlier">
      <span role="status">{strings.earlierEdits}</span>
      <Button onClick={then(edits.restore)}>{strings.restoreEdits}</Button>
      <Button onClick={then(edits.discard)}>{strings.discard}</Button>
    </div>
  )
}
