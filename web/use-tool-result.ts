import { useEffect, useState } from 'react'
import type { CallAnswer, Client, EventData } from 'runsheet/client'

type Result = EventData['tool_answered']['result']

export interface ToolResult {
  /** The whole result, or as much of it as is known yet. */
  readonly result: Result | undefined
  readonly hasFailed: boolean
}

/** A tool's result. What was cut off is read from the log once the call is opened. */
export function useToolResult(
  client: Client,
  session: string,
  answer: CallAnswer | undefined,
  isOpen: boolean,
): ToolResult {
  const [whole, setWhole] = useState<Result>()
  const [hasFailed, setFailed] = useState(false)
  const missing = isOpen && answer?.is_cut ? answer.seq : undefined
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
