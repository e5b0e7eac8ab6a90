import { useEffect, useLayoutEffect, useState } from 'react'
import type { Client } from '../client/client.ts'
import { isReopenable, type Review } from '../domain/review.ts'
import { reviewsInOrder } from './chronological.ts'
import { dismissReview, isDismissed } from './dismissed-reviews.ts'
import type { Draft } from './draft.ts'
import { loadDraft, removeSharedDraft } from './draft-storage.ts'
import { errorText } from './error-text.ts'
import { useStrings } from './strings.ts'
import type { ConversationView } from './use-conversation.ts'
import type { Decision } from './use-decision.ts'
import type { UnsentEdits } from './use-draft.ts'
import { isRejectedHere } from './use-rejection.ts'
import { endPresence } from './use-review-presence.ts'

/** How the last review ended, until the person closes it. */
export interface ReviewOutcomeHandle {
  readonly review: Review
  /** Why it was cancelled, such as `turn_stopped` or `panel_closed`. */
  readonly reason: string | undefined
  /** The person's edits of it, which were not sent. */
  readonly edits: Draft | undefined
  /**
   * Opens the review again, with its draft and the edits of this browser, and without the agent. Absent where it was
   * decided, and while an agent works.
   */
  readonly reopen: (() => Promise<void>) | undefined
  readonly isReopening: boolean
  /** Why it was not opened again. */
  readonly error: string | undefined
  readonly dismiss: () => void
}

const OUTCOME_OF = { confirm: 'confirmed', cancel: 'cancelled', revise: 'cancelled' } as const

/** The outcome of the latest turn's review, until it is dismissed. */
export function useReviewOutcome(
  client: Client,
  { state, retry }: ConversationView,
  sent: Decision['sent'],
  unsent: UnsentEdits,
): ReviewOutcomeHandle | undefined {
  const { conversation, resolutions } = state
  const [pendingId] = conversation.pending_reviews
  const last = reviewsInOrder(conversation).at(-1)
  const id = last?.review_id
  const [seenPending, setSeenPending] = useState<string>()
  // Storage is read after the first render, which has to match a server's HTML.
  const [shownId, setShownId] = useState<string>()
  useLayoutEffect(() => setShownId(id === undefined || isDismissed(id) ? undefined : id), [id])
  useEffect(() => setSeenPending(before => pendingId ?? before), [pendingId])
  const reopening = useReopening(client, id, retry)
  const canReopen = last !== undefined && isReopenable(last)
  // Other windows and later reviews get only the edits of an undecided one.
  const isDecided = last !== undefined && last.status !== 'pending' && !canReopen
  useEffect(() => {
    if (isDecided && id !== undefined) removeSharedDraft(id)
  }, [isDecided, id])
  useEffect(() => {
    if (id !== undefined && last?.status !== 'pending') endPresence(id)
  }, [id, last?.status])
  if (!last || pendingId !== undefined || last.conversation_turn_id !== conversation.latest_turn) return undefined
  if (shownId !== last.review_id) return undefined
  if (sent?.reviewId === last.review_id && OUTCOME_OF[sent.action] === last.status) return undefined
  if (last.reason === 'user_cancelled' && isRejectedHere(last.review_id)) return undefined
  const edits = unsent.of(last.review_id) ?? (canReopen ? loadDraft(last.review_id) : undefined)
  // A page that never showed the review only says what is left to do.
  if (seenPending !== last.review_id && !canReopen && !edits) return undefined
  return {
    review: last,
    reason: resolutions[last.review_id]?.reason,
    edits,
    reopen: canReopen && conversation.running_turn === null ? reopening.reopen : undefined,
    isReopening: reopening.isBusy,
    error: reopening.error,
    dismiss: () => {
      dismissReview(last.review_id)
      if (!canReopen) unsent.discard(last.review_id)
      setShownId(undefined)
    },
  }
}

interface Reopening {
  readonly reopen: () => Promise<void>
  readonly isBusy: boolean
  readonly error: string | undefined
}

function useReopening(client: Client, reviewId: string | undefined, onReopened: () => void): Reopening {
  const strings = useStrings()
  const [isBusy, setBusy] = useState(false)
  const [failed, setFailed] = useState<{ readonly id: string; readonly message: string }>()
  const reopen = async (): Promise<void> => {
    if (reviewId === undefined || isBusy) return
    setBusy(true)
    setFailed(undefined)
    try {
      await client.reopen(reviewId)
    } catch (error) {
      setFailed({ id: reviewId, message: errorText(strings, error) })
    }
    setBusy(false)
    // Also after a failure: another window may have reopened it.
    onReopened()
  }
  return { reopen, isBusy, error: failed?.id === reviewId ? failed?.message : undefined }
}
