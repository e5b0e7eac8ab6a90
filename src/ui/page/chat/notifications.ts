import { useEffect, useRef, useState } from 'react'
import { localeOf } from 'runsheet/react'
import { go, REVIEWS, type Route } from '../route.ts'
import { keep } from '../storage.ts'
import type { PageStrings } from '../texts/strings.ts'
import type { LaterStrings } from '../texts/english-later.ts'

const CALLED = 'runsheet.called'
/** How many notified ids are remembered. */
const MAX_CALLED = 1_000
/** More than this are combined into one notification. */
const MAX_SINGLE = 3

/** Notifies once per review and tool call, from one window, and only if no window has the person's attention. */
export function useNotifications(
  waiting: readonly Called[] | undefined,
  strings: PageStrings,
  words: LaterStrings['calls'],
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
          go(route)
        })
        shown.current.set(id, notification)
      }
    })
  }, [isCaller, waiting, strings, words])
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

function textsFor(fresh: readonly Called[], words: LaterStrings['calls']): readonly Omit<Called, 'isPlan'>[] {
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

let context: AudioContext | undefined

/** Frequency in Hz and start in seconds of each note. */
const NOTES = [
  [659.3, 0],
  [880, 0.13],
] as const
const LENGTH_S = 0.45
const VOLUME = 0.12

/** Plays two soft notes. Browsers stay silent until the person has used the page. */
export async function playCall(): Promise<void> {
  context ??= new AudioContext()
  if (context.state !== 'running') await context.resume()
  const now = context.currentTime
  for (const [frequency, start] of NOTES) {
    const note = new OscillatorNode(context, { frequency })
    const volume = new GainNode(context, { gain: 0 })
    volume.gain.setValueAtTime(0, now + start)
    volume.gain.linearRampToValueAtTime(VOLUME, now + start + 0.02)
    volume.gain.exponentialRampToValueAtTime(0.001, now + start + LENGTH_S)
    note.connect(volume).connect(context.destination)
    note.start(now + start)
    note.stop(now + start + LENGTH_S)
  }
}

const CALLER = 'runsheet-caller'
const IN_SIGHT = 'runsheet-in-sight'

/** Elects one window of this browser to notify the person; another takes over when it closes. */
function useCaller(): boolean {
  // Insecure origins have neither locks nor notifications.
  const [isCaller, setCaller] = useState(!('locks' in navigator))
  useEffect(() => {
    if (!('locks' in navigator)) return
    return held(CALLER, 'exclusive', () => setCaller(true))
  }, [])
  return isCaller
}

function useInSight(): void {
  useEffect(() => {
    if (!('locks' in navigator)) return
    let release: (() => void) | undefined
    const update = (): void => {
      const isInSight = document.visibilityState === 'visible' && document.hasFocus()
      if (isInSight) release ??= held(IN_SIGHT, 'shared')
      else {
        release?.()
        release = undefined
      }
    }
    update()
    const leave = new AbortController()
    const { signal } = leave
    document.addEventListener('visibilitychange', update, { signal })
    window.addEventListener('focus', update, { signal })
    window.addEventListener('blur', update, { signal })
    return () => {
      leave.abort()
      release?.()
    }
  }, [])
}

async function isInSight(): Promise<boolean> {
  if (!('locks' in navigator)) return document.visibilityState === 'visible' && document.hasFocus()
  const { held: locks = [] } = await navigator.locks.query()
  return locks.some(({ name }) => name === IN_SIGHT)
}

/** Takes a lock when it is free, and holds it until the returned function is called. */
function held(name: string, mode: LockMode, onTaken = (): void => {}): () => void {
  const leave = new AbortController()
  const { promise, resolve } = Promise.withResolvers<void>()
  navigator.locks
    .request(name, { mode, signal: leave.signal }, () => {
      onTaken()
      return promise
    })
    // Aborted before the lock was free.
    .catch(() => {})
  return () => {
    leave.abort()
    resolve()
  }
}

const NOTIFY_KEY = 'runsheet.notify'
const SOUND_KEY = 'runsheet.sound'

/** `ask`: the person has not decided yet. `unsupported`: no Notification API, or an insecure origin. */
type Notifying = 'unsupported' | 'denied' | 'ask' | 'on' | 'off'

function notifying(): Notifying {
  if (!('Notification' in window) || !isSecureContext) return 'unsupported'
  if (Notification.permission === 'denied') return 'denied'
  if (localStorage.getItem(NOTIFY_KEY) === 'off') return 'off'
  return Notification.permission === 'granted' ? 'on' : 'ask'
}

interface NotifyingHandle {
  readonly state: Notifying
  readonly turnOn: () => Promise<void>
  readonly turnOff: () => void
}

/** Follows changes made here, in another window or in the browser. */
export function useNotifying(): NotifyingHandle {
  const [state, setState] = useState(notifying)
  useEffect(() => {
    const leave = new AbortController()
    const update = (): void => setState(notifying())
    window.addEventListener('storage', update, { signal: leave.signal })
    window.addEventListener('focus', update, { signal: leave.signal })
    return () => leave.abort()
  }, [])
  return {
    state,
    turnOn: async () => {
      await Notification.requestPermission()
      keep(NOTIFY_KEY, 'on')
    },
    turnOff: () => keep(NOTIFY_KEY, 'off'),
  }
}

export const isSoundOn = (): boolean => localStorage.getItem(SOUND_KEY) === 'on'

export const setSound = (isOn: boolean): void => keep(SOUND_KEY, isOn ? 'on' : 'off')
