import { useMemo } from 'react'
import { type ThreadTurn, threadOf } from '../domain/thread.ts'
import { type RunsheetSource, useRunsheet } from './runsheet-provider.tsx'

/** The conversation as a thread: for each turn what was asked, the plans with their decisions, the work by step, and the end. */
export function useThread(source?: RunsheetSource): readonly ThreadTurn[] {
  const { conversation, messages, resolutions, thread } = useRunsheet(source).view.state
  return useMemo(
    () => threadOf(conversation, { messages, resolutions, thread }),
    [conversation, messages, resolutions, thread],
  )
}
