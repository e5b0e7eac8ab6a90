import { type ReactElement, useState } from 'react'
import type { Priority } from '../domain/task.ts'
import type { EditRow } from './draft.ts'
import { useWords } from './words.ts'

interface SelectionBarProps {
  readonly count: number
  readonly onSet: (part: Partial<EditRow>) => void
}

/** What is set for all selected rows at once. */
export function SelectionBar({ count, onSet }: SelectionBarProps): ReactElement {
  const words = useWords()
  const [tags, setTags] = useState('')
  return (
    <div className="rs-selection" role="group" aria-label={words.selected(count)}>
      <span>{words.selected(count)}</span>
      <select
        className="rs-input"
        aria-label={words.priorityLabel}
        value=""
        onChange={event => onSet({ priority: event.target.value as Priority })}
      >
        <option value="" disabled>
          {words.priorityLabel}
        </option>
        {(['high', 'medium', 'low'] as const).map(priority => (
          <option key={priority} value={priority}>
            {words.priority[priority]}
          </option>
        ))}
      </select>
      <input
        className="rs-input"
        aria-label={words.tags}
        placeholder={words.tags}
        value={tags}
        onChange={event => setTags(event.target.value)}
      />
      <button type="button" className="rs-button" onClick={() => onSet({ tags })}>
        {words.setTags}
      </button>
    </div>
  )
}
