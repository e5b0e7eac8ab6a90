import { BellRing, Settings } from 'lucide-react'
import { type MouseEvent, type ReactElement, useEffect, useMemo } from 'react'
import type { Client } from 'runsheet/client'
import { usePendingReviews, type WaitingCall, type WaitingReview, type WaitingTask } from 'runsheet/react'
import { useCommands } from './commands.ts'
import { type CallStrings, englishCalls } from '../texts/english-small-parts.ts'
import { showWaiting } from '../parts/page-title.ts'
import type { PageStrings } from '../texts/page-strings.ts'
import { chatRoute, REVIEWS, type Route, settingsRoute, urlOf } from '../parts/route.ts'
import { type Called, useNotifications } from '../settings/use-notifications.ts'
import './calls.css'

interface CallsProps {
  readonly client: Client
  readonly strings: PageStrings
  readonly route: Route
  /** Changes when a visible conversation has changed. */
  readonly version: number
  readonly onGo: (route: Route) => void
  readonly onWaiting: (words: string) => void
}

export function Calls({ client, strings, route, version, onGo, onWaiting }: CallsProps): ReactElement {
  const words = strings.calls ?? englishCalls
  const { reviews, approvals, disputes, hasMore, reload } = usePendingReviews(client, { withApprovals: true })
  const count = (reviews?.length ?? 0) + approvals.length + disputes.length
  const waiting = count > 0 ? `${count}${hasMore ? '+' : ''}` : ''
  const told = waiting && (approvals.length + disputes.length > 0 ? words.decisions : words.waiting)(waiting)
  useEffect(() => onWaiting(told), [onWaiting, told])
  useEffect(() => void reload(), [reload, version])
  useEffect(() => {
    const show = (count: string): void => {
      showWaiting(count)
      document.querySelector('link[rel=icon]')?.setAttribute('href', count ? './icon-waiting.svg' : './icon.svg')
    }
    show(waiting)
    // A signed-out window must not show a count.
    return () => show('')
  }, [waiting])
  const called = useMemo(
    () => reviews && callsFor(reviews, approvals, disputes, strings, words),
    [reviews, approvals, disputes, strings, words],
  )
  useNotifications(called, strings, words, onGo)
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
        {told}
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

function callsFor(
  reviews: readonly WaitingReview[],
  approvals: readonly WaitingCall[],
  disputes: readonly WaitingTask[],
  strings: PageStrings,
  words: CallStrings,
): readonly Called[] {
  const plans = reviews.map(({ review, session }) => ({
    id: review.review_id,
    isPlan: true,
    route: chatRoute(review.session_id),
    title: words.planWaits,
    body: words.planFrom(session?.title ?? strings.untitled, review.draft_tasks.length),
  }))
  const calls = approvals.map(({ approval, session }) => ({
    id: approval.approval_id,
    isPlan: false,
    route: chatRoute(approval.session_id),
    title: words.wantsTool(approval.server_tool ?? approval.tool, approval.server),
    body: session?.title ?? strings.untitled,
  }))
  const disputed = disputes.map(({ dispute, session }) => ({
    id: `${dispute.task_id}:${dispute.count}`,
    isPlan: false,
    route: chatRoute(dispute.session_id),
    title: words.disputes(dispute.title),
    body: session?.title ?? strings.untitled,
  }))
  return [...plans, ...calls, ...disputed]
}

/** Lets the browser handle clicks that open another window. */
export function followHere(event: MouseEvent, go: () => void): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
  event.preventDefault()
  go()
}
