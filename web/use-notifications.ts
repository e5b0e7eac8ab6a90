import { useEffect, useRef } from 'react'
import { localeOf, type WaitingReview } from 'runsheet/react'
import { isSoundOn, notifying } from './call-prefs.ts'
import type { CallStrings } from './call-strings.ts'
import { isInSight, useCaller, useInSight } from './one-window.ts'
import type { PageStrings } from './page-strings.ts'
import { chatRoute, REVIEWS, type Route } from './route.ts'
import { playCall } from './sound.ts'

const CALLED = 'runsheet.called'
/** Of how many reviews it is remembered that the person was called. */
const MAX_CALLED = 1_000
/** More at once are one notification. */
const MAX_SINGLE = 3

/** Calls the person for each review once: from one window, and unless they look at one. */
export function useNotifications(
  reviews: readonly WaitingReview[] | undefined,
  strings: PageStrings,
  words: CallStrings,
  onGo: (route: Route) => void,
): void {
  const isCaller = useCaller()
  useInSight()
  const shown = useRef(new Map<string, Notification>())
  useEffect(() => {
    if (!isCaller || !reviews) return
    closeDecided(shown.current, reviews)
    const called = new Set(JSON.parse(localStorage.getItem(CALLED) ?? '[]') as string[])
    const fresh = reviews.filter(({ review }) => !called.has(review.review_id))
    if (fresh.length === 0) return
    const all = [...called, ...fresh.map(({ review }) => review.review_id)]
    localStorage.setItem(CALLED, JSON.stringify(all.slice(-MAX_CALLED)))
    void isInSight().then(isLooking => {
      if (isLooking) return
      if (isSoundOn()) void playCall().catch(() => {})
      if (notifying() !== 'on') return
      for (const { id, route, ...text } of textsFor(fresh, strings, words)) {
        const notification = notificationOf(text, localeOf(strings.panels))
        if (!notification) return
        notification.addEventListener('click', () => {
          window.focus()
          notification.close()
          onGo(route)
        })
        shown.current.set(id, notification)
      }
    })
  }, [isCaller, reviews, strings, words, onGo])
}

interface Text {
  readonly title: string
  readonly body: string
}

function textsFor(
  fresh: readonly WaitingReview[],
  strings: PageStrings,
  words: CallStrings,
): readonly (Text & { readonly id: string; readonly route: Route })[] {
  if (fresh.length > MAX_SINGLE) {
    return [{ id: '', route: REVIEWS, title: words.plansWait(fresh.length), body: words.openAll }]
  }
  return fresh.map(({ review, session }) => ({
    id: review.review_id,
    route: chatRoute(review.session_id),
    title: words.planWaits,
    body: words.planFrom(session?.title ?? strings.untitled, review.draft_tasks.length),
  }))
}

function notificationOf({ title, body }: Text, lang: string): Notification | undefined {
  try {
    return new Notification(title, { body, lang, icon: new URL('./icon-180.png', location.href).href })
  } catch {
    // Browsers on phones show them only for installed apps.
    return undefined
  }
}

/** A notification for what was decided meanwhile is in the way. */
function closeDecided(shown: Map<string, Notification>, reviews: readonly WaitingReview[]): void {
  const waiting = new Set(reviews.map(({ review }) => review.review_id))
  for (const [id, notification] of shown) {
    if (id === '' ? reviews.length > 0 : waiting.has(id)) continue
    notification.close()
    shown.delete(id)
  }
}
