import { type KeyboardEvent, type ReactElement, useId, useRef, useState } from 'react'
import type { ReviewChecks } from './edit-checks.ts'
import { isComposing } from './is-composing.ts'
import { type Strings, useStrings } from './strings.ts'
import { useFocusOn } from './use-focus-on.ts'
import type { DraftProblem, ReviewHandle } from './use-review.ts'

interface DecisionButtonsProps {
  readonly handle: ReviewHandle
  /** Changes were requested without saying which. */
  readonly isRequestIncomplete: boolean
  readonly onRequest: () => void
  readonly onCancel: () => void
}

/** Confirm, Request changes and Cancel, with the reason why one of them is not possible. */
export function DecisionButtons(props: DecisionButtonsProps): ReactElement {
  const { handle, isRequestIncomplete, onRequest, onCancel } = props
  const strings = useStrings()
  const reason = useId()
  const footer = useRef<HTMLElement>(null)
  const focusOn = useFocusOn(footer)
  const { isBusy, problem, confirm, checks } = handle
  return (
    <footer className="rs-decide" ref={footer}>
      {checks.count > 0 && <ApprovedChecks checks={checks} onApproved={() => focusOn('.rs-primary')} />}
      <p id={reason} className="rs-reason" role="status">
        {isBusy ? strings.sending : isRequestIncomplete ? strings.sayWhatToChange : problemText(problem, strings)}
      </p>
      {/* Busy buttons are not disabled: they would lose the focus. */}
      <button
        type="button"
        className="rs-button rs-cancel"
        aria-disabled={isBusy}
        onClick={() => {
          if (!isBusy) onCancel()
        }}
      >
        {strings.cancel}
      </button>
      <button
        type="button"
        className="rs-button"
        aria-disabled={isBusy}
        onClick={() => {
          if (!isBusy) onRequest()
        }}
      >
        {strings.requestChanges}
      </button>
      <button
        type="button"
        className="rs-button rs-primary"
        aria-describedby={reason}
        aria-disabled={isBusy}
        disabled={problem !== undefined}
        onClick={() => void confirm()}
      >
        {strings.confirm}
      </button>
    </footer>
  )
}

interface ApprovedChecksProps {
  readonly checks: ReviewChecks
  readonly onApproved: () => void
}

/** How many checks will run, and a way to approve the rest at once. */
function ApprovedChecks({ checks, onApproved }: ApprovedChecksProps): ReactElement {
  const { checks: strings } = useStrings()
  const { count, approvedCount } = checks
  return (
    <div className="rs-approved">
      <span role="status">{strings.approved(approvedCount, count)}</span>
      {approvedCount < count && (
        <button
          type="button"
          className="rs-button rs-small"
          onClick={() => {
            checks.approveAll()
            // This button disappears with the change.
            onApproved()
          }}
        >
          {strings.approveAll}
        </button>
      )}
    </div>
  )
}

interface CancelQuestionProps {
  readonly text: string
  readonly onKeep: () => void
  readonly onCancel: () => void
}

/** Replaces the buttons, so that edits are not discarded by a slip. */
export function CancelQuestion({ text, onKeep, onCancel }: CancelQuestionProps): ReactElement {
  const strings = useStrings()
  return (
    <div className="rs-decide" role="alertdialog" aria-label={text}>
      <p className="rs-question">{text}</p>
      <button type="button" className="rs-button" autoFocus onClick={onKeep}>
        {strings.keepEditing}
      </button>
      <button type="button" className="rs-button rs-danger" onClick={onCancel}>
        {strings.cancelPlan}
      </button>
    </div>
  )
}

/** Sends the plan back with the comment. Without one it asks for it. */
export function useChangeRequest(handle: ReviewHandle, panel: { readonly current: HTMLElement | null }) {
  const [isAsked, setAsked] = useState(false)
  const focusOn = useFocusOn(panel)
  const isEmpty = handle.comment.trim() === ''
  const send = (): void => {
    setAsked(isEmpty)
    if (isEmpty) focusOn('.rs-comment-input')
    else void handle.revise()
  }
  return { isIncomplete: isAsked && isEmpty, send }
}

/** The question whether to cancel. Escape opens and closes it; closing it returns the focus. */
export function useCancelQuestion(panel: { readonly current: HTMLElement | null }, isBusy: boolean) {
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
    // During a composition Escape belongs to the input method.
    if (event.key !== 'Escape' || isBusy || isComposing(event)) return
    event.preventDefault()
    if (isOpen) keepEditing()
    else ask()
  }
  return { isOpen, ask, keepEditing, close: () => setOpen(false), onKeyDown }
}

function problemText(problem: DraftProblem | undefined, strings: Strings): string {
  if (!problem) return ''
  return problem.kind === 'no_rows' ? strings.noRows : strings.noTitle(problem.row)
}
