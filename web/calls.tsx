import { BellRing, Settings } from 'lucide-react'
import { type MouseEvent, type ReactElement, useEffect } from 'react'
import type { Client } from 'runsheet/client'
import { usePendingReviews } from 'runsheet/react'
import { useCommands } from './commands.ts'
import { englishCalls } from './english-calls.ts'
import { showWaiting } from './page-title.ts'
import type { PageStrings } from './page-strings.ts'
import { REVIEWS, type Route, settingsRoute, urlOf } from './route.ts'
import { useNotifications } from './use-notifications.ts'
import './calls.css'

interface CallsProps {
  readonly client: Client
  readonly strings: PageStrings
  readonly route: Route
  /** Changes when a conversation in sight has changed. */
  readonly version: number
  readonly onGo: (route: Route) => void
}

/** Follows what waits anywhere and calls the person: in the title, the icon and by notifications. Links to it, and to the settings. */
export function Calls({ client, strings, route, version, onGo }: CallsProps): ReactElement {
  const words = strings.calls ?? englishCalls
  const { reviews, hasMore, reload } = usePendingReviews(client)
  const waiting = reviews && reviews.length > 0 ? `${reviews.length}${hasMore ? '+' : ''}` : ''
  useEffect(() => void reload(), [reload, version])
  useEffect(() => {
    const show = (count: string): void => {
      showWaiting(count)
      document.querySelector('link[rel=icon]')?.setAttribute('href', count ? './icon-waiting.svg' : './icon.svg')
    }
    show(waiting)
    // A window that is signed out calls no more.
    return () => show('')
  }, [waiting])
  useNotifications(reviews, strings, words, onGo)
  useCommands({ reviews: () => onGo(REVIEWS), settings: () => onGo(settingsRoute()) })
  const isReviews = route.session === ''
  return (
    <div className="app-calls">
      <a
        className="app-side-link"
        href={urlOf(REVIEWS)}
        {...(isReviews ? { 'aria-current': 'page' as const } : {})}
        onClick={event => followHere(event, () => onGo(REVIEWS))}
      >
        <BellRing size={16} aria-hidden="true" /> <span>{words.reviews}</span>
        {waiting && (
          <span className="app-count" aria-hidden="true">
            {waiting}
          </span>
        )}
      </a>
      <span className="rs-sr" role="status">
        {waiting && words.waiting(waiting)}
      </span>
      <button
        type="button"
        className="rs-icon"
        aria-label={words.settings}
        title={words.settings}
        onClick={() => onGo(settingsRoute())}
      >
        <Settings size={18} aria-hidden="true" />
      </button>
    </div>
  )
}

/** Follows a link in this window, unless the person asks for another one. */
export function followHere(event: MouseEvent, go: () => void): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
  event.preventDefault()
  go()
}
