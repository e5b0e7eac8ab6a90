import { useMemo, useSyncExternalStore } from 'react'
import type { Client } from '../../../client/client.ts'
import { type LiveSessions, liveSessions, type SessionsState } from '../../../client/live-sessions.ts'

/** The result of `useSessions`. */
export type SessionsHandle = SessionsState & Omit<LiveSessions, 'snapshot' | 'subscribe'>

/** Follows the list of active or archived conversations while the component is mounted. */
export function useSessions(client: Client, list: 'active' | 'archived' = 'active'): SessionsHandle {
  const live = useMemo(() => liveSessions(client, { list }), [client, list])
  const state = useSyncExternalStore(live.subscribe, live.snapshot, live.snapshot)
  const { reload, more, file, unarchive, forget } = live
  return { ...state, reload, more, file, unarchive, forget }
}
