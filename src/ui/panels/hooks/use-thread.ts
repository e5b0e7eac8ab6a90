import { useMemo } from 'react'
import { threadOf, type ThreadTurn } from '../../../core/views/thread.ts'
import { type RunsheetSource, useRunsheet } from '../parts/provider.tsx'
import type { Review } from '../../../core/model/review.ts'
import type { ConversationSnapshot } from '../../../core/model/snapshot.ts'
import type { Turn } from '../../../core/model/turn.ts'

/** The conversation as a thread: each turn with its request, decided plans, work by step, and end. */
export function useThread(source?: RunsheetSource): readonly ThreadTurn[] {
  const { conversation, messages, resolutions, thread } = useRunsheet(source).view.state
  return useMemo(
    () => threadOf(conversation, { messages, resolutions, thread }),
    [conversation, messages, resolutions, thread],
  )
}

/** A conversation's turns, oldest first. The `turns` record itself is unordered. */
export const turnsInOrder = ({ turns }: ConversationSnapshot): readonly Turn[] =>
  Object.values(turns).sort((a, b) => (a.started_at < b.started_at ? -1 : 1))

export const reviewsInOrder = ({ reviews }: ConversationSnapshot): readonly Review[] =>
  Object.values(reviews).sort((a, b) => (a.asked_at < b.asked_at ? -1 : 1))
