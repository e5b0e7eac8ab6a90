import { useEffect, useRef } from 'react'

/** Scrolls to a message once it is on the page, and marks it for a moment. */
export function useShownMessage(message: string | undefined): void {
  const shown = useRef<string>(undefined)
  // With every change, since the message may come later.
  useEffect(() => {
    if (message === undefined) shown.current = undefined
    if (message === undefined || shown.current === message) return
    const element = document.querySelector<HTMLElement>(`[data-message="${CSS.escape(message)}"]`)
    if (!element) return
    shown.current = message
    element.closest('details')?.setAttribute('open', '')
    element.scrollIntoView({ block: 'center' })
    element.focus({ preventScroll: true })
    element.dataset['found'] = ''
    element.addEventListener('animationend', () => delete element.dataset['found'], { once: true })
  })
}
