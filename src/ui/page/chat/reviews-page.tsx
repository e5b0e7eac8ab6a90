import {
  Button,
  errorText,
  localeOf,
  usePendingReviews,
  type WaitingCall,
  type WaitingReview,
  type WaitingTask,
} from 'runsheet/react'
import { BellRing, Inbox } from 'lucide-react'
import { type ReactElement, useEffect, useState } from 'react'
import type { Client } from 'runsheet/client'
import { followHere } from './calls.tsx'
import { MenuButton } from '../controls.tsx'
import { chatRoute, go, openSettingsPage, showTitle, urlOf } from '../route.ts'
import { useClient } from '../auth.ts'
import { usePageStrings } from '../texts/strings.ts'
import { type LaterStrings, useLaterStrings } from '../texts/english-later.ts'

interface ReviewsPageProps {
  readonly waiting: string
  readonly onMenu: () => void
}

/** Lists tool calls first, because they block their turns, then disputes, then plans by deadline. */
export function ReviewsPage({ waiting, onMenu }: ReviewsPageProps): ReactElement {
  const client = useClient()
  const strings = usePageStrings()
  const words = useLaterStrings().calls
  const { reviews, approvals, disputes, hasMore, error } = usePendingReviews(client, {
    withOrigins: true,
    withApprovals: true,
  })
  const count = reviews && reviews.length + approvals.length + disputes.length
  const now = useTick(client)
  useEffect(() => showTitle(words.title), [words])
  return (
    <>
      <header className="app-head">
        <MenuButton waiting={waiting} onMenu={onMenu} />
      </header>
      <div id="message" className="app-waiting-page" role="region" aria-label={words.title} tabIndex={0}>
        <h1>{words.title}</h1>
        {error !== null && (
          <p className="app-alert" role="alert">
            {errorText(strings.panels, error)}
          </p>
        )}
        {!reviews && error === null && <p className="app-quiet app-loading">{strings.loading}</p>}
        {reviews && count !== 0 && (
          <ul className="app-waiting-list">
            {approvals.map(each => (
              <Call key={each.approval.approval_id} {...{ each, words, now }} />
            ))}
            {disputes.map(each => (
              <Disputed key={each.dispute.task_id} {...{ each, words, now }} />
            ))}
            {reviews.map(each => (
              <Waiting key={each.review.review_id} {...{ each, words, now }} />
            ))}
          </ul>
        )}
        {hasMore && <p className="app-quiet">{words.more}</p>}
        {count === 0 && (
          <section className="app-none">
            <Inbox size={36} strokeWidth={1.4} aria-hidden="true" />
            <h2>{words.none}</h2>
            <p>{words.noneHint}</p>
            <Button onClick={() => openSettingsPage('notifications')}>
              <BellRing size={16} aria-hidden="true" /> {words.setUpNotifications}
            </Button>
          </section>
        )}
      </div>
    </>
  )
}

interface RowProps<T> {
  readonly each: T
  readonly words: LaterStrings['calls']
  readonly now: number
}

function Call({ each, words, now }: RowProps<WaitingCall>): ReactElement {
  const strings = usePageStrings()
  const { approval, session } = each
  const { session_id, tool, server, server_tool, asked_at } = approval
  const route = chatRoute(session_id)
  return (
    <li>
      <a href={urlOf(route)} onClick={event => followHere(event, () => go(route))}>
        <strong dir="auto">{words.wantsTool(server_tool ?? tool, server)}</strong>
        <span className="app-waiting-steps" dir="auto">
          {session?.title ?? strings.untitled}
        </span>
        <span className="app-waiting-facts">
          <Since at={asked_at} {...{ words, now }} locale={localeOf(strings.panels)} />
        </span>
      </a>
    </li>
  )
}

function Disputed({ each, words, now }: RowProps<WaitingTask>): ReactElement {
  const strings = usePageStrings()
  const { dispute, session } = each
  const route = chatRoute(dispute.session_id)
  return (
    <li>
      <a href={urlOf(route)} onClick={event => followHere(event, () => go(route))}>
        <strong dir="auto">{words.disputes(dispute.title)}</strong>
        <span className="app-waiting-steps" dir="auto">
          {dispute.reason}
        </span>
        <span className="app-waiting-facts">
          <span dir="auto">{session?.title ?? strings.untitled}</span>
          <Since at={dispute.at} {...{ words, now }} locale={localeOf(strings.panels)} />
        </span>
      </a>
    </li>
  )
}

const STEPS_SHOWN = 2

function Waiting({ each, words, now }: RowProps<WaitingReview>): ReactElement {
  const strings = usePageStrings()
  const { review, session, origin } = each
  const { draft_tasks: steps, expires_at } = review
  const route = chatRoute(review.session_id)
  const locale = localeOf(strings.panels)
  const agent = origin?.client ?? (origin?.model === undefined ? undefined : words.byModel(origin.model))
  const left = expires_at === null ? undefined : Math.max(0, Date.parse(expires_at) - now)
  const title = session?.title ?? strings.untitled
  // An untitled conversation takes the title of its first step.
  const told = steps.map(step => step.title).filter((step, index) => index > 0 || step !== title)
  return (
    <li>
      <a href={urlOf(route)} onClick={event => followHere(event, () => go(route))}>
        <strong dir="auto">{title}</strong>
        {told.length > 0 && (
          <span className="app-waiting-steps" dir="auto">
            {told.slice(0, STEPS_SHOWN).join(' · ')}
            {told.length > STEPS_SHOWN && ` · ${words.moreSteps(told.length - STEPS_SHOWN)}`}
          </span>
        )}
        <span className="app-waiting-facts">
          <span>{words.steps(steps.length)}</span>
          {agent !== undefined && <span dir="auto">{agent}</span>}
          {origin && <Since at={origin.asked_at} {...{ words, now, locale }} />}
          {left !== undefined && (
            <span className={left < SOON_MS ? 'app-waiting-soon' : ''}>{words.deadline(leftText(left, locale))}</span>
          )}
        </span>
      </a>
    </li>
  )
}

interface SinceProps {
  readonly at: string
  readonly words: LaterStrings['calls']
  readonly now: number
  readonly locale: string
}

function Since({ at, words, now, locale }: SinceProps): ReactElement {
  return (
    <time dateTime={at} title={new Date(at).toLocaleString(locale)}>
      {sinceText(now - Date.parse(at), words, locale)}
    </time>
  )
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const SOON_MS = 5 * MINUTE

function sinceText(ms: number, words: LaterStrings['calls'], locale: string): string {
  const ago = (size: number, unit: Intl.RelativeTimeFormatUnit): string =>
    words.since(new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(-Math.floor(ms / size), unit))
  if (ms < MINUTE) return words.sinceNow
  if (ms < HOUR) return ago(MINUTE, 'minute')
  return ms < DAY ? ago(HOUR, 'hour') : ago(DAY, 'day')
}

function leftText(ms: number, locale: string): string {
  const text = (value: number, unit: string): string =>
    new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(value)
  if (ms < MINUTE) return text(Math.ceil(ms / 1_000), 'second')
  if (ms < HOUR) return text(Math.floor(ms / MINUTE), 'minute')
  if (ms < 2 * DAY) return text(Math.floor(ms / HOUR), 'hour')
  return text(Math.floor(ms / DAY), 'day')
}

function useTick(client: Client): number {
  const [now, setNow] = useState(() => client.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(client.now()), 1_000)
    return () => clearInterval(timer)
  }, [client])
  return now
}
