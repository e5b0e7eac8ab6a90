import { useEffect, useState } from 'react'
import type { Client } from '../client/client.ts'

/** Tells the server that this window shows a review, and when it is left. A reload comes back with the same name. */
export function usePanel(client: Client, reviewId: string, isPending: boolean): void {
  const [panel] = useState(windowName)
  useEffect(() => {
    if (!isPending) return
    const show = (): void => void client.showPanel(reviewId, panel).catch(() => {})
    const leave = (): void => void client.leavePanel(reviewId, panel).catch(() => {})
    show()
    window.addEventListener('pagehide', leave)
    window.addEventListener('pageshow', show)
    return () => {
      window.removeEventListener('pagehide', leave)
      window.removeEventListener('pageshow', show)
      leave()
    }
  }, [client, reviewId, panel, isPending])
}

/** One name for each window, for as long as it lives. */
function windowName(): string {
  const key = 'runsheet.window'
  try {
    const known = sessionStorage.getItem(key) ?? crypto.randomUUID()
    sessionStorage.setItem(key, known)
    return known
  } catch {
    return crypto.randomUUID()
  }
}
