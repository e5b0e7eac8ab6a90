import { useEffect, useRef } from 'react'
import { localeOf } from 'runsheet/react'
import { isSoundOn, notifying } from './call-prefs.ts'
import type { CallStrings } from './english-small-parts.ts'
import { isInSight, useCaller, useInSight } from './one-window.ts'
import type { PageStrings } from './page-strings.ts'
import { REVIEWS, type Route } from './route.ts'
import { playCall } from './sound.ts'

const CALLED = 'runsheet.called'
/** Of how many of them it is remembered that the person was called. */
const MAX_CALLED = 1_000
/** More at once are one notification. */
const MAX_SINGLE = 3

/** Calls the person for each review and each call of a tool once: from one window, and unless they look at one. */
export function useNotifications(
  waiting: readonly Called[] | undefined,
  strings: PageStrings,
  words: CallStrings,
  onGo: (route: Route) => void,
): void {
  const isCaller = useCaller()
  useInSight()
  const shown = useRef(new Map<string, Notification>())
  useEffect(() => {
    if (!isCaller || !waiting) return
    closeDecided(shown.current, waiting)
    const called = new Set(JSON.parse(localStorage.getItem(CALLED) ?? '[]') as string[])
    const fresh = waiting.filter(({ id }) => !called.has(id))
    if (fresh.length === 0) return
    const all = [...called, ...fresh.map(({ id }) => id)]
    localStorage.setItem(CALLED, JSON.stringify(all.slice(-MAX_CALLED)))
    void isInSight().then(isLooking => {
      if (isLooking) return
      if (isSoundOn()) void playCall().catch(() => {})
      if (notifying() !== 'on') return
      for (const { id, route, ...text } of textsFor(fresh, words)) {
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
  }, [isCaller, waiting, strings, words, onGo])
}

interface Text {
  readonly title: string
  readonly body: string
}

/** What calls the person: a review, or a call of a tool. */
export interface Called extends Text {
  readonly id: string
  readonly isPlan: boolean
  readonly route: Route
}

function textsFor(fresh: readonly Called[], words: CallStrings): readonly Omit<Called, 'isPlan'>[] {
  if (fresh.length <= MAX_SINGLE) return fresh
  const { length } = fresh
  const title = fresh.every(({ isPlan }) => isPlan) ? words.plansWait(length) : words.decisions(`${length}`)
  return [{ id: '', route: REVIEWS, title, body: words.openAll }]
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
function closeDecided(shown: Map<string, Notification>, called: readonly Called[]): void {
  const waiting = new Set(called.map(({ id }) => id))
  for (const [id, notification] of shown) {
    if (id === '' ? called.length > 0 : waiting.has(id)) continue
    notification.close()
    shown.delete(id)
  }
}
