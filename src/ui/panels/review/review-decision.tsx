import { type KeyboardEvent, type ReactElement, useId, useRef, useState } from 'react'
import { MAX_ROWS } from '../draft/draft.ts'
import { isComposing } from '../parts/is-composing.ts'
import { type Strings, useStrings } from '../texts/strings.ts'
import { useFocusOn } from '../parts/use-focus-on.ts'
import type { DraftProblem, ReviewHandle } from './use-review.ts'
import type { RowEditing } from '../draft/use-row-editing.ts'

interface DecisionButtonsProps {
  readonly handle: ReviewHandle
  readonly editing: RowEditing
  readonly onRequest: () => void
  readonly onNextCheck: () => void
}

export function DecisionButtons(props: DecisionButtonsProps): ReactElement {
  const { handle, editing, onRequest, onNextCheck } = props
  const strings = useStrings()
  const reason = useId()
  const checked = useId()
  const { rows, isBusy, problem, confirm, reject, checks } = handle
  const left = checks.count - checks.approvedCount
  return (
    <div className="rs-decide">
      {editing.isChanged && <Changes handle={handle} onReset={editing.resetAll} />}
      {checks.count > 0 && (
        <div className="rs-approved">
          <span id={checked} role="status">
            {strings.checks.approved(checks.approvedCount, checks.count)}
            {left > 0 && ` · ${strings.checks.willNotRun(left)}`}
          </span>
          {left > 0 && (
            <button type="button" className="rs-link" onClick={onNextCheck}>
              {left === 1 ? strings.reviewing.showCheck : strings.reviewing.nextCheck}
            </button>
          )}
        </div>
      )}
      <p id={reason} className="rs-reason" role="status">
        {isBusy
          ? strings.sending
          : handle.isRequestEmpty
            ? strings.sayWhatToChange
            : editing.isFull
              ? strings.tooManyRows(MAX_ROWS)
              : problemText(problem, strings)}
      </p>
      {/* Busy buttons are not disabled: a disabled button loses the focus. */}
      <div className="rs-verbs">
        <button type="button" className="rs-button rs-cancel" aria-disabled={isBusy} onClick={() => isBusy || reject()}>
          {strings.cancel}
        </button>
        <button type="button" className="rs-button" aria-disabled={isBusy} onClick={() => isBusy || onRequest()}>
          {strings.requestChanges}
        </button>
        <button
          type="button"
          className="rs-button rs-primary"
          aria-describedby={left > 0 ? `${reason} ${checked}` : reason}
          aria-disabled={isBusy}
          disabled={problem !== undefined}
          onClick={() => void confirm()}
        >
          {strings.confirm(rows.length)}
        </button>
      </div>
    </div>
  )
}

interface ChangesProps {
  readonly handle: ReviewHandle
  readonly onReset: () => void
}

function Changes({ handle: { tally }, onReset }: ChangesProps): ReactElement {
  const { reviewing } = useStrings()
  const parts = (['edited', 'added', 'removed'] as const).flatMap(kind =>
    tally[kind] > 0 ? reviewing[kind](tally[kind]) : [],
  )
  return (
    <div className="rs-changes">
      <span>{[...parts, ...(tally.isReordered ? [reviewing.reordered] : [])].join(' · ')}</span>
      <button type="button" className="rs-link" onClick={onReset}>
        {reviewing.resetAll}
      </button>
    </div>
  )
}

interface RejectQuestionProps {
  readonly text: string
  readonly onKeep: () => void
  readonly onReject: () => void
}

/** Replaces the buttons, so that pressing Escape twice does not reject the plan by accident. */
export function RejectQuestion({ text, onKeep, onReject }: RejectQuestionProps): ReactElement {
  const strings = useStrings()
  return (
    <div className="rs-decide" role="alertdialog" aria-label={text}>
      <p className="rs-question">{text}</p>
      <div className="rs-verbs">
        <button type="button" className="rs-button" autoFocus onClick={onKeep}>
          {strings.keepEditing}
        </button>
        <button type="button" className="rs-button rs-danger" onClick={onReject}>
          {strings.cancelPlan}
        </button>
      </div>
    </div>
  )
}

/** In a text field, Escape only ends the edit. */
const TEXT_FIELD = 'textarea, input:not([type="checkbox"])'

/** Escape asks whether to reject, or leaves a text field first; closing the question returns the focus. */
export function useRejectQuestion(panel: { readonly current: HTMLElement | null }, isBusy: boolean) {
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
    // During composition Escape belongs to the input method.
    if (event.key !== 'Escape' || isBusy || isComposing(event)) return
    event.preventDefault()
    const { target } = event
    const field = target instanceof Element ? target.closest(TEXT_FIELD) : null
    if (isOpen) keepEditing()
    else if (field) field.closest<HTMLElement>('.rs-row, .rs-panel')?.focus()
    else ask()
  }
  return { isOpen, keepEditing, close: () => setOpen(false), onKeyDown }
}

function problemText(problem: DraftProblem | undefined, strings: Strings): string {
  if (!problem) return ''
  return problem.kind === 'no_rows' ? strings.noRows : strings.noTitle(problem.row)
}
