import { useEffect, useRef } from 'react'
import type { Client } from '../client/client.ts'
import { newName } from './new-name.ts'

interface Showing {
  readonly show: () => void
  readonly leave: () => void
}

/** What this page has come to show, by review. It counts until the page is left, also while another conversation is open. */
const shown = new Map<string, Showing>()

/**
 * Tells the server that this window shows a review, and when its page is left. Each showing has a name of its own: that
 * the page before was left, and that this one came, may arrive in either order.
 */
export function usePanel(client: Client, reviewId: string, isLive: boolean): void {
  useEffect(() => {
    if (shown.size === 0) follow()
    if (!shown.has(reviewId)) shown.set(reviewId, showingOf(client, reviewId))
    shown.get(reviewId)?.show()
  }, [client, reviewId])
  // It may not have got through while the line was cut.
  const wasCut = useRef(false)
  useEffect(() => {
    if (isLive && wasCut.current) shown.get(reviewId)?.show()
    wasCut.current = !isLive
  }, [isLive, reviewId])
}

/** It is over: there is nothing to leave. */
export function noLongerShown(reviewId: string): void {
  shown.delete(reviewId)
}

function showingOf(client: Client, reviewId: string): Showing {
  let name = newName()
  return {
    show: () => void client.showPanel(reviewId, name).catch(() => {}),
    leave: () => {
      void client.leavePanel(reviewId, name).catch(() => {})
      name = newName()
    },
  }
}

/** A page that comes back as it was shows it all again. */
function follow(): void {
  window.addEventListener('pagehide', leaveAll)
  window.addEventListener('pageshow', comeBack)
}

function leaveAll(): void {
  for (const { leave } of shown.values()) leave()
}

function comeBack({ persisted }: PageTransitionEvent): void {
  if (persisted) for (const { show } of shown.values()) show()
}
