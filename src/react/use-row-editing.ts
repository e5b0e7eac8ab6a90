import { type RefObject, useState } from 'react'
import { MAX_ROWS, type RowFields } from './draft.ts'
import { useStrings } from './strings.ts'
import { useFocusOn } from './use-focus-on.ts'
import type { ReviewHandle } from './use-review.ts'

export interface RowEditing {
  /** The result of the last action, for screen readers. */
  readonly announcement: string
  readonly selected: ReadonlySet<string>
  readonly select: (key: string, isOn: boolean) => void
  readonly editSelected: (fields: Partial<RowFields>) => void
  readonly add: (rows?: readonly Partial<RowFields>[]) => void
  readonly move: (from: number, to: number) => void
  readonly remove: (key: string) => void
  /** Takes the last change back; false where there is none. */
  readonly undo: () => boolean
  /** Makes it again. */
  readonly redo: () => boolean
}

/** Adds a selection, focus and announcements to the edits of a draft. */
export function useRowEditing(handle: ReviewHandle, panel: RefObject<HTMLElement | null>): RowEditing {
  const strings = useStrings()
  const [checked, setChecked] = useState<ReadonlySet<string>>(new Set())
  const [announcement, setAnnouncement] = useState('')
  const focusOn = useFocusOn(panel)
  const { rows } = handle
  // A removed row is no longer selected.
  const selected = new Set(rows.flatMap(({ key }) => (checked.has(key) ? key : [])))
  const showStep = (after: ReturnType<ReviewHandle['undo']>, text: string): boolean => {
    if (!after) return false
    const known = new Set(rows.map(({ key }) => key))
    const restored = after.findIndex(({ key }) => !known.has(key))
    setAnnouncement(text)
    if (restored >= 0) focusOn('.rs-row-title', restored)
    else if (after.length < rows.length) focusOn('.rs-add-row')
    return true
  }
  return {
    announcement,
    selected,
    select: (key, isOn) => setChecked(new Set([...selected].filter(each => each !== key).concat(isOn ? key : []))),
    editSelected: fields => {
      for (const key of selected) handle.edit(key, fields)
    },
    add: (more = [{}]) => {
      const added = handle.add(more)
      setAnnouncement(added < more.length ? strings.tooManyRows(MAX_ROWS) : '')
      focusOn('.rs-row-title', Math.min(rows.length, MAX_ROWS - 1))
    },
    move: (from, to) => {
      if (to < 0 || to >= rows.length) return
      setAnnouncement(strings.movedTo(to + 1, rows.length))
      handle.move(from, to)
    },
    remove: key => {
      const index = rows.findIndex(row => row.key === key)
      setAnnouncement(strings.removed(rows[index]?.title ?? ''))
      handle.remove(key)
      focusOn(rows.length > 1 ? '.rs-row-title' : '.rs-add-row', Math.min(index, Math.max(0, rows.length - 2)))
    },
    undo: () => showStep(handle.undo(), strings.undone),
    redo: () => showStep(handle.redo(), strings.redone),
  }
}
