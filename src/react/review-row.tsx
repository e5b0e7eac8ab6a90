import { ArrowDown, ArrowUp, ChevronDown, ChevronUp, GripVertical, X } from 'lucide-react'
import { type ReactElement, useEffect, useId, useRef, useState } from 'react'
import type { RowStatus } from '../domain/review.ts'
import type { Priority } from '../domain/task.ts'
import type { EditRow } from './draft.ts'
import { Growing } from './growing.tsx'
import { IconButton } from './icon-button.tsx'
import { edgeClass, useReorder } from './use-reorder.ts'
import { useWords } from './words.ts'

export interface RowProblem {
  readonly field: string
  readonly message: string
}

interface ReviewRowProps {
  readonly row: EditRow
  readonly place: number
  readonly count: number
  readonly isSelected: boolean
  /** What the server did not take. */
  readonly problem?: RowProblem | undefined
  readonly onSelect: (isOn: boolean) => void
  readonly onChange: (part: Partial<EditRow>) => void
  readonly onMove: (from: number, to: number) => void
  readonly onRemove: () => void
}

/**
 * One proposed task, every field of it open; those that hold nothing wait behind a button. Alt and an arrow moves it,
 * as does dragging it by its handle.
 */
export function ReviewRow(props: ReviewRowProps): ReactElement {
  const { row, place, count, isSelected, problem, onSelect, onChange, onMove, onRemove } = props
  const words = useWords()
  const [isUnfolded, setUnfolded] = useState(false)
  const { item, handle, edge, onKeyDown } = useReorder('review', row.key, place, (from, to) => onMove(from.place, to))
  const problemId = useId()
  useFocusOnProblem(item, problem)
  const about = `, ${place + 1}`
  const field = (label: string, name: string) => ({
    'aria-label': `${label}${about}`,
    'aria-invalid': problem?.field === name,
    ...(problem?.field === name ? { 'aria-describedby': problemId } : {}),
  })
  const shows = (name: 'details' | 'criteria' | 'tags'): boolean =>
    isUnfolded || row[name] !== '' || problem?.field === name
  return (
    <li ref={item} className={`rs-row${edgeClass(edge)}`} onKeyDown={onKeyDown}>
      <span ref={handle} className="rs-handle" title={words.drag} aria-hidden="true">
        <GripVertical size={16} />
      </span>
      <label className="rs-check">
        <input
          type="checkbox"
          aria-label={words.selectRow(place + 1)}
          checked={isSelected}
          onChange={event => onSelect(event.target.checked)}
        />
        <span className="rs-number" aria-hidden="true">
          {place + 1}
        </span>
      </label>
      <div className="rs-fields">
        <div className="rs-row-head">
          <Growing
            {...field(words.title, 'title')}
            rows={1}
            aria-invalid={row.title.trim() === '' || problem?.field === 'title'}
            className="rs-input rs-quiet rs-row-title"
            placeholder={words.title}
            value={row.title}
            onChange={event => onChange({ title: event.target.value.replaceAll(/[\r\n]+/g, ' ') })}
            onKeyDown={event => event.key === 'Enter' && event.preventDefault()}
          />
          <select
            {...field(words.priorityLabel, 'priority')}
            className={`rs-input rs-quiet rs-priority-${row.priority}`}
            title={words.priorityLabel}
            value={row.priority}
            onChange={event => onChange({ priority: event.target.value as Priority })}
          >
            {(['high', 'medium', 'low'] as const).map(priority => (
              <option key={priority} value={priority}>
                {words.priority[priority]}
              </option>
            ))}
          </select>
          <select
            {...field(words.statusLabel, 'status')}
            className="rs-input rs-quiet"
            title={words.statusLabel}
            value={row.status}
            onChange={event => onChange({ status: event.target.value as RowStatus })}
          >
            {(['todo', 'doing', 'blocked', 'done'] as const).map(status => (
              <option key={status} value={status}>
                {words.rowStatus[status]}
              </option>
            ))}
          </select>
          <div className="rs-actions">
            <IconButton
              label={isUnfolded ? words.fewerFields : words.moreFields}
              about={about}
              icon={isUnfolded ? ChevronUp : ChevronDown}
              isExpanded={isUnfolded}
              onAct={() => setUnfolded(!isUnfolded)}
            />
            <IconButton
              label={words.moveUp}
              about={about}
              icon={ArrowUp}
              isIdle={place === 0}
              onAct={() => onMove(place, place - 1)}
            />
            <IconButton
              label={words.moveDown}
              about={about}
              icon={ArrowDown}
              isIdle={place === count - 1}
              onAct={() => onMove(place, place + 1)}
            />
            <IconButton label={words.remove} about={about} icon={X} onAct={onRemove} />
          </div>
        </div>
        {problem && (
          <p id={problemId} className="rs-row-problem">
            {problem.message}
          </p>
        )}
        {(['details', 'criteria'] as const).filter(shows).map(name => (
          <label key={name} className="rs-field">
            <span aria-hidden="true">{words[name]}</span>
            <Growing
              {...field(words[name], name)}
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
            <span aria-hidden="true">{words.tagsLabel}</span>
            <input
              {...field(words.tags, 'tags')}
              className="rs-input rs-quiet"
              placeholder={words.tags}
              value={row.tags}
              onChange={event => onChange({ tags: event.target.value })}
            />
          </label>
        )}
      </div>
    </li>
  )
}

/** Whoever is told that a field is wrong is taken to it. */
function useFocusOnProblem(item: { readonly current: HTMLElement | null }, problem: RowProblem | undefined): void {
  const last = useRef(problem)
  useEffect(() => {
    if (problem && problem !== last.current) {
      item.current?.querySelector<HTMLElement>('[aria-describedby]')?.focus()
      item.current?.querySelector('.rs-row-problem')?.scrollIntoView({ block: 'nearest' })
    }
    last.current = problem
  }, [item, problem])
}
