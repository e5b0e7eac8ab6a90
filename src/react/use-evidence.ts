import { useMemo, useSyncExternalStore } from 'react'
import { type EvidenceState, liveEvidence } from '../client/live-evidence.ts'
import { type RunsheetSource, useRunsheet } from './runsheet-provider.tsx'

/** What `useEvidence` returns. */
export interface EvidenceHandle extends EvidenceState {
  /** Loads it again. */
  readonly reload: () => void
}

/** Follows what is known of how a task was worked on: its verdicts, its claims and the tool calls that tell most. */
export function useEvidence(taskId: string, source?: RunsheetSource): EvidenceHandle {
  const { client, session, view } = useRunsheet(source)
  const { onEvent } = view
  const live = useMemo(() => liveEvidence(client, { onEvent }, session, taskId), [client, session, taskId, onEvent])
  const state = useSyncExternalStore(live.subscribe, live.snapshot, live.snapshot)
  return { ...state, reload: live.reload }
}
