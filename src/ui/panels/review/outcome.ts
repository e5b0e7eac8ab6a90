import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Client } from '../../../client/client.ts'
import { isReopenable, type Review, type ReviewStatus } from '../../../core/model/review.ts'
import { isFinished } from '../../../core/model/turn.ts'
import { type ConversationView, reviewsInOrder } from '../parts/provider.tsx'
import { type Draft, draftOf, isAsDecided } from './draft.ts'
import { loadDraft, removeSharedDraft, type UnsentEdits } from './use-draft.ts'
import { errorText } from '../texts/error-text.ts'
import { type Decision, sentBeforeReload, type SentHere } from './decision.ts'
import { useStrings } from '../texts/strings.ts'
import { isRejectedHere } from './rejection.ts'
import { randomId } from '../../../client/random-id.ts'

/** The outcome of the last review, until the person dismisses it. */
export interface ReviewOutcomeHandle {
  readonly review: Review
  /** Why it was cancelled, such as `turn_stopped` or `panel_closed`. */
  readonly reason: string | undefined
  /** The person requested changes, and the turn ended without a new plan. */
  readonly isUnanswered: boolean
  /** The person's unsent edits. */
  readonly edits: Draft | undefined
  /**
   * Reopens the review with its draft and the edits in this browser, without calling the agent. Absent if the review
   * was decided or an agent is working.
   */
  readonly reopen: (() => Promise<void>) | undefined
  readonly isReopening: boolean
  /** Why reopening failed. */
  readonly error: string | undefined
  readonly dismiss: () => void
}

/** Reopens the newest plan with its draft and the person's edits, without calling the agent. */
export interface Reopening {
  readonly reviewId: string
  readonly reopen: () => Promise<void>
  readonly isBusy: boolean
  /** Why reopening failed. */
  readonly error: string | undefined
}

const statusAfter = ({ action }: Pick<SentHere, 'action'>): ReviewStatus =>
  action === 'confirm' ? 'confirmed' : 'cancelled'

/** The outcome of the latest turn's review until it is dismissed, and whether the newest plan can be reopened. */
export function useReviewOutcome(
  client: Client,
  { state, retry }: ConversationView,
  sent: Decision['sent'],
  unsent: UnsentEdits,
): { readonly outcome: ReviewOutcomeHandle | undefined; readonly reopening: Reopening | undefined } {
  const { conversation, resolutions } = state
  const [pendingId] = conversation.pending_reviews
  const last = reviewsInOrder(conversation).at(-1)
  const id = last?.review_id
  const [seenPending, setSeenPending] = useState<string>()
  // Storage is read after the first render, which has to match the server's HTML.
  const [shownId, setShownId] = useState<string>()
  useLayoutEffect(() => setShownId(id === undefined || isDismissed(id) ? undefined : id), [id])
  useEffect(() => setSeenPending(before => pendingId ?? before), [pendingId])
  const reopening = useReopening(client, id, retry)
  const canReopen = last !== undefined && isReopenable(last)
  const isSentBack = last?.reason === 'changes_requested'
  const turn = conversation.turns[conversation.latest_turn ?? '']
  const isUnanswered = canReopen && isSentBack && turn !== undefined && isFinished(turn)
  const isUndecided = canReopen && !isSentBack
  // Other windows and later reviews may use the edits of an undecided review only.
  const isDecided = last !== undefined && last.status !== 'pending' && !isUndecided
  useEffect(() => {
    if (isDecided && id !== undefined) removeSharedDraft(id)
  }, [isDecided, id])
  useEffect(() => {
    if (id !== undefined && last?.status !== 'pending') endPresence(id)
  }, [id, last?.status])
  const outcome = (): ReviewOutcomeHandle | undefined => {
    if (!last || pendingId !== undefined || last.conversation_turn_id !== conversation.latest_turn) return undefined
    const { review_id, status, reason } = last
    if (shownId !== review_id) return undefined
    if (sent?.reviewId === review_id && statusAfter(sent) === status && !isUnanswered) return undefined
    if (reason === 'user_cancelled' && isRejectedHere(review_id)) return undefined
    const own = unsent.of(review_id)
    const isAsMeant = isAsDecided(own ?? draftOf(last), last, resolutions[review_id])
    // A reload may have lost the answer to this window's decision.
    const before = sentBeforeReload(review_id)
    if (before && statusAfter(before) === status && isAsMeant && !isUnanswered) return undefined
    const edits = isAsMeant ? undefined : (own ?? (isUndecided ? loadDraft(review_id) : undefined))
    const isLeft = isUndecided || isUnanswered
    // A page that never showed the review reports only what is left to do.
    if (seenPending !== review_id && !isLeft && !edits) return undefined
    return {
      review: last,
      reason: resolutions[review_id]?.reason,
      isUnanswered,
      edits,
      reopen: isLeft && conversation.running_turn === null ? reopening.reopen : undefined,
      isReopening: reopening.isBusy,
      error: reopening.error,
      dismiss: () => {
        dismissReview(review_id)
        if (!isUndecided) unsent.discard(review_id)
        setShownId(undefined)
      },
    }
  }
  const isIdle = conversation.running_turn === null && pendingId === undefined
  return { outcome: outcome(), reopening: canReopen && isIdle ? reopening : undefined }
}

