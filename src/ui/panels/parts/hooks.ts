import { type FocusEvent, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Client } from '../../../client/client.ts'

/** Returns a function that focuses the nth match of a selector after the next render, with the caret at the end. */
export function useFocusOn(container: {
  readonly current: HTMLElement | null
}): (selector: string, index?: number) => void {
  const [target, setTarget] = useState<{ readonly selector: string; readonly index: number }>()
  useEffect(() => {
    if (!target) return
    const element = container.current?.querySelectorAll<HTMLElement>(target.selector)[target.index]
    element?.focus()
    if (element instanceof HTMLTextAreaElement) element.setSelectionRange(element.value.length, element.value.length)
  }, [container, target])
  return (selector, index = 0) => setTarget({ selector, index })
}

/** The server's time in milliseconds, every second while it is needed; undefined before the first effect. */
export function useNow(client: Client, isNeeded: boolean): number | undefined {
  const [now, setNow] = useState<number>()
  // Rendering must not read a clock: the server's HTML has to match the browser's first render.
  useLayoutEffect(() => {
    if (!isNeeded) return
    const tick = (): void => setNow(client.now())
    tick()
    const timer = setInterval(tick, 1_000)
    return () => clearInterval(timer)
  }, [client, isNeeded])
  return isNeeded ? now : undefined
}

/** Focuses a panel that appears, unless something else has the focus, and returns the focus when it disappears. */
export function usePanelFocus<T extends HTMLElement>(): {
  readonly panel: RefObject<T | null>
  readonly onFocus: (event: FocusEvent) => void
} {
  const panel = useRef<T>(null)
  const focusedBefore = useRef<HTMLElement | null>(null)
  useEffect(() => {
    if (document.activeElement === null || document.activeElement === document.body) {
      panel.current?.focus({ preventScroll: true })
    }
  }, [])
  useLayoutEffect(() => {
    const element = panel.current
    return () => {
      if (!element?.contains(document.activeElement)) return
      requestAnimationFrame(() => {
        if (document.activeElement !== document.body) return
        if (focusedBefore.current?.isConnected) focusedBefore.current.focus()
        else document.querySelector<HTMLElement>('.rs-summary')?.focus()
      })
    }
  }, [])
  const onFocus = ({ relatedTarget }: FocusEvent): void => {
    if (relatedTarget instanceof HTMLElement && !panel.current?.contains(relatedTarget))
      focusedBefore.current = relatedTarget
  }
  return { panel, onFocus }
}

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
