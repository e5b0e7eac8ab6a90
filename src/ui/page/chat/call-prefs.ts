import { useEffect, useState } from 'react'
import { keep } from '../parts/keep.ts'

const NOTIFY = 'runsheet.notify'
const SOUND = 'runsheet.sound'

/** `ask`: the person has not decided yet. `unsupported`: no Notification API, or an insecure origin. */
export type Notifying = 'unsupported' | 'denied' | 'ask' | 'on' | 'off'

export function notifying(): Notifying {
  if (!('Notification' in window) || !isSecureContext) return 'unsupported'
  if (Notification.permission === 'denied') return 'denied'
  if (localStorage.getItem(NOTIFY) === 'off') return 'off'
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
      keep(NOTIFY, 'on')
    },
    turnOff: () => keep(NOTIFY, 'off'),
  }
}

export const isSoundOn = (): boolean => localStorage.getItem(SOUND) === 'on'

export const setSound = (isOn: boolean): void => keep(SOUND, isOn ? 'on' : 'off')
