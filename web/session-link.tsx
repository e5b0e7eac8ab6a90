import type { MouseEvent, ReactElement, ReactNode } from 'react'
import { chatRoute, type Route, urlOf } from './route.ts'

interface SessionLinkProps {
  readonly id: string
  readonly isCurrent: boolean
  readonly children: ReactNode
  readonly onGo: (route: Route) => void
}

/** A link, so that a conversation can be opened in a window of its own. */
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

/** Whether a click on a link is for this window: then the page, not the browser, follows it. */
export function isPlain(event: MouseEvent): boolean {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return false
  event.preventDefault()
  return true
}