function useReopening(client: Client, reviewId = '', onReopened: () => void): Reopening {
  const strings = useStrings()
  const [isBusy, setBusy] = useState(false)
  const [failed, setFailed] = useState<{ readonly id: string; readonly message: string }>()
  const reopen = async (): Promise<void> => {
    if (reviewId === '' || isBusy) return
    setBusy(true)
    setFailed(undefined)
    try {
      await client.reopen(reviewId)
    } catch (error) {
      setFailed({ id: reviewId, message: errorText(strings, error) })
    }
    setBusy(false)
    // Refresh after a failure, too: another window may have reopened it.
    onReopened()
  }
  return { reviewId, reopen, isBusy, error: failed?.id === reviewId ? failed.message : undefined }
}

const DISMISSED = 'runsheet.dismissed-reviews'
const MAX_KEPT = 50

/** Stored in the browser, so that a dismissed outcome stays dismissed after a reload. */
const isDismissed = (reviewId: string): boolean => dismissedReviews().includes(reviewId)

function dismissReview(reviewId: string): void {
  try {
    localStorage.setItem(DISMISSED, [reviewId, ...dismissedReviews()].slice(0, MAX_KEPT).join(' '))
  } catch {
    // Storage is blocked: the outcome shows again after a reload.
  }
}

function dismissedReviews(): readonly string[] {
  try {
    return localStorage.getItem(DISMISSED)?.split(' ') ?? []
  } catch {
    return []
  }
}

interface Presence {
  readonly announce: () => void
  readonly leave: () => void
}

/** The reviews that this page has shown. They count as shown until the page unloads, whichever conversation is open. */
const presences = new Map<string, Presence>()

/**
 * Tells the server that this page shows a review, and when the page unloads. Each visit has its own id, because the
 * leave of the previous page and the arrival of this one may reach the server in any order.
 */
export function useReviewPresence(client: Client, reviewId: string | undefined, isLive: boolean): void {
  useEffect(() => {
    if (reviewId === undefined) return
    if (presences.size === 0) watchPage()
    if (!presences.has(reviewId)) presences.set(reviewId, presenceOf(client, reviewId))
    presences.get(reviewId)?.announce()
  }, [client, reviewId])
  // The announcement may have been lost while the connection was down.
  const wasLive = useRef(true)
  useEffect(() => {
    if (isLive && !wasLive.current) presences.get(reviewId ?? '')?.announce()
    wasLive.current = isLive
  }, [isLive, reviewId])
}

/** A decided review needs no leave message. */
function endPresence(reviewId: string): void {
  presences.delete(reviewId)
}

function presenceOf(client: Client, reviewId: string): Presence {
  let visit = randomId()
  return {
    announce: () => void client.showPanel(reviewId, visit).catch(() => {}),
    leave: () => {
      void client.leavePanel(reviewId, visit).catch(() => {})
      visit = randomId()
    },
  }
}

function watchPage(): void {
  window.addEventListener('pagehide', leaveAll)
  window.addEventListener('pageshow', announceRestored)
}

function leaveAll(): void {
  for (const { leave } of presences.values()) leave()
}

/** A page restored from the back/forward cache still shows its reviews. */
function announceRestored({ persisted }: PageTransitionEvent): void {
  if (persisted) for (const { announce } of presences.values()) announce()
}
