import { useEffect, useRef } from 'react'
import type { Client } from '../../../client/client.ts'
import { randomId } from '../../../client/random-id.ts'

interface Presence {
  readonly announce: () => void
  readonly leave: () => void
}

/** The reviews that this page has shown. They count as shown until the page unloads, whichever conversation is open. */
const presences = new Map<string, Presence>()

/**
 * Tells the server that this page shows a review, and when the page unloads. Each visit has its own id, because the
 * leave of the previous page and the arrival of this one may reach the server in any order.
 */
export function useReviewPresence(client: Client, reviewId: string | undefined, isLive: boolean): void {
  useEffect(() => {
    if (reviewId === undefined) return
    if (presences.size === 0) watchPage()
    if (!presences.has(reviewId)) presences.set(reviewId, presenceOf(client, reviewId))
    presences.get(reviewId)?.announce()
  }, [client, reviewId])
  // The announcement may have been lost while the connection was down.
  const wasLive = useRef(true)
  useEffect(() => {
    if (isLive && !wasLive.current) presences.get(reviewId ?? '')?.announce()
    wasLive.current = isLive
  }, [isLive, reviewId])
}

/** A decided review needs no leave message. */
export function endPresence(reviewId: string): void {
  presences.delete(reviewId)
}

function presenceOf(client: Client, reviewId: string): Presence {
  let visit = randomId()
  return {
    announce: () => void client.showPanel(reviewId, visit).catch(() => {}),
    leave: () => {
      void client.leavePanel(reviewId, visit).catch(() => {})
      visit = randomId()
    },
  }
}

function watchPage(): void {
  window.addEventListener('pagehide', leaveAll)
  window.addEventListener('pageshow', announceRestored)
}

function leaveAll(): void {
  for (const { leave } of presences.values()) leave()
}

/** A page restored from the back/forward cache still shows its reviews. */
function announceRestored({ persisted }: PageTransitionEvent): void {
  if (persisted) for (const { announce } of presences.values()) announce()
}
