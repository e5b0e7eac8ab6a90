import { type RefObject, useEffect, useRef, useState } from 'react'
import { MAX_ROWS, type RowFields } from './draft.ts'
import { useStrings } from '../texts/strings.ts'
import { useFocusOn } from '../parts/hooks.ts'
import type { ReviewHandle } from './use-review.ts'

export interface RowEditing {
  /** Not all of the last added rows fit, and nothing was edited since. */
  readonly isFull: boolean
  /** The result of the last action, for screen readers. */
  readonly announcement: string
  readonly selected: ReadonlySet<string>
  readonly select: (key: string, isOn: boolean) => void
  readonly selectAll: (isOn: boolean) => void
  readonly editSelected: (fields: Partial<RowFields>) => void
  readonly removeSelected: () => void
  /** Inserts rows, by default one at the end, and focuses the first of them. */
  readonly add: (rows?: readonly Partial<RowFields>[], at?: number) => void
  readonly move: (from: number, to: number) => void
  readonly remove: (key: string, isBackwards?: boolean) => void
  readonly restore: (draftIndex: number, place: number) => void
  readonly isChanged: boolean
  readonly resetAll: () => void
  /** Undoes the last change; false if there is none. */
  readonly undo: () => boolean
  readonly redo: () => boolean
}

/** Adds selection, focus and announcements to the edits of a draft. */
export function useRowEditing(handle: ReviewHandle, panel: RefObject<HTMLElement | null>): RowEditing {
  const strings = useStrings()
  const [checked, setChecked] = useState<ReadonlySet<string>>(new Set())
  const [announcement, setAnnouncement] = useState('')
  const [didNotFit, setDidNotFit] = useState(false)
  const focusOn = useFocusOn(panel)
  const { rows, tally } = handle
  const isAdding = useRef(false)
  useEffect(() => {
    if (!isAdding.current) setDidNotFit(false)
    isAdding.current = false
  }, [rows])
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
  const focusOnRow = (index: number, left: number): void =>
    focusOn(left > 0 ? '.rs-row-title' : '.rs-add-row', Math.max(0, Math.min(index, left - 1)))
  return {
    isFull: didNotFit && rows.length >= MAX_ROWS,
    announcement,
    selected,
    select: (key, isOn) => setChecked(new Set([...selected].filter(each => each !== key).concat(isOn ? key : []))),
    selectAll: isOn => setChecked(new Set(isOn ? rows.map(({ key }) => key) : [])),
    editSelected: fields => {
      for (const key of selected) handle.edit(key, fields)
    },
    removeSelected: () => {
      setAnnouncement(strings.reviewing.stepsRemoved(selected.size))
      for (const key of selected) handle.remove(key)
      const first = rows.findIndex(({ key }) => selected.has(key))
      focusOnRow(first, rows.length - selected.size)
    },
    add: (more = [{}], at = rows.length) => {
      const added = handle.add(more, at)
      setAnnouncement('')
      setDidNotFit(added < more.length)
      isAdding.current = added > 0
      if (added > 0) focusOn('.rs-row-title', at)
    },
    move: (from, to) => {
      if (to < 0 || to >= rows.length) return
      setAnnouncement(strings.movedTo(to + 1, rows.length))
      handle.move(from, to)
    },
    remove: (key, isBackwards = false) => {
      const index = rows.findIndex(row => row.key === key)
      const title = rows[index]?.title.trim() ?? ''
      setAnnouncement(title === '' ? strings.reviewing.stepsRemoved(1) : strings.removed(title))
      handle.remove(key)
      focusOnRow(isBackwards ? index - 1 : index, rows.length - 1)
    },
    restore: (draftIndex, place) => {
      handle.restore(draftIndex)
      focusOn('.rs-row-title', place)
    },
    isChanged: tally.edited + tally.added + tally.removed > 0 || tally.isReordered,
    resetAll: () => {
      handle.reset()
      focusOn('.rs-row-title')
    },
    undo: () => showStep(handle.undo(), strings.undone),
    redo: () => showStep(handle.redo(), strings.redone),
  }
}
