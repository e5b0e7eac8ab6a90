import { useEffect, useRef } from 'react'
import type { Route } from '../parts/route.ts'

/** Scrolls to the route's message once it is rendered, and highlights it briefly. */
export function useShownMessage(route: Route): void {
  const shown = useRef<Route>(undefined)
  // Runs on every render because the message may load later.
  useEffect(() => {
    if (route.message === undefined || shown.current === route) return
    const element = document.querySelector<HTMLElement>(`[data-message="${CSS.escape(route.message)}"]`)
    if (!element) return
    shown.current = route
    element.closest('details')?.setAttribute('open', '')
    element.scrollIntoView({ block: 'center' })
    element.focus({ preventScroll: true })
    element.dataset['found'] = ''
    element.addEventListener('animationend', () => delete element.dataset['found'], { once: true })
  })
}
