import { useEffect, useState, useSyncExternalStore } from 'react'
import type { Client } from '../client/client.ts'
import type { LiveConversation } from '../client/live.ts'
import { initialState, type LiveState } from '../client/live-state.ts'
import type { StoredEvent } from '../domain/event.ts'

/** What `useConversation` returns. */
export interface ConversationView {
  readonly state: LiveState
  readonly onEvent: (listener: (event: StoredEvent) => void) => () => void
  /** Looks at once, instead of when the pause is over. */
  readonly retry: () => void
}

/** A conversation as it is and as it changes, for as long as the component is there. */
export function useConversation(client: Client, sessionId: string, isNew = false): ConversationView {
  const [live, setLive] = useState<LiveConversation>(NOTHING)
  useEffect(() => {
    const opened = client.live(sessionId, isNew ? { isNew } : {})
    setLive(opened)
    return opened.close
    // What was new when it was opened is followed from then on.
  }, [client, sessionId])
  const state = useSyncExternalStore(live.subscribe, live.snapshot, NOTHING.snapshot)
  return { state, onEvent: live.onEvent, retry: live.retry }
}

const IDLE = initialState('')

const nothing = (): void => {}

/** Before the first effect: no conversation, and nothing that changes. */
const NOTHING: LiveConversation = {
  snapshot: () => IDLE,
  subscribe: () => nothing,
  onEvent: () => nothing,
  retry: nothing,
  close: nothing,
}
