import type { ReactElement } from 'react'
import type { RowStatus } from '../domain/row.ts'
import type { Priority } from '../domain/task.ts'
import { AutosizeTextarea } from './autosize-textarea.tsx'
import { EMPTY, type EditableRow, type RowFields } from './draft.ts'
import type { ReviewChecks } from './edit-checks.ts'
import { RowChecks } from './review-checks.tsx'
import { useStrings } from './strings.ts'

/** A field that the server refused. */
export interface RowError {
  readonly field: string
  readonly message: string
}

interface RowFieldsEditorProps {
  readonly row: EditableRow
  readonly checks: ReviewChecks
  /** Which row it is, for screen readers; appended to labels. */
  readonly about: string
  /** Shows every field, not only those that say something. */
  readonly isOpen: boolean
  readonly isCommenting: boolean
  readonly error: RowError | undefined
  readonly errorId: string
  readonly onChange: (fields: Partial<RowFields>) => void
  /** The comment was left empty. */
  readonly onCommented: () => void
}

/** The fields of a step besides its title: those that are set, or all of them. */
export function RowFieldsEditor(props: RowFieldsEditorProps): ReactElement {
  const { row, checks, about, isOpen, isCommenting, error, errorId, onChange, onCommented } = props
  const strings = useStrings()
  const field = (label: string, name: string) => ({
    'aria-label': `${label}${about}`,
    'aria-invalid': error?.field === name,
    ...(error?.field === name ? { 'aria-describedby': errorId } : {}),
  })
  const shows = (name: Exclude<keyof RowFields, 'title' | 'checks'>): boolean =>
    isOpen || row[name] !== EMPTY[name] || error?.field === name
  const hasMeta = shows('priority') || shows('status') || shows('tags')
  return (
    <>
      {shows('details') && (
        <label className="rs-field">
          {isOpen && <span aria-hidden="true">{strings.details}</span>}
          <AutosizeTextarea
            {...field(strings.details, 'details')}
            className="rs-input rs-quiet rs-details"
            placeholder=" "
            rows={1}
            value={row.details}
            onChange={event => onChange({ details: event.target.value })}
          />
        </label>
      )}
      {shows('criteria') && (
        <label className="rs-field">
          <span aria-hidden="true">{strings.criteria}</span>
          <AutosizeTextarea
            {...field(strings.criteria, 'criteria')}
            className="rs-input rs-quiet"
            placeholder=" "
            rows={1}
            value={row.criteria}
            onChange={event => onChange({ criteria: event.target.value })}
          />
        </label>
      )}
      {hasMeta && (
        <div className="rs-meta">
          {shows('priority') && (
            <label>
              <span aria-hidden="true">{strings.priorityLabel}</span>
              <select
                {...field(strings.priorityLabel, 'priority')}
                className={`rs-input rs-quiet rs-priority-${row.priority}`}
                value={row.priority}
                onChange={event => onChange({ priority: event.target.value as Priority })}
              >
                <Options texts={strings.priority} />
              </select>
            </label>
          )}
          {shows('status') && (
            <label>
              <span aria-hidden="true">{strings.statusLabel}</span>
              <select
                {...field(strings.statusLabel, 'status')}
                className="rs-input rs-quiet"
                value={row.status}
                onChange={event => onChange({ status: event.target.value as RowStatus })}
              >
                <Options texts={strings.rowStatus} />
              </select>
            </label>
          )}
          {shows('tags') && (
            <label className="rs-meta-tags">
              <span aria-hidden="true">{strings.tagsLabel}</span>
              <input
                {...field(strings.tagsInput, 'tags')}
                className="rs-input rs-quiet"
                dir="auto"
                placeholder={strings.separatedByCommas}
                value={row.tags}
                onChange={event => onChange({ tags: event.target.value })}
              />
            </label>
          )}
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
      {/* Files are guarded only where there are checks. */}
      {shows('may_change') && (checks.count + checks.ofPlan.length > 0 || row.may_change !== '') && (
        <label className="rs-field">
          <span aria-hidden="true">{strings.checks.mayChange}</span>
          <input
            {...field(strings.checks.mayChange, 'may_change')}
            className="rs-input rs-quiet rs-code"
            placeholder={strings.checks.mayChangeInput('test/**')}
            value={row.may_change}
            onChange={event => onChange({ may_change: event.target.value })}
          />
        </label>
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

/** The options of a select, in the order of their texts. */
export function Options({ texts }: { readonly texts: Readonly<Record<string, string>> }): ReactElement[] {
  return Object.entries(texts).map(([value, text]) => (
    <option key={value} value={value}>
      {text}
    </option>
  ))
}

/** The index of the check that a refusal is about. */
function refusedCheck(error: RowError | undefined): number | undefined {
  const index = /^checks\[(\d+)\]/.exec(error?.field ?? '')?.[1]
  return index === undefined ? undefined : Number(index)
}
