import { useMemo } from 'react'
import { type ThreadTurn, threadOf } from '../../../core/views/thread.ts'
import { type RunsheetSource, useRunsheet } from '../parts/runsheet-provider.tsx'

/** The conversation as a thread: each turn with its request, decided plans, work by step, and end. */
export function useThread(source?: RunsheetSource): readonly ThreadTurn[] {
  const { conversation, messages, resolutions, thread } = useRunsheet(source).view.state
  return useMemo(
    () => threadOf(conversation, { messages, resolutions, thread }),
    [conversation, messages, resolutions, thread],
  )
}
