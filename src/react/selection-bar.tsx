import { type ReactElement, useState } from 'react'
import type { Priority } from '../domain/task.ts'
import { splitList } from './check-text.ts'
import type { RowFields } from './draft.ts'
import { useStrings } from './strings.ts'

interface SelectionBarProps {
  readonly count: number
  readonly onSet: (fields: Partial<RowFields>) => void
}

/** Sets a field of all selected rows at once. */
export function SelectionBar({ count, onSet }: SelectionBarProps): ReactElement {
  const strings = useStrings()
  const [tags, setTags] = useState('')
  const [announcement, setAnnouncement] = useState('')
  return (
    <form
      className="rs-selection"
      role="group"
      aria-label={strings.selected(count)}
      onSubmit={event => {
        event.preventDefault()
        // Empty means unchanged: it does not remove tags.
        if (splitList(tags).length === 0) return
        onSet({ tags })
        setTags('')
        setAnnouncement(strings.tagsSet(count))
      }}
    >
      <span>{strings.selected(count)}</span>
      <select
        className="rs-input"
        aria-label={strings.priorityLabel}
        value=""
        onChange={event => onSet({ priority: event.target.value as Priority })}
      >
        <option value="" disabled>
          {strings.priorityLabel}
        </option>
        {(['high', 'medium', 'low'] as const).map(priority => (
          <option key={priority} value={priority}>
            {strings.priority[priority]}
          </option>
        ))}
      </select>
      <input
        className="rs-input"
        aria-label={strings.tagsInput}
        placeholder={strings.tagsInput}
        value={tags}
        onChange={event => setTags(event.target.value)}
      />
      <button type="submit" className="rs-button" disabled={splitList(tags).length === 0}>
        {strings.setTags}
      </button>
      <span className="rs-sr" role="status">
        {announcement}
      </span>
    </form>
  )
}
