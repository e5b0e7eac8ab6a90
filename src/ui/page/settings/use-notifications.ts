import { useEffect, useRef } from 'react'
import { localeOf } from 'runsheet/react'
import { isSoundOn, notifying } from '../chat/call-prefs.ts'
import type { CallStrings } from '../texts/english-small-parts.ts'
import { isInSight, useCaller, useInSight } from '../parts/one-window.ts'
import type { PageStrings } from '../texts/page-strings.ts'
import { REVIEWS, type Route } from '../parts/route.ts'
import { playCall } from './sound.ts'

const CALLED = 'runsheet.called'
/** How many notified ids are remembered. */
const MAX_CALLED = 1_000
/** More than this are combined into one notification. */
const MAX_SINGLE = 3

/** Notifies once per review and tool call, from one window, and only if no window has the person's attention. */
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
    // Mobile browsers allow notifications only for installed apps.
    return undefined
  }
}

function closeDecided(shown: Map<string, Notification>, called: readonly Called[]): void {
  const waiting = new Set(called.map(({ id }) => id))
  for (const [id, notification] of shown) {
    if (id === '' ? called.length > 0 : waiting.has(id)) continue
    notification.close()
    shown.delete(id)
  }
}
