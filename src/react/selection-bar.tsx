import { type ReactElement, useState } from 'react'
import type { Priority } from '../domain/task.ts'
import { type EditRow, tagsIn } from './draft.ts'
import { useWords } from './words.ts'

interface SelectionBarProps {
  readonly count: number
  readonly onSet: (part: Partial<EditRow>) => void
}

/** What is set for all selected rows at once. */
export function SelectionBar({ count, onSet }: SelectionBarProps): ReactElement {
  const words = useWords()
  const [tags, setTags] = useState('')
  const [said, setSaid] = useState('')
  return (
    <form
      className="rs-selection"
      role="group"
      aria-label={words.selected(count)}
      onSubmit={event => {
        event.preventDefault()
        // An empty field says nothing: it takes no tags away.
        if (tagsIn(tags).length === 0) return
        onSet({ tags })
        setTags('')
        setSaid(words.tagsSet(count))
      }}
    >
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
      <button type="submit" className="rs-button" disabled={tagsIn(tags).length === 0}>
        {words.setTags}
      </button>
      <span className="rs-sr" role="status">
        {said}
      </span>
    </form>
  )
}
