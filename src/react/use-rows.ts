import { type RefObject, useState } from 'react'
import { type Draft, type EditRow, MOST_ROWS, moved } from './draft.ts'
import { useFocusOn } from './use-focus-on.ts'
import { useWords } from './words.ts'

export interface Rows {
  /** What happened to them, for those who do not see it. */
  readonly said: string
  readonly selected: ReadonlySet<string>
  readonly select: (key: string, isOn: boolean) => void
  /** Something for all selected ones at once. */
  readonly setSelected: (part: Partial<EditRow>) => void
  readonly change: (key: string, part: Partial<EditRow>) => void
  readonly add: (more: readonly EditRow[]) => void
  readonly move: (from: number, to: number) => void
  readonly remove: (place: number) => void
}

/** What can be done to the rows of a draft; the focus goes along. */
export function useRows(draft: Draft, setDraft: (draft: Draft) => void, panel: RefObject<HTMLElement | null>): Rows {
  const words = useWords()
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [said, setSaid] = useState('')
  const focusOn = useFocusOn(panel)
  const { rows } = draft
  // A row that was removed is no longer selected.
  const selected = new Set(rows.flatMap(({ key }) => (chosen.has(key) ? key : [])))
  const setRows = (next: readonly EditRow[]): void => setDraft({ ...draft, rows: next })
  return {
    said,
    selected,
    select: (key, isOn) => setChosen(new Set([...selected].filter(each => each !== key).concat(isOn ? key : []))),
    setSelected: part => setRows(rows.map(row => (selected.has(row.key) ? { ...row, ...part } : row))),
    change: (key, part) => setRows(rows.map(row => (row.key === key ? { ...row, ...part } : row))),
    add: more => {
      const next = [...rows, ...more]
      setSaid(next.length > MOST_ROWS ? words.tooManyRows(MOST_ROWS) : '')
      setRows(next.slice(0, MOST_ROWS))
      focusOn('.rs-row-title', Math.min(rows.length, MOST_ROWS - 1))
    },
    move: (from, to) => {
      if (to < 0 || to >= rows.length) return
      setSaid(words.movedTo(to + 1, rows.length))
      setRows(moved(rows, from, to))
    },
    remove: place => {
      setRows(rows.toSpliced(place, 1))
      focusOn(rows.length > 1 ? '.rs-row-title' : '.rs-add-row', Math.min(place, Math.max(0, rows.length - 2)))
    },
  }
}
