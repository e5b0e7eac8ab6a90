import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import type { Client } from '../../../client/client.ts'
import type { LiveConversation } from '../../../client/live.ts'
import { initialState, type LiveState } from '../../../client/live-state.ts'
import type { StoredEvent } from '../../../core/model/event.ts'
import { type LiveSessions, liveSessions, type SessionsState } from '../../../client/live-sessions.ts'
import type { Turn } from '../../../core/model/turn.ts'
import type { Review } from '../../../core/model/review.ts'
import type { ConversationSnapshot } from '../../../core/model/snapshot.ts'

/** The result of `useConversation`. */
export interface ConversationView {
  readonly state: LiveState
  /** Calls back for each stored event, in order; returns a function that unsubscribes. */
  readonly onEvent: (listener: (event: StoredEvent) => void) => () => void
  /** Reconnects immediately instead of after the backoff. */
  readonly retry: () => void
}

/**
 * Follows a conversation while the component is mounted; reconnects automatically. With `isNew`, the conversation does
 * not exist yet and no request is sent before `retry` is called.
 */
export function useConversation(client: Client, sessionId: string, isNew = false): ConversationView {
  const [live, setLive] = useState<LiveConversation>(IDLE)
  useEffect(() => {
    const opened = client.live(sessionId, isNew ? { isNew } : {})
    setLive(opened)
    return opened.close
    // `isNew` matters only at the start: it changes with the first message.
  }, [client, sessionId])
  const state = useSyncExternalStore(live.subscribe, live.snapshot, IDLE.snapshot)
  return { state, onEvent: live.onEvent, retry: live.retry }
}

const IDLE_STATE = /* @__PURE__ */ initialState('')

const noop = (): void => {}

/** Used before the first effect and on a server. */
const IDLE: LiveConversation = {
  snapshot: () => IDLE_STATE,
  subscribe: () => noop,
  onEvent: () => noop,
  retry: noop,
  close: noop,
}

/** A conversation's turns, oldest first. The `turns` record itself is unordered. */
export const turnsInOrder = ({ turns }: ConversationSnapshot): readonly Turn[] =>
  Object.values(turns).sort((a, b) => (a.started_at < b.started_at ? -1 : 1))

export const reviewsInOrder = ({ reviews }: ConversationSnapshot): readonly Review[] =>
  Object.values(reviews).sort((a, b) => (a.asked_at < b.asked_at ? -1 : 1))

/** The result of `useSessions`. */
export type SessionsHandle = SessionsState & Omit<LiveSessions, 'snapshot' | 'subscribe'>

/** Follows the list of active or archived conversations while the component is mounted. */
export function useSessions(client: Client, list: 'active' | 'archived' = 'active'): SessionsHandle {
  const live = useMemo(() => liveSessions(client, { list }), [client, list])
  const state = useSyncExternalStore(live.subscribe, live.snapshot, live.snapshot)
  const { reload, more, file, unarchive, forget } = live
  return { ...state, reload, more, file, unarchive, forget }
}
