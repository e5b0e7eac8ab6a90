import { type RefObject, useEffect, useRef } from 'react'

/** Where Ctrl+Z is the browser's own undo. */
const TEXT_FIELD = 'input, textarea, [contenteditable]'

/**
 * Undoes a change of a panel by Ctrl+Z, or Command+Z on a Mac, as long as the panel is shown: with the focus in it,
 * except in its `fields`, or on the page around it, except in a text field or another panel.
 */
export function useUndoKey(panel: RefObject<HTMLElement | null>, undo: () => unknown, fields = TEXT_FIELD): void {
  const latest = useRef(undo)
  latest.current = undo
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || !isUndo(event) || !isShown(panel.current)) return
      // The event's own target is less exact where the focus is in a shadow tree.
      const [target] = event.composedPath()
      if (!(target instanceof Element)) return
      const focused = target.closest('.rs-panel')
      const isElsewhere = focused !== null && focused !== panel.current
      if (isElsewhere || target.closest(focused ? fields : TEXT_FIELD)) return
      if (latest.current()) event.preventDefault()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [panel, fields])
}

const isUndo = ({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent): boolean =>
  (ctrlKey || metaKey) && !shiftKey && !altKey && key.toLowerCase() === 'z'

const isShown = (panel: HTMLElement | null): boolean => panel !== null && panel.closest('[inert]') === null
