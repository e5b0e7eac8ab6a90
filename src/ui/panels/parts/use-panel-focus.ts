import { type FocusEvent, type RefObject, useEffect, useLayoutEffect, useRef } from 'react'

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
