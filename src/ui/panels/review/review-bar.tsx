import { LayoutTemplate, RotateCcw, SquareCheck, Trash2, X } from 'lucide-react'
import { type KeyboardEvent, type ReactElement, useId, useRef, useState } from 'react'
import { Button, IconButton, isComposing } from '../parts/controls.tsx'
import { MenuButton, UndoButtons } from '../parts/menu.tsx'
import { type Strings, useStrings } from '../texts/strings.ts'
import type { DraftProblem, ReviewHandle } from './use-review.ts'
import type { RowEditing } from './row-editing.ts'
import { formatDuration, splitList } from '../parts/text.ts'
import type { MoreTime } from './decision.ts'
import { MAX_ROWS } from './draft.ts'
import { useFocusOn } from '../parts/hooks.ts'
import type { RowStatus } from '../../../core/model/row.ts'
import type { Priority } from '../../../core/model/task.ts'
import { Options } from './review-fields.tsx'

interface ReviewHeadProps {
  readonly handle: ReviewHandle
  readonly editing: RowEditing
  readonly headingId: string
  readonly onTemplates: () => void
}

export function ReviewHead({ handle, editing, headingId, onTemplates }: ReviewHeadProps): ReactElement {
  const strings = useStrings()
  const { reviewing } = strings
  const { review, rows, canUndo, canRedo } = handle
  return (
    <header className="rs-review-head">
      <h2 id={headingId}>
        {strings.review} <span>· {reviewing.steps(rows.length)}</span>
      </h2>
      {review?.expires_at != null && <Countdown remainingMs={handle.remainingMs} moreTime={handle.moreTime} />}
      <div className="rs-actions">
        {(canUndo || canRedo) && (
          <UndoButtons
            canUndo={canUndo}
            canRedo={canRedo}
            onUndo={() => void editing.undo()}
            onRedo={() => void editing.redo()}
          />
        )}
        <MenuButton
          label={strings.moreActions}
          items={() => [
            {
              label: reviewing.selectAll,
              icon: SquareCheck,
              isDisabled: rows.length === 0,
              onChoose: () => editing.selectAll(true),
            },
            { label: strings.templates.open, icon: LayoutTemplate, onChoose: onTemplates },
            {
              label: reviewing.resetAll,
              icon: RotateCcw,
              isDisabled: !editing.isChanged,
              onChoose: editing.resetAll,
            },
          ]}
        />
      </div>
      {handle.others > 0 && <p className="rs-others">{reviewing.othersWait(handle.others)}</p>}
    </header>
  )
}

const ENDING_SOON_MS = 30_000

interface CountdownProps {
  readonly remainingMs: number | undefined
  readonly moreTime: MoreTime | undefined
}

/** Screen readers get one announcement near the deadline, not one per second. */
function Countdown({ remainingMs, moreTime }: CountdownProps): ReactElement {
  const strings = useStrings()
  const text = remainingMs === undefined ? '' : strings.timeLeft(formatDuration(remainingMs))
  const isEndingSoon = remainingMs !== undefined && remainingMs <= ENDING_SOON_MS
  const [announcement, setAnnouncement] = useState('')
  if (isEndingSoon && announcement === '') setAnnouncement(text)
  // Cleared, so that an extended deadline is announced again.
  if (remainingMs !== undefined && !isEndingSoon && announcement !== '') setAnnouncement('')
  return (
    <div className="rs-deadline">
      <span className={`rs-countdown${isEndingSoon ? ' rs-ending-soon' : ''}`} role="timer">
        {text}
      </span>
      <span className="rs-sr" role="status">
        {announcement}
      </span>
      {moreTime && (
        <Button isSmall aria-disabled={moreTime.isBusy} onClick={() => void moreTime.extend()}>
          {strings.moreTime}
        </Button>
      )}
      {moreTime?.error !== undefined && (
        <span className="rs-deadline-problem" role="alert">
          {moreTime.error}
        </span>
      )}
    </div>
  )
}

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
        <Button className="rs-cancel" aria-disabled={isBusy} onClick={() => isBusy || reject()}>
          {strings.cancel}
        </Button>
        <Button aria-disabled={isBusy} onClick={() => isBusy || onRequest()}>
          {strings.requestChanges}
        </Button>
        <Button
          kind="primary"
          aria-describedby={left > 0 ? `${reason} ${checked}` : reason}
          aria-disabled={isBusy}
          disabled={problem !== undefined}
          onClick={() => void confirm()}
        >
          {strings.confirm(rows.length)}
        </Button>
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
        <Button autoFocus onClick={onKeep}>
          {strings.keepEditing}
        </Button>
        <Button kind="danger" onClick={onReject}>
          {strings.cancelPlan}
        </Button>
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

interface SelectionBarProps {
  readonly editing: RowEditing
  readonly count: number
}

export function SelectionBar({ editing, count }: SelectionBarProps): ReactElement {
  const strings = useStrings()
  const [tags, setTags] = useState('')
  const [announcement, setAnnouncement] = useState('')
  const { selected, selectAll, editSelected, removeSelected } = editing
  const label = strings.selected(selected.size)
  return (
    <div className="rs-selection" role="group" aria-label={label}>
      <label>
        <input
          type="checkbox"
          aria-label={strings.reviewing.selectAll}
          checked={selected.size === count}
          ref={box => {
            if (box) box.indeterminate = selected.size < count
          }}
          onChange={() => selectAll(selected.size < count)}
        />
        {label}
      </label>
      <select
        className="rs-input"
        aria-label={strings.fields.priority}
        value=""
        onChange={event => editSelected({ priority: event.target.value as Priority })}
      >
        <option value="" disabled>
          {strings.fields.priority}
        </option>
        <Options texts={strings.priority} />
      </select>
      <select
        className="rs-input"
        aria-label={strings.fields.status}
        value=""
        onChange={event => editSelected({ status: event.target.value as RowStatus })}
      >
        <option value="" disabled>
          {strings.fields.status}
        </option>
        <Options texts={strings.rowStatus} />
      </select>
      <form
        onSubmit={event => {
          event.preventDefault()
          // Empty input means unchanged; it does not remove tags.
          if (splitList(tags).length === 0) return
          editSelected({ tags })
          setTags('')
          setAnnouncement(strings.tagsSet(selected.size))
        }}
      >
        <input
          className="rs-input"
          aria-label={strings.byCommas(strings.fields.tags)}
          placeholder={strings.fields.tags}
          value={tags}
          onChange={event => setTags(event.target.value)}
        />
        {splitList(tags).length > 0 && <Button type="submit">{strings.setTags}</Button>}
      </form>
      <Button onClick={removeSelected}>
        <Trash2 size={16} aria-hidden="true" /> {strings.reviewing.deleteSelected}
      </Button>
      <IconButton label={strings.reviewing.clearSelection} icon={X} onAct={() => selectAll(false)} />
      <span className="rs-sr" role="status">
        {announcement}
      </span>
    </div>
  )
}
