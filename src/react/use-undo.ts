import { useRef } from 'react'
import type { EditableRow } from './draft.ts'

type Rows = readonly EditableRow[]
/** Takes a change back. */
export type Inverse = (rows: Rows) => Rows

/** Text that was typed: the browser takes it back. */
const TYPED = 'typed'

export interface Undo {
  readonly typed: () => void
  readonly changed: (inverse: Inverse) => void
  /** The rows without the newest change; undefined where that was typing, or there is none. */
  readonly undone: (rows: Rows) => Rows | undefined
}

/**
 * The changes to the rows of a review that the browser's own undo does not know, such as a removed row, in order with
 * the typing that it does know.
 */
export function useUndo(reviewId: string | undefined): Undo {
  const changes = useRef<{ id: string | undefined; stack: (Inverse | typeof TYPED)[] }>({ id: reviewId, stack: [] })
  const isBrowserUndoing = useRef(false)
  const stackOf = (): (Inverse | typeof TYPED)[] => {
    if (changes.current.id !== reviewId) changes.current = { id: reviewId, stack: [] }
    return changes.current.stack
  }
  return {
    typed: () => {
      if (!isBrowserUndoing.current && stackOf().at(-1) !== TYPED) stackOf().push(TYPED)
    },
    changed: inverse => void stackOf().push(inverse),
    undone: rows => {
      const last = stackOf().pop()
      if (typeof last === 'function') return last(rows)
      // What the browser restores now is not typed.
      isBrowserUndoing.current = true
      setTimeout(() => (isBrowserUndoing.current = false))
      return undefined
    },
  }
}
