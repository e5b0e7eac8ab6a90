import { useEffect, useLayoutEffect, useState } from 'react'
import type { Review } from '../domain/review.ts'
import { reviewsInOrder } from './chronological.ts'
import { dismissReview, isDismissed } from './dismissed-reviews.ts'
import { hasSavedDraft, removeDraft } from './draft-storage.ts'
import type { ConversationView } from './use-conversation.ts'
import type { Decision } from './use-decision.ts'
import { endPresence } from './use-review-presence.ts'

/** How the last review ended, until the person closes it. */
export interface ReviewOutcomeHandle {
  readonly review: Review
  /** Why it was cancelled, such as `turn_stopped` or `panel_closed`. */
  readonly reason: string | undefined
  /** It ended without a decision, so the agent can be asked to propose the plan again. */
  readonly isUndecided: boolean
  /** The person's edits of it are saved and can be restored in the next review. */
  readonly hasEdits: boolean
  readonly dismiss: () => void
}

const OUTCOME_OF = { confirm: 'confirmed', cancel: 'cancelled' } as const

/** The outcome of the latest turn's review, until it is dismissed. */
export function useReviewOutcome({ state }: ConversationView, sent: Decision['sent']): ReviewOutcomeHandle | undefined {
  const { conversation, resolutions } = state
  const [pendingId] = conversation.pending_reviews
  const last = reviewsInOrder(conversation).at(-1)
  const id = last?.review_id
  const resolution = id === undefined ? undefined : resolutions[id]
  const [seenPending, setSeenPending] = useState<string>()
  // Storage is read after the first render, which has to match a server's HTML.
  const [shownId, setShownId] = useState<string>()
  useLayoutEffect(() => setShownId(id === undefined || isDismissed(id) ? undefined : id), [id])
  useEffect(() => setSeenPending(before => pendingId ?? before), [pendingId])
  // Edits are kept only for undecided reviews: the plan may be proposed again.
  const isDecided = last?.status === 'confirmed' || (resolution !== undefined && resolution.via !== 'system')
  useEffect(() => {
    if (isDecided && id !== undefined) removeDraft(id)
  }, [isDecided, id])
  useEffect(() => {
    if (id !== undefined && last?.status !== 'pending') endPresence(id)
  }, [id, last?.status])
  if (!last || pendingId !== undefined || last.conversation_turn_id !== conversation.latest_turn) return undefined
  if (shownId !== last.review_id) return undefined
  if (sent?.reviewId === last.review_id && OUTCOME_OF[sent.action] === last.status) return undefined
  const isUndecided =
    last.status === 'expired' || (resolution?.via === 'system' && resolution.reason === 'panel_closed')
  // A page that never showed the review only says what is left to do.
  if (seenPending !== last.review_id && !isUndecided) return undefined
  return {
    review: last,
    reason: resolution?.reason,
    isUndecided,
    hasEdits: isUndecided && hasSavedDraft(last.review_id),
    dismiss: () => {
      dismissReview(last.review_id)
      setShownId(undefined)
    },
  }
}
