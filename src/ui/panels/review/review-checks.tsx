import { X } from 'lucide-react'
import { type ReactElement, useId } from 'react'
import { AutosizeTextarea } from '../parts/autosize-textarea.tsx'
import { AddCheck } from '../draft/add-check.tsx'
import { conditionsOf, kindLabel } from '../tasks/check-text.ts'
import type { EditableRow } from '../draft/draft.ts'
import { type EditableCheck, isAllowedNow, isOwn, isRunnable } from '../draft/draft-checks.ts'
import type { ReviewChecks } from '../draft/edit-checks.ts'
import { IconButton } from '../parts/icon-button.tsx'
import { useStrings } from '../texts/strings.ts'

interface RowChecksProps {
  readonly row: EditableRow
  readonly checks: ReviewChecks
  /** Names the row for screen readers; appended to labels. */
  readonly about: string
  readonly isExpanded: boolean
  readonly refused: number | undefined
  readonly errorId: string
}

export function RowChecks({ row, checks, about, isExpanded, refused, errorId }: RowChecksProps): ReactElement {
  return (
    <>
      {row.checks.map((check, index) => (
        <ReviewCheck
          key={check.key}
          check={check}
          about={about}
          errorId={refused === index ? errorId : undefined}
          onEdit={text => checks.edit(row.key, check.key, text)}
          onApprove={isOn => checks.approve(row.key, check.key, isOn)}
          onRemove={() => checks.remove(row.key, check.key)}
        />
      ))}
      {isExpanded && checks.areOffered && (
        <AddCheck
          about={about}
          commands={checks.commands}
          onType={line => checks.type(row.key, line)}
          onAdd={(line, isHidden) => checks.add(row.key, line, isHidden)}
        />
      )}
    </>
  )
}

interface ReviewCheckProps {
  readonly check: EditableCheck
  readonly about: string
  readonly errorId: string | undefined
  readonly onEdit: (text: string) => void
  readonly onApprove: (isOn: boolean) => void
  readonly onRemove: () => void
}

function ReviewCheck({ check, about, errorId, onEdit, onApprove, onRemove }: ReviewCheckProps): ReactElement {
  const strings = useStrings()
  const { spec, text } = check
  const label = kindLabel(spec, strings)
  const conditions = conditionsOf(spec, strings)
  return (
    <div className="rs-field rs-review-check">
      <span aria-hidden="true">{label}</span>
      <div className="rs-review-check-text">
        <AutosizeTextarea
          aria-label={`${label}${about}`}
          aria-invalid={text.trim() === '' || errorId !== undefined}
          {...(errorId === undefined ? {} : { 'aria-describedby': errorId })}
          className={`rs-input rs-quiet${spec.kind === 'person' ? '' : ' rs-code'}`}
          placeholder=" "
          rows={1}
          spellCheck={false}
          value={text}
          onChange={event => onEdit(event.target.value.replaceAll(/[\r\n]+/g, ' '))}
          onKeyDown={event => event.key === 'Enter' && event.preventDefault()}
        />
        {conditions !== '' && <small className="rs-code">{conditions}</small>}
      </div>
      {isRunnable(check) && <Approval check={check} about={about} onApprove={onApprove} />}
      <IconButton label={strings.remove} about={strings.timeline.changed('', text + about)} icon={X} onAct={onRemove} />
    </div>
  )
}

interface ApprovalProps {
  readonly check: EditableCheck
  readonly about: string
  readonly onApprove: (isOn: boolean) => void
}

/** A check that the person wrote or the configuration allows needs no decision. */
function Approval({ check, about, onApprove }: ApprovalProps): ReactElement {
  const { checks: strings, timeline } = useStrings()
  const id = useId()
  const isMine = isOwn(check)
  if (isMine || isAllowedNow(check)) {
    return <span className="rs-approval">{isMine ? strings.isOwn : strings.isAllowed}</span>
  }
  return (
    <label className="rs-approval" htmlFor={id}>
      <input
        id={id}
        type="checkbox"
        aria-label={timeline.changed(strings.approve, check.text + about)}
        checked={check.isApproved}
        onChange={event => onApprove(event.target.checked)}
      />
      {strings.approve}
    </label>
  )
}
