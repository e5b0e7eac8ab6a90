import { useEffect, useState } from 'react'
import type { Json } from '../../../core/model/event.ts'
import type { CallAnswer } from '../../../core/views/transcript.ts'
import { type RunsheetSource, useRunsheet } from '../parts/runsheet-provider.tsx'

export interface CallResult {
  /** The whole result, or the part that is loaded. */
  readonly result: Json | undefined
  readonly hasFailed: boolean
}

/** Loads the rest of a truncated result from the log. */
export function useCallResult(answer: CallAnswer | undefined, source?: RunsheetSource): CallResult {
  const { client, session } = useRunsheet(source)
  const [whole, setWhole] = useState<Json>()
  const [hasFailed, setFailed] = useState(false)
  const missing = answer?.is_cut ? answer.seq : undefined
  useEffect(() => {
    if (missing === undefined) return
    const end = new AbortController()
    setFailed(false)
    client.event(session, missing, end.signal).then(
      event => event.type === 'tool_answered' && setWhole(event.data.result),
      () => !end.signal.aborted && setFailed(true),
    )
    return () => end.abort()
  }, [client, session, missing])
  return { result: whole ?? answer?.result, hasFailed }
}
