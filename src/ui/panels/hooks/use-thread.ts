import { useMemo, useSyncExternalStore } from 'react'
import { type EvidenceState, liveEvidence } from '../../../client/live-evidence.ts'
import { threadOf, type ThreadTurn } from '../../../core/views/thread.ts'
import { type RunsheetSource, useRunsheet } from '../parts/provider.tsx'

/** The conversation as a thread: each turn with its request, decided plans, work by step, and end. */
export function useThread(source?: RunsheetSource): readonly ThreadTurn[] {
  const { conversation, messages, resolutions, thread } = useRunsheet(source).view.state
  return useMemo(
    () => threadOf(conversation, { messages, resolutions, thread }),
    [conversation, messages, resolutions, thread],
  )
}

/** The result of `useEvidence`. */
export interface EvidenceHandle extends EvidenceState {
  /** Loads the evidence again. */
  readonly reload: () => void
}

/** Follows the evidence of a task: its verdicts, its claims and the most relevant tool calls. */
export function useEvidence(taskId: string, source?: RunsheetSource): EvidenceHandle {
  const { client, session, view } = useRunsheet(source)
  const { onEvent } = view
  const live = useMemo(() => liveEvidence(client, { onEvent }, session, taskId), [client, session, taskId, onEvent])
  const state = useSyncExternalStore(live.subscribe, live.snapshot, live.snapshot)
  return { ...state, reload: live.reload }
}
