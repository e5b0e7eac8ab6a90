import { ArrowDown, ArrowUp, ChevronDown, ChevronUp, GripVertical, X } from 'lucide-react'
import { type ReactElement, useEffect, useId, useRef, useState } from 'react'
import type { RowStatus } from '../domain/review.ts'
import type { Priority } from '../domain/task.ts'
import { AutosizeTextarea } from './autosize-textarea.tsx'
import type { EditableRow, RowFields } from './draft.ts'
import type { ReviewChecks } from './edit-checks.ts'
import { IconButton } from './icon-button.tsx'
import { edgeClass } from './reorder.ts'
import { RowChecks } from './review-checks.tsx'
import { useStrings } from './strings.ts'
import { useReorder } from './use-reorder.ts'

interface RowError {
  readonly field: string
  readonly message: string
}

interface ReviewRowProps {
  readonly row: EditableRow
  readonly checks: ReviewChecks
  readonly index: number
  readonly count: number
  readonly isSelected: boolean
  /** The field that the server refused. */
  readonly error: RowError | undefined
  readonly onSelect: (isOn: boolean) => void
  readonly onChange: (fields: Partial<RowFields>) => void
  readonly onMove: (from: number, to: number) => void
  readonly onRemove: () => void
}

/**
 * One proposed task with all its fields; empty ones are behind a button. Alt and an arrow key move it, as does dragging
 * it by its handle.
 */
export function ReviewRow(props: ReviewRowProps): ReactElement {
  const { row, checks, index, count, isSelected, error, onSelect, onChange, onMove, onRemove } = props
  const strings = useStrings()
  const [isExpanded, setExpanded] = useState(false)
  const { item, handle, edge, onKeyDown } = useReorder('review', row.key, index, (from, to) => onMove(from.index, to))
  const errorId = useId()
  useFocusOnError(item, error)
  const about = `, ${index + 1}`
  const field = (label: string, name: string) => ({
    'aria-label': `${label}${about}`,
    'aria-invalid': error?.field === name,
    ...(error?.field === name ? { 'aria-describedby': errorId } : {}),
  })
  const shows = (name: 'details' | 'criteria' | 'tags' | 'may_change'): boolean =>
    isExpanded || row[name] !== '' || error?.field === name
  return (
    <li ref={item} className={`rs-row${edgeClass(edge)}`} onKeyDown={onKeyDown}>
      <span ref={handle} className="rs-handle" title={strings.drag} aria-hidden="true">
        <GripVertical size={16} />
      </span>
      <label className="rs-check">
        <input
          type="checkbox"
          aria-label={strings.selectRow(index + 1)}
          checked={isSelected}
          onChange={event => onSelect(event.target.checked)}
        />
        <span className="rs-number" aria-hidden="true">
          {index + 1}
        </span>
      </label>
      <div className="rs-fields">
        <div className="rs-row-head">
          <AutosizeTextarea
            {...field(strings.title, 'title')}
            rows={1}
            aria-invalid={row.title.trim() === '' || error?.field === 'title'}
            className="rs-input rs-quiet rs-row-title"
            placeholder={strings.title}
            value={row.title}
            onChange={event => onChange({ title: event.target.value.replaceAll(/[\r\n]+/g, ' ') })}
            onKeyDown={event => event.key === 'Enter' && event.preventDefault()}
          />
          <select
            {...field(strings.priorityLabel, 'priority')}
            className={`rs-input rs-quiet rs-priority-${row.priority}`}
            title={strings.priorityLabel}
            value={row.priority}
            onChange={event => onChange({ priority: event.target.value as Priority })}
          >
            {(['high', 'medium', 'low'] as const).map(priority => (
              <option key={priority} value={priority}>
                {strings.priority[priority]}
              </option>
            ))}
          </select>
          <select
            {...field(strings.statusLabel, 'status')}
            className="rs-input rs-quiet"
            title={strings.statusLabel}
            value={row.status}
            onChange={event => onChange({ status: event.target.value as RowStatus })}
          >
            {(['todo', 'doing', 'blocked', 'done'] as const).map(status => (
              <option key={status} value={status}>
                {strings.rowStatus[status]}
              </option>
            ))}
          </select>
          <div className="rs-actions">
            <IconButton
              label={isExpanded ? strings.fewerFields : strings.moreFields}
              about={about}
              icon={isExpanded ? ChevronUp : ChevronDown}
              isExpanded={isExpanded}
              onAct={() => setExpanded(!isExpanded)}
            />
            <IconButton
              label={strings.moveUp}
              about={about}
              icon={ArrowUp}
              isDisabled={index === 0}
              onAct={() => onMove(index, index - 1)}
            />
            <IconButton
              label={strings.moveDown}
              about={about}
              icon={ArrowDown}
              isDisabled={index === count - 1}
              onAct={() => onMove(index, index + 1)}
            />
            <IconButton label={strings.remove} about={about} icon={X} onAct={onRemove} />
          </div>
        </div>
        {error && (
          <p id={errorId} className="rs-row-problem">
            {error.message}
          </p>
        )}
        {(['details', 'criteria'] as const).filter(shows).map(name => (
          <label key={name} className="rs-field">
            <span aria-hidden="true">{strings[name]}</span>
            <AutosizeTextarea
              {...field(strings[name], name)}
              className="rs-input rs-quiet"
              placeholder=" "
              rows={1}
              value={row[name]}
              onChange={event => onChange({ [name]: event.target.value })}
            />
          </label>
        ))}
        {shows('tags') && (
          <label className="rs-field">
            <span aria-hidden="true">{strings.tagsLabel}</span>
            <input
              {...field(strings.tagsInput, 'tags')}
              className="rs-input rs-quiet"
              placeholder={strings.tagsInput}
              value={row.tags}
              onChange={event => onChange({ tags: event.target.value })}
            />
          </label>
        )}
        <RowChecks
          row={row}
          checks={checks}
          about={about}
          isExpanded={isExpanded}
          refused={refusedCheck(error)}
          errorId={errorId}
        />
        {shows('may_change') && (checks.areOffered || row.may_change !== '') && (
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
      </div>
    </li>
  )
}

/** The index of the check that a refusal is about. */
function refusedCheck(error: RowError | undefined): number | undefined {
  const index = /^checks\[(\d+)\]/.exec(error?.field ?? '')?.[1]
  return index === undefined ? undefined : Number(index)
}

/** Moves the focus to a field that was refused. */
function useFocusOnError(item: { readonly current: HTMLElement | null }, error: RowError | undefined): void {
  const last = useRef(error)
  useEffect(() => {
    if (error && error !== last.current) {
      item.current?.querySelector<HTMLElement>('[aria-describedby]')?.focus()
      item.current?.querySelector('.rs-row-problem')?.scrollIntoView({ block: 'nearest' })
    }
    last.current = error
  }, [item, error])
}
