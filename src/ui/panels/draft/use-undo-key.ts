import { type RefObject, useEffect, useRef } from 'react'

/** In these, Ctrl+Z is the browser's own undo. */
const TEXT_FIELD = 'input, textarea, [contenteditable]'

/** Each returns something falsy if there is nothing to undo or redo. */
interface UndoKeys {
  readonly undo: () => unknown
  readonly redo: () => unknown
}

/**
 * Undoes a change of a panel by Ctrl+Z and redoes it by Ctrl+Shift+Z or Ctrl+Y (Command on a Mac) while the panel is
 * visible. Works with the focus in the panel, except in its `fields`, or elsewhere on the page, except in a text field
 * or another panel.
 */
export function useUndoKey(panel: RefObject<HTMLElement | null>, keys: UndoKeys, fields = TEXT_FIELD): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const key = keyOf(event)
      // During composition the keys belong to the input method.
      if (event.defaultPrevented || !key || event.isComposing || !isShown(panel.current)) return
      // In a shadow tree, `event.target` is only the host.
      const [target] = event.composedPath()
      if (!(target instanceof Element)) return
      const focused = target.closest('.rs-panel')
      const isElsewhere = focused !== null && focused !== panel.current
      if (isElsewhere || target.closest(focused ? fields : TEXT_FIELD)) return
      if (latest.current[key]()) event.preventDefault()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [panel, fields])
}

function keyOf({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent): keyof UndoKeys | undefined {
  if (!(ctrlKey || metaKey) || altKey) return undefined
  if (key.toLowerCase() === 'z') return shiftKey ? 'redo' : 'undo'
  return key.toLowerCase() === 'y' && !shiftKey ? 'redo' : undefined
}

const isShown = (panel: HTMLElement | null): boolean => panel !== null && panel.closest('[inert]') === null
