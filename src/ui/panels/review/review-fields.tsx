import { type ReactElement, useId } from 'react'
import { X } from 'lucide-react'
import { globText, type PlainField, plainFields } from '../../../core/model/row.ts'
import { AutosizeTextarea, IconButton } from '../parts/controls.tsx'
import { AddCheck } from '../parts/line-input.tsx'
import { conditionsOf, kindLabel, splitList } from '../parts/text.ts'
import { choicesOf, type EditableRow, EMPTY, isList, type RowFields } from './draft.ts'
import { type EditableCheck, isAllowedNow, isOwn, isRunnable, type ReviewChecks } from './draft-checks.ts'
import { useStrings } from '../texts/strings.ts'

export interface RowError {
  readonly field: string
  readonly message: string
}

interface RowFieldsEditorProps {
  readonly row: EditableRow
  readonly checks: ReviewChecks
  /** Names the row for screen readers; appended to labels. */
  readonly about: string
  /** Shows empty fields, too. */
  readonly isOpen: boolean
  readonly isCommenting: boolean
  readonly error: RowError | undefined
  readonly errorId: string
  readonly onChange: (fields: Partial<RowFields>) => void
  readonly onCommented: () => void
}

export function RowFieldsEditor(props: RowFieldsEditorProps): ReactElement {
  const { row, checks, about, isOpen, isCommenting, error, errorId, onChange, onCommented } = props
  const strings = useStrings()
  const field = (label: string, name: string) => ({
    'aria-label': `${label}${about}`,
    'aria-invalid': error?.field === name,
    ...(error?.field === name ? { 'aria-describedby': errorId } : {}),
  })
  const shows = (name: PlainField): boolean => isOpen || row[name] !== EMPTY[name] || error?.field === name
  const texts = plainFields('text').filter(shows)
  const facts = plainFields('choice', 'line', 'list').filter(shows)
  return (
    <>
      {texts.map(name => (
        <label key={name} className="rs-field">
          {(isOpen || name !== 'details') && <span aria-hidden="true">{strings.fields[name]}</span>}
          <AutosizeTextarea
            {...field(strings.fields[name], name)}
            className={`rs-input rs-quiet rs-${name}`}
            placeholder=" "
            rows={1}
            value={row[name]}
            onChange={event => onChange({ [name]: event.target.value })}
          />
        </label>
      ))}
      {facts.length > 0 && (
        <div className="rs-meta">
          {facts.map(name => (
            <label key={name} className={choicesOf(name, strings) ? undefined : 'rs-meta-text'}>
              <span aria-hidden="true">{strings.fields[name]}</span>
              <FactInput name={name} value={row[name]} field={field} onValue={value => onChange({ [name]: value })} />
            </label>
          ))}
        </div>
      )}
      <RowChecks
        row={row}
        checks={checks}
        about={about}
        isExpanded={isOpen}
        refused={refusedCheck(error)}
        errorId={errorId}
      />
      {/* A scope is compared when a check runs. */}
      {shows('scope') && (checks.count + checks.ofPlan.length > 0 || row.scope !== '') && (
        <label className="rs-field">
          <span aria-hidden="true">{strings.fields.scope}</span>
          <input
            {...field(strings.fields.scope, 'scope')}
            className="rs-input rs-quiet rs-code"
            placeholder={strings.checks.scopeInput('src/auth/**')}
            value={row.scope}
            onChange={event => onChange({ scope: event.target.value })}
          />
        </label>
      )}
      {row.asks && (
        <div className="rs-asks" role="group" aria-label={strings.checks.asksScope + about}>
          <span aria-hidden="true">{strings.checks.asksScope}</span>
          {row.asks.map(glob => (
            <label key={glob} className="rs-code">
              <input
                type="checkbox"
                checked={splitList(row.scope).includes(glob)}
                onChange={() => onChange({ scope: toggled(row.scope, glob) })}
              />
              {globText(glob, strings.checks.anyFile)}
            </label>
          ))}
        </div>
      )}
      {row.draft_index !== undefined && (isCommenting || row.comment !== '' || error?.field === 'comment') && (
        <AutosizeTextarea
          {...field(strings.rowComment, 'comment')}
          className="rs-input rs-row-comment"
          autoFocus={isCommenting}
          placeholder={strings.rowComment}
          rows={1}
          value={row.comment}
          onChange={event => onChange({ comment: event.target.value })}
          onBlur={() => row.comment === '' && onCommented()}
        />
      )}
    </>
  )
}

function toggled(scope: string, glob: string): string {
  const globs = splitList(scope)
  return (globs.includes(glob) ? globs.filter(each => each !== glob) : [...globs, glob]).join(', ')
}

interface FactInputProps {
  readonly name: PlainField
  readonly value: string
  readonly field: (label: string, name: string) => object
  readonly onValue: (value: string) => void
}

function FactInput({ name, value, field, onValue }: FactInputProps): ReactElement {
  const strings = useStrings()
  const label = strings.fields[name]
  const choices = choicesOf(name, strings)
  if (choices) {
    return (
      <select
        {...field(label, name)}
        className={`rs-input rs-quiet rs-choice-${value}`}
        value={value}
        onChange={event => onValue(event.target.value)}
      >
        <Options texts={choices} />
      </select>
    )
  }
  return (
    <input
      {...field(isList(name) ? strings.byCommas(label) : label, name)}
      className="rs-input rs-quiet"
      dir="auto"
      {...(isList(name) ? { placeholder: strings.separatedByCommas } : {})}
      value={value}
      onChange={event => onValue(event.target.value)}
    />
  )
}

export function Options({ texts }: { readonly texts: Readonly<Record<string, string>> }): ReactElement[] {
  return Object.entries(texts).map(([value, text]) => (
    <option key={value} value={value}>
      {text}
    </option>
  ))
}

function refusedCheck(error: RowError | undefined): number | undefined {
  const index = /^checks\[(\d+)\]/.exec(error?.field ?? '')?.[1]
  return index === undefined ? undefined : Number(index)
}

interface RowChecksProps {
  readonly row: EditableRow
  readonly checks: ReviewChecks
  /** Names the row for screen readers; appended to labels. */
  readonly about: string
  readonly isExpanded: boolean
  readonly refused: number | undefined
  readonly errorId: string
}

function RowChecks({ row, checks, about, isExpanded, refused, errorId }: RowChecksProps): ReactElement {
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
