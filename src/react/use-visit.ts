import { type FocusEvent, type RefObject, useEffect, useLayoutEffect, useRef } from 'react'

/**
 * The focus of somebody who comes to a panel that appears: it takes the focus only where nothing else has it, and gives
 * it back when it goes. Nobody who types elsewhere is disturbed.
 */
export function useVisit<T extends HTMLElement>(): {
  readonly panel: RefObject<T | null>
  readonly onFocus: (event: FocusEvent) => void
} {
  const panel = useRef<T>(null)
  const cameFrom = useRef<HTMLElement | null>(null)
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
        if (cameFrom.current?.isConnected) cameFrom.current.focus()
        else document.querySelector<HTMLElement>('.rs-summary')?.focus()
      })
    }
  }, [])
  const onFocus = ({ relatedTarget }: FocusEvent): void => {
    if (relatedTarget instanceof HTMLElement && !panel.current?.contains(relatedTarget))
      cameFrom.current = relatedTarget
  }
  return { panel, onFocus }
}
