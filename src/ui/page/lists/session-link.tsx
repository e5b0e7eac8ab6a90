import type { MouseEvent, ReactElement, ReactNode } from 'react'
import { chatRoute, type Route, urlOf } from '../parts/route.ts'

interface SessionLinkProps {
  readonly id: string
  readonly isCurrent: boolean
  readonly children: ReactNode
  readonly onGo: (route: Route) => void
}

/** A real link, so that a conversation can open in its own window. */
export function SessionLink({ id, isCurrent, children, onGo }: SessionLinkProps): ReactElement {
  return (
    <a
      href={urlOf(chatRoute(id))}
      {...(isCurrent ? { 'aria-current': 'page' as const } : {})}
      onClick={event => isPlain(event) && onGo(chatRoute(id))}
    >
      {children}
    </a>
  )
}

/** True if the page should follow the link; other clicks belong to the browser. */
export function isPlain(event: MouseEvent): boolean {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return false
  event.preventDefault()
  return true
}
