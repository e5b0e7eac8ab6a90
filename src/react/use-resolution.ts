import { useEffect, useState } from 'react'
import type { Client } from '../client/client.ts'
import type { EventData, StoredEvent } from '../domain/event.ts'
import type { Review } from '../domain/review.ts'
import type { ConversationView } from './use-conversation.ts'

export type Resolution = EventData['task_create_review_resolved']

/** How a review ended: as it comes by, or, where this window was not there, as the log has it. */
export function useResolution(
  client: Client,
  { onEvent }: ConversationView,
  review: Review | undefined,
): Resolution | undefined {
  const [resolution, setResolution] = useState<Resolution>()
  useEffect(
    () => onEvent(event => (event.type === 'task_create_review_resolved' ? setResolution(event.data) : undefined)),
    [onEvent],
  )
  const known = resolution?.review_id === review?.review_id ? resolution : undefined
  // Of these two the status says it all.
  const isOpen = review?.status === 'cancelled' && known === undefined
  useEffect(() => {
    if (!review || !isOpen) return
    let isCurrent = true
    client.timeline(review.session_id).then(
      ({ events }) => isCurrent && setResolution(was => resolutionIn(events, review.review_id) ?? was),
      () => {},
    )
    return () => {
      isCurrent = false
    }
  }, [client, isOpen, review?.session_id, review?.review_id])
  return known
}

function resolutionIn(events: readonly StoredEvent[], id: string): Resolution | undefined {
  for (const event of events) {
    if (event.type === 'task_create_review_resolved' && event.data.review_id === id) return event.data
  }
  return undefined
}
