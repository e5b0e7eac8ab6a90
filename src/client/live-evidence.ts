import type { StoredEvent } from '../core/model/event.ts'
import type { EvidenceAnswer } from '../core/views/wire.ts'
import type { Client } from './client.ts'
import type { LiveConversation } from './live.ts'
import { RunsheetError } from './http.ts'

/** The loading state of a task's evidence. */
export interface EvidenceState {
  /** Null until loaded. */
  readonly evidence: EvidenceAnswer | null
  readonly isLoading: boolean
  /** Why the last load failed. */
  readonly error: RunsheetError | null
}

/** Live evidence of a task. `subscribe` and `snapshot` fit `useSyncExternalStore`. */
export interface LiveEvidence {
  readonly snapshot: () => EvidenceState
  /** Loads the evidence with the first listener and follows it until the last one unsubscribes. */
  readonly subscribe: (listener: () => void) => () => void
  /** Loads the evidence again. */
  readonly reload: () => void
}

/** Follows the evidence of a task of a live conversation. */
export function liveEvidence(
  client: Pick<Client, 'evidence'>,
  live: Pick<LiveConversation, 'onEvent'>,
  sessionId: string,
  taskId: string,
): LiveEvidence {
  const listeners = new Set<() => void>()
  let state: EvidenceState = { evidence: null, isLoading: false, error: null }
  let leave = new AbortController()
  let isDue = false

  const set = (change: Partial<EvidenceState>): void => {
    state = { ...state, ...change }
    for (const listener of listeners) listener()
  }
  const load = async ({ signal }: AbortController): Promise<void> => {
    while (isDue && !signal.aborted) {
      isDue = false
      try {
        const evidence = await client.evidence(sessionId, taskId, signal)
        if (!signal.aborted) set({ evidence, error: null })
      } catch (error) {
        if (signal.aborted) return
        if (!(error instanceof RunsheetError)) throw error
        set({ error })
      }
    }
    if (!signal.aborted) set({ isLoading: false })
  }
  const reload = (): void => {
    isDue = true
    // A change during a load triggers another load right after.
    if (state.isLoading || listeners.size === 0) return
    set({ isLoading: true })
    void load(leave)
  }

  let unfollow = (): void => {}
  return {
    snapshot: () => state,
    reload,
    subscribe: listener => {
      listeners.add(listener)
      if (listeners.size === 1) {
        leave = new AbortController()
        state = { ...state, isLoading: false }
        unfollow = live.onEvent(event => {
          if (isAbout(event, taskId)) reload()
        })
        reload()
      }
      return () => {
        if (!listeners.delete(listener) || listeners.size > 0) return
        unfollow()
        leave.abort()
      }
    },
  }
}

function isAbout(event: StoredEvent, taskId: string): boolean {
  switch (event.type) {
    case 'evidence_added':
    case 'task_assessed':
    case 'claim_made':
    case 'claim_settled':
      return event.data.task_id === taskId
    case 'tool_answered':
      // A tool call in a turn that a runner drives. Only the server knows which task was current.
      return event.data.edge === undefined
    default:
      return false
  }
}
