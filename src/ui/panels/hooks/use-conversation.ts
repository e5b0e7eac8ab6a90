import { useEffect, useState, useSyncExternalStore } from 'react'
import type { Client } from '../../../client/client.ts'
import type { LiveConversation } from '../../../client/live.ts'
import { initialState, type LiveState } from '../../../client/live-state.ts'
import type { StoredEvent } from '../../../core/model/event.ts'

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

const IDLE_STATE = initialState('')

const noop = (): void => {}

/** Used before the first effect and on a server. */
const IDLE: LiveConversation = {
  snapshot: () => IDLE_STATE,
  subscribe: () => noop,
  onEvent: () => noop,
  retry: noop,
  close: noop,
}
