import { useEffect, useRef } from 'react'
import type { Client } from '../client/client.ts'
import { newName } from './new-name.ts'

/**
 * Tells the server that this window shows a review, and when it is left. Each showing has a name of its own: that the
 * page before was left, and that this one came, may arrive in either order.
 */
export function usePanel(client: Client, reviewId: string, isLive: boolean): void {
  const showing = useRef<() => void>(() => {})
  useEffect(() => {
    let name = newName()
    const show = (): void => void client.showPanel(reviewId, name).catch(() => {})
    const leave = (): void => void client.leavePanel(reviewId, name).catch(() => {})
    const comeBack = (event: PageTransitionEvent): void => {
      if (!event.persisted) return
      name = newName()
      show()
    }
    show()
    showing.current = show
    window.addEventListener('pagehide', leave)
    window.addEventListener('pageshow', comeBack)
    return () => {
      window.removeEventListener('pagehide', leave)
      window.removeEventListener('pageshow', comeBack)
      leave()
    }
  }, [client, reviewId])
  // It may not have got through while the line was cut.
  const wasCut = useRef(false)
  useEffect(() => {
    if (isLive && wasCut.current) showing.current()
    wasCut.current = !isLive
  }, [isLive])
}
