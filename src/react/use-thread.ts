import { useMemo } from 'react'
import { type ThreadTurn, threadOf } from '../domain/thread.ts'
import { type RunsheetSource, useRunsheet } from './runsheet-provider.tsx'

/**
 * The conversation as a thread. Each turn has its request, its plans with their decisions, the work by step, and its
 * end.
 */
export function useThread(source?: RunsheetSource): readonly ThreadTurn[] {
  const { conversation, messages, resolutions, thread } = useRunsheet(source).view.state
  return useMemo(
    () => threadOf(conversation, { messages, resolutions, thread }),
    [conversation, messages, resolutions, thread],
  )
}
