import type { KeyboardEvent } from 'react'

/** Ctrl+Z, or Command+Z on a Mac. */
export const isUndo = ({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent): boolean =>
  (ctrlKey || metaKey) && !shiftKey && !altKey && key.toLowerCase() === 'z'
