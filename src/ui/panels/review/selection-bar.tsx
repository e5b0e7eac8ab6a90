import { Trash2, X } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import type { RowStatus } from '../../../core/model/row.ts'
import type { Priority } from '../../../core/model/task.ts'
import { splitList } from '../tasks/check-text.ts'
import { IconButton } from '../parts/icon-button.tsx'
import { Options } from './review-fields.tsx'
import { useStrings } from '../texts/strings.ts'
import type { RowEditing } from '../draft/use-row-editing.ts'

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
        {splitList(tags).length > 0 && (
          <button type="submit" className="rs-button">
            {strings.setTags}
          </button>
        )}
      </form>
      <button type="button" className="rs-button" onClick={removeSelected}>
        <Trash2 size={16} aria-hidden="true" /> {strings.reviewing.deleteSelected}
      </button>
      <IconButton label={strings.reviewing.clearSelection} about="" icon={X} onAct={() => selectAll(false)} />
      <span className="rs-sr" role="status">
        {announcement}
      </span>
    </div>
  )
}
