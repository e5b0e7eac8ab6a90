import {
  Button,
  IconButton,
  usePendingReviews,
  type WaitingCall,
  type WaitingReview,
  type WaitingTask,
} from 'runsheet/react'
import { Bell, BellRing, Settings } from 'lucide-react'
import { type MouseEvent, type ReactElement, useEffect, useMemo, useState } from 'react'
import { useCommands } from '../commands.ts'
import { chatRoute, go, openSettings, REVIEWS, showWaiting, urlOf, useRoute } from '../route.ts'
import { type Called, useNotifications, useNotifying } from './notifications.ts'
import { useClient } from '../auth.ts'
import { type PageStrings, usePageStrings } from '../texts/strings.ts'
import { type LaterStrings, useLaterStrings } from '../texts/english-later.ts'
import './chat.css'

interface CallsProps {
  /** Changes when a visible conversation has changed. */
  readonly version: number
  readonly onWaiting: (words: string) => void
}

export function Calls({ version, onWaiting }: CallsProps): ReactElement {
  const client = useClient()
  const strings = usePageStrings()
  const words = useLaterStrings().calls
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
  useNotifications(called, strings, words)
  useCommands({ reviews: () => go(REVIEWS), settings: openSettings })
  const isReviews = useRoute().session === ''
  return (
    <div className="app-calls">
      <a
        className="app-side-link"
        href={urlOf(REVIEWS)}
        {...(isReviews ? { 'aria-current': 'page' as const } : {})}
        onClick={event => followHere(event, () => go(REVIEWS))}
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
      <IconButton label={words.settings} icon={Settings} size={18} onAct={openSettings} />
    </div>
  )
}

function callsFor(
  reviews: readonly WaitingReview[],
  approvals: readonly WaitingCall[],
  disputes: readonly WaitingTask[],
  strings: PageStrings,
  words: LaterStrings['calls'],
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

/** The browser's own prompt appears only after the person accepts. */
export function CallOffer(): ReactElement | null {
  const words = useLaterStrings().calls
  const { state, turnOn, turnOff } = useNotifying()
  const [wasAsked, setAsked] = useState(false)
  if (state === 'ask') {
    const ask = (): void => {
      setAsked(true)
      void turnOn()
    }
    return (
      <div className="app-offer" role="group" aria-label={words.offer}>
        <Bell size={16} aria-hidden="true" />
        <span>{words.offer}</span>
        <Button onClick={ask}>{words.notifyMe}</Button>
        <Button className="app-offer-no" onClick={turnOff}>
          {words.notNow}
        </Button>
      </div>
    )
  }
  return wasAsked && state === 'denied' ? (
    <p className="app-offer" role="status">
      <Bell size={16} aria-hidden="true" />
      <span>{words.denied}</span>
    </p>
  ) : null
}
