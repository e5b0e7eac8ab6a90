import { BellRing, Inbox, Menu } from 'lucide-react'
import { type ReactElement, useEffect, useState } from 'react'
import type { Client } from 'runsheet/client'
import { errorText, localeOf, usePendingReviews, type WaitingReview } from 'runsheet/react'
import type { CallStrings } from './call-strings.ts'
import { followHere } from './calls.tsx'
import { englishCalls } from './english-calls.ts'
import { showTitle } from './page-title.ts'
import type { PageStrings } from './page-strings.ts'
import { chatRoute, type Route, settingsRoute, urlOf } from './route.ts'

interface ReviewsPageProps {
  readonly client: Client
  readonly strings: PageStrings
  readonly onGo: (route: Route) => void
  readonly onMenu: () => void
}

/** Everything that waits for a decision, over all conversations; the one that ends first is first. */
export function ReviewsPage({ client, strings, onGo, onMenu }: ReviewsPageProps): ReactElement {
  const words = strings.calls ?? englishCalls
  const { reviews, hasMore, error } = usePendingReviews(client, { withOrigins: true })
  const now = useTick(client)
  useEffect(() => showTitle(words.title), [words])
  return (
    <>
      <header className="app-head">
        <button
          type="button"
          className="rs-icon app-menu"
          aria-label={strings.menu}
          title={strings.menu}
          onClick={onMenu}
        >
          <Menu size={18} aria-hidden="true" />
        </button>
      </header>
      <div className="app-waiting-page" role="region" aria-label={words.title} tabIndex={0}>
        <h1>{words.title}</h1>
        {error !== null && (
          <p className="app-alert" role="alert">
            {errorText(strings.panels, error)}
          </p>
        )}
        {!reviews && error === null && <p className="app-quiet app-loading">{strings.loading}</p>}
        {reviews && reviews.length > 0 && (
          <ul className="app-waiting-list">
            {reviews.map(each => (
              <Waiting key={each.review.review_id} {...{ each, strings, words, now, onGo }} />
            ))}
          </ul>
        )}
        {hasMore && <p className="app-quiet">{words.more}</p>}
        {reviews?.length === 0 && (
          <section className="app-none">
            <Inbox size={36} strokeWidth={1.4} aria-hidden="true" />
            <h2>{words.none}</h2>
            <p>{words.noneHint}</p>
            <button type="button" className="rs-button" onClick={() => onGo(settingsRoute('notifications'))}>
              <BellRing size={16} aria-hidden="true" /> {words.setUpNotifications}
            </button>
          </section>
        )}
      </div>
    </>
  )
}

interface WaitingProps {
  readonly each: WaitingReview
  readonly strings: PageStrings
  readonly words: CallStrings
  readonly now: number
  readonly onGo: (route: Route) => void
}

const STEPS_SHOWN = 2

function Waiting({ each, strings, words, now, onGo }: WaitingProps): ReactElement {
  const { review, session, origin } = each
  const { draft_tasks: steps, expires_at } = review
  const route = chatRoute(review.session_id)
  const locale = localeOf(strings.panels)
  const agent = origin?.client ?? (origin?.model === undefined ? undefined : words.byModel(origin.model))
  const left = expires_at === null ? undefined : Math.max(0, Date.parse(expires_at) - now)
  const rest = steps.length - STEPS_SHOWN
  return (
    <li>
      <a href={urlOf(route)} onClick={event => followHere(event, () => onGo(route))}>
        <strong dir="auto">{session?.title ?? strings.untitled}</strong>
        <span className="app-waiting-steps" dir="auto">
          {steps
            .slice(0, STEPS_SHOWN)
            .map(({ title }) => title)
            .join(' · ')}
          {rest > 0 && ` · ${words.moreSteps(rest)}`}
        </span>
        <span className="app-waiting-facts">
          <span>{words.steps(steps.length)}</span>
          {agent !== undefined && <span dir="auto">{agent}</span>}
          {origin && (
            <time dateTime={origin.asked_at} title={new Date(origin.asked_at).toLocaleString(locale)}>
              {words.since(agoText(now - Date.parse(origin.asked_at), locale))}
            </time>
          )}
          {left !== undefined && (
            <span className={left < SOON_MS ? 'app-waiting-soon' : ''}>{words.deadline(leftText(left, locale))}</span>
          )}
        </span>
      </a>
    </li>
  )
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const SOON_MS = 5 * MINUTE

/** “now”, “12 minutes ago”, “yesterday”. */
function agoText(ms: number, locale: string): string {
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  if (ms < MINUTE) return format.format(0, 'second')
  if (ms < HOUR) return format.format(-Math.floor(ms / MINUTE), 'minute')
  if (ms < DAY) return format.format(-Math.floor(ms / HOUR), 'hour')
  return format.format(-Math.floor(ms / DAY), 'day')
}

function leftText(ms: number, locale: string): string {
  const text = (value: number, unit: string): string =>
    new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(value)
  if (ms < MINUTE) return text(Math.ceil(ms / 1_000), 'second')
  if (ms < HOUR) return text(Math.floor(ms / MINUTE), 'minute')
  if (ms < 2 * DAY) return text(Math.floor(ms / HOUR), 'hour')
  return text(Math.floor(ms / DAY), 'day')
}

/** The server's time, every second. */
function useTick(client: Client): number {
  const [now, setNow] = useState(() => client.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(client.now()), 1_000)
    return () => clearInterval(timer)
  }, [client])
  return now
}
