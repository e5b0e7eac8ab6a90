import { combine } from '@atlaskit/pragmatic-drag-and-drop/combine'
import { draggable, dropTargetForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter'
import { ArrowDown, ArrowUp, GripVertical, X } from 'lucide-react'
import { type KeyboardEvent, type ReactElement, useEffect, useRef, useState } from 'react'
import type { RowStatus } from '../domain/review.ts'
import type { Priority } from '../domain/task.ts'
import type { EditRow } from './draft.ts'
import { useWords } from './words.ts'

interface ReviewRowProps {
  readonly row: EditRow
  readonly place: number
  readonly count: number
  readonly isSelected: boolean
  readonly onSelect: (isOn: boolean) => void
  readonly onChange: (part: Partial<EditRow>) => void
  readonly onMove: (to: number) => void
  /** Another row was dropped on this one. */
  readonly onMoveFrom: (from: number) => void
  readonly onRemove: () => void
}

/** One proposed task, every field of it open. Alt and an arrow moves it, as does dragging it by its handle. */
export function ReviewRow(props: ReviewRowProps): ReactElement {
  const { row, place, count, isSelected, onSelect, onChange, onMove, onRemove } = props
  const words = useWords()
  const { item, handle, isOver } = useDragging(props)
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return
    event.preventDefault()
    onMove(place + (event.key === 'ArrowUp' ? -1 : 1))
  }
  const named = (what: string): string => `${what}, ${place + 1}`
  return (
    <li ref={item} className={`rs-row${isOver ? ' rs-row-over' : ''}`} onKeyDown={onKeyDown}>
      <span ref={handle} className="rs-handle" title={words.drag} aria-hidden="true">
        <GripVertical size={16} />
      </span>
      <input
        type="checkbox"
        aria-label={words.selectRow(place + 1)}
        checked={isSelected}
        onChange={event => onSelect(event.target.checked)}
      />
      <div className="rs-fields">
        <input
          className="rs-input rs-row-title"
          aria-label={named(words.title)}
          aria-invalid={row.title.trim() === ''}
          placeholder={words.title}
          value={row.title}
          onChange={event => onChange({ title: event.target.value })}
        />
        <textarea
          className="rs-input rs-row-details"
          aria-label={named(words.details)}
          placeholder={words.details}
          rows={1}
          value={row.details}
          onChange={event => onChange({ details: event.target.value })}
        />
        <div className="rs-row-more">
          <select
            className="rs-input"
            aria-label={named(words.priorityLabel)}
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
            className="rs-input"
            aria-label={named(words.statusLabel)}
            value={row.status}
            onChange={event => onChange({ status: event.target.value as RowStatus })}
          >
            {(['todo', 'doing', 'blocked', 'done'] as const).map(status => (
              <option key={status} value={status}>
                {words.rowStatus[status]}
              </option>
            ))}
          </select>
          <input
            className="rs-input rs-row-tags"
            aria-label={named(words.tags)}
            placeholder={words.tags}
            value={row.tags}
            onChange={event => onChange({ tags: event.target.value })}
          />
        </div>
      </div>
      <div className="rs-actions">
        <button
          type="button"
          className="rs-icon"
          disabled={place === 0}
          aria-label={named(words.moveUp)}
          onClick={() => onMove(place - 1)}
        >
          <ArrowUp size={16} aria-hidden="true" />
        </button>
        <button
          type="button"
          className="rs-icon"
          disabled={place === count - 1}
          aria-label={named(words.moveDown)}
          onClick={() => onMove(place + 1)}
        >
          <ArrowDown size={16} aria-hidden="true" />
        </button>
        <button type="button" className="rs-icon" aria-label={named(words.remove)} onClick={onRemove}>
          <X size={16} aria-hidden="true" />
        </button>
      </div>
    </li>
  )
}

function useDragging({ row, place, onMoveFrom }: ReviewRowProps) {
  const item = useRef<HTMLLIElement>(null)
  const handle = useRef<HTMLSpanElement>(null)
  const [isOver, setOver] = useState(false)
  // The newest one, without taking the element in hand again at every stroke.
  const drop = useRef(onMoveFrom)
  drop.current = onMoveFrom
  useEffect(() => {
    const element = item.current
    const dragHandle = handle.current
    if (!element || !dragHandle) return
    return combine(
      draggable({ element, dragHandle, getInitialData: () => ({ runsheetRow: row.key, place }) }),
      dropTargetForElements({
        element,
        canDrop: ({ source }) => typeof source.data['runsheetRow'] === 'string',
        onDragEnter: () => setOver(true),
        onDragLeave: () => setOver(false),
        onDrop: ({ source }) => {
          setOver(false)
          const from = source.data['place']
          if (typeof from === 'number' && from !== place) drop.current(from)
        },
      }),
    )
  }, [row.key, place])
  return { item, handle, isOver }
}
