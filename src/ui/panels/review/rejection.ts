import { useEffect, useRef, useState } from 'react'
import type { Client } from '../../../client/client.ts'
import type { ConversationSnapshot } from '../../../core/model/snapshot.ts'
import type { Decision } from './decision.ts'
import { useNow } from '../parts/hooks.ts'

/** How long a rejection can be undone. */
const UNDO_MS = 10_000
/** The server's maximum for `held_ms`; a reload can prolong the hold beyond `UNDO_MS`. */
const MAX_HELD_MS = 60_000
/** Sends a held rejection this long before the review's deadline, so that it arrives in time. */
const BEFORE_DEADLINE_MS = 2_000

/** A rejection that is not sent yet. */
export interface Rejection {
  /** Milliseconds until it is sent, updated every second. */
  readonly remainingMs: number
  /** Undoes the rejection; the review stays as it was. */
  readonly undo: () => void
  /** Sends it now with the current comment; resolves to false if that failed. */
  readonly send: () => Promise<boolean>
}

interface RejectionOptions {
  readonly client: Client
  readonly reviewId: string | undefined
  readonly expiresAt: string | null | undefined
  readonly reviews: ConversationSnapshot['reviews']
  readonly decision: Decision
}

interface Waiting {
  readonly id: string
  /** When the person rejected it, by the server's clock. */
  readonly clickedAt: number
  /** By the server's clock. */
  readonly dueAt: number
}

/** Rejects a plan after ten seconds, or as soon as the page or conversation is left, unless it is undone. */
export function useRejection(options: RejectionOptions): {
  readonly reject: () => void
  readonly rejection: Rejection | undefined
} {
  const { client, reviewId, expiresAt, reviews, decision } = options
  const [started, setStarted] = useState<Waiting>()
  const waiting = started?.id === reviewId ? started : undefined
  const now = useNow(client, waiting !== undefined)
  /** The rejection that is neither sent nor undone. */
  const open = useRef<Waiting>(undefined)
  // The draft and the comment at the time of sending.
  const latest = useRef(decision)
  if (waiting) latest.current = decision
  const status = useRef<string>(undefined)
  status.current = reviews[started?.id ?? '']?.status
  const sending = useRef<Promise<boolean>>(undefined)
  const begin = (clickedAt: number, dueAt: number): void => {
    if (reviewId === undefined || waiting) return
    sending.current = undefined
    open.current = { id: reviewId, clickedAt, dueAt }
    setStarted(open.current)
  }
  const stop = (): void => {
    open.current = undefined
    forgetRejection()
    setStarted(undefined)
  }
  const heldMs = ({ clickedAt }: Waiting): number =>
    Math.round(Math.min(MAX_HELD_MS, Math.max(0, client.now() - clickedAt)))
  /** Timer, leaving and the button may all call this; only the first one sends. */
  const send = (): Promise<boolean> => {
    open.current = undefined
    sending.current ??= latest.current.send('cancel', undefined, waiting && heldMs(waiting)).then(isSent => {
      if (!isSent) stop()
      return isSent
    })
    return sending.current
  }
  useEffect(() => {
    // A reload interrupted the rejection, and its request may be lost.
    if (reviewId !== undefined && isRejectedHere(reviewId)) begin(rejectedAt() ?? client.now(), client.now())
  }, [client, reviewId])
  useEffect(() => {
    if (!waiting) return
    const leave = (): void => {
      if (open.current !== waiting) return
      open.current = undefined
      latest.current.rejectOnLeave(heldMs(waiting))
    }
    const timer = setTimeout(() => void send(), waiting.dueAt - client.now())
    window.addEventListener('pagehide', leave)
    return () => {
      clearTimeout(timer)
      window.removeEventListener('pagehide', leave)
      // Another conversation was opened, unless the review was decided elsewhere.
      if ((status.current ?? 'pending') === 'pending') leave()
    }
    // Starts once per rejection.
  }, [waiting])
  return {
    reject: () => {
      const left = expiresAt == null ? UNDO_MS : Date.parse(expiresAt) - client.now() - BEFORE_DEADLINE_MS
      const now = client.now()
      if (reviewId !== undefined) rememberRejection(reviewId, now)
      begin(now, now + Math.max(0, Math.min(UNDO_MS, left)))
    },
    rejection: waiting && {
      remainingMs: Math.max(0, waiting.dueAt - (now ?? waiting.dueAt)),
      undo: () => {
        if (!decision.isBusy) stop()
      },
      send,
    },
  }
}

const KEY = 'runsheet.rejected'
const listeners = new Set<() => void>()

/** Kept in sessionStorage, so that a rejection survives a reload until it is sent or undone. */
export function rejectedHere(): string | undefined {
  try {
    return sessionStorage.getItem(KEY)?.split(' ')[0]
  } catch {
    return undefined
  }
}

export const isRejectedHere = (reviewId: string): boolean => rejectedHere() === reviewId

function rejectedAt(): number | undefined {
  const at = Number(sessionStorage.getItem(KEY)?.split(' ')[1])
  return at > 0 ? at : undefined
}

function rememberRejection(reviewId: string, at: number): void {
  try {
    sessionStorage.setItem(KEY, `${reviewId} ${at}`)
  } catch {
    // Storage is blocked: the rejection is sent when the page is left.
  }
  for (const changed of listeners) changed()
}

function forgetRejection(): void {
  try {
    sessionStorage.removeItem(KEY)
  } catch {
    // Storage is blocked: nothing was saved.
  }
  for (const changed of listeners) changed()
}

export function onRejectedHere(changed: () => void): () => void {
  listeners.add(changed)
  return () => void listeners.delete(changed)
}
