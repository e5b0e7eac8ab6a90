import { useState } from 'react'
import type { EditableRow } from './draft.ts'

type Rows = readonly EditableRow[]

/** Typing in one field is one undo step until it pauses this long. */
const PAUSE_MS = 1_000

/** The undo and redo stacks of a review's rows, newest last. */
export interface RowHistory {
  readonly past: readonly Rows[]
  readonly future: readonly Rows[]
  readonly typed?: { readonly field: string; readonly at: number }
}

export const NO_HISTORY: RowHistory = { past: [], future: [] }

/** Records `rows` before a change; pass `field` while a person types in it. */
export function noted(history: RowHistory, rows: Rows, at: number, field?: string): RowHistory {
  const { past, typed } = history
  const isMoreTyping = field !== undefined && typed?.field === field && at - typed.at < PAUSE_MS
  // Several changes at once, such as to all selected rows, start from the same rows.
  const isKnown = past.length > 0 && (isMoreTyping || past.at(-1) === rows)
  const next = { past: isKnown ? past : [...past, rows], future: [] }
  return field === undefined ? next : { ...next, typed: { field, at } }
}

/** The history after an undo or redo step, and the resulting rows. */
export function stepped(
  history: RowHistory,
  rows: Rows,
  by: 'undo' | 'redo',
): { history: RowHistory; rows: Rows } | undefined {
  const { past, future } = history
  const to = (by === 'undo' ? past : future).at(-1)
  if (!to) return undefined
  const moved =
    by === 'undo'
      ? { past: past.slice(0, -1), future: [...future, rows] }
      : { past: [...past, rows], future: future.slice(0, -1) }
  return { history: moved, rows: to }
}

interface Undo {
  readonly canUndo: boolean
  readonly canRedo: boolean
  /** Call it before each change of the rows; pass `field` while a person types in it. */
  readonly changing: (rows: Rows, field?: string) => void
  /** The rows without the newest change; undefined if there is none. */
  readonly undone: (rows: Rows) => Rows | undefined
  /** The rows with the change that was undone last; undefined if there is none. */
  readonly redone: (rows: Rows) => Rows | undefined
}

/** Undo and redo for the rows of a review, including typed text. The browser's own undo cannot restore removed rows. */
export function useUndo(reviewId: string | undefined): Undo {
  const [kept, setKept] = useState<{ readonly id: string | undefined; readonly history: RowHistory }>()
  const historyOf = (all: typeof kept): RowHistory => (all?.id === reviewId ? all?.history : undefined) ?? NO_HISTORY
  const history = historyOf(kept)
  const step = (rows: Rows, by: 'undo' | 'redo'): Rows | undefined => {
    const to = stepped(history, rows, by)
    if (to) setKept({ id: reviewId, history: to.history })
    return to?.rows
  }
  return {
    canUndo: history.past.length > 0,
    canRedo: history.future.length > 0,
    changing: (rows, field) => {
      const at = performance.now()
      setKept(before => ({ id: reviewId, history: noted(historyOf(before), rows, at, field) }))
    },
    undone: rows => step(rows, 'undo'),
    redone: rows => step(rows, 'redo'),
  }
}
