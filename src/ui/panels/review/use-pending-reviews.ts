import { useMemo, useSyncExternalStore } from 'react'
import type { Client } from '../../../client/client.ts'
import { polled } from '../../../client/live-sessions.ts'
import type { ReviewRequest } from '../../../core/model/review.ts'
import type { ReviewOrigin, Session, WaitingApproval, WaitingDispute } from '../../../core/views/wire.ts'
import { onRejectedHere, rejectedHere } from './rejection.ts'

/** The result of `usePendingReviews`. */
export interface PendingReviewsHandle {
  /**
   * Pending reviews of all conversations, earliest deadline first, without a rejection that this window can still undo.
   * Undefined until loaded.
   */
  readonly reviews: readonly WaitingReview[] | undefined
  /** Tool calls that wait for approval, oldest first. Requires `withApprovals`. */
  readonly approvals: readonly WaitingCall[]
  /** Disputed tasks that wait, oldest dispute first. Requires `withApprovals`. */
  readonly disputes: readonly WaitingTask[]
  /** True if there are more reviews than `reviews` contains. */
  readonly hasMore: boolean
  readonly error: unknown
  readonly reload: () => Promise<void>
}

/** A pending review and its conversation. */
export interface WaitingReview {
  readonly review: ReviewRequest
  readonly session: Session | undefined
  /** When and by which agent it was opened. Requires `withOrigins`. */
  readonly origin: ReviewOrigin | undefined
}

/** A tool call that waits for approval, and its conversation. */
export interface WaitingCall {
  readonly approval: WaitingApproval
  readonly session: Session | undefined
}

/** A disputed task that waits, and its conversation. */
export interface WaitingTask {
  readonly dispute: WaitingDispute
  readonly session: Session | undefined
}

/** Options of `usePendingReviews`. */
export interface PendingReviewsOptions {
  /** Loads the origin of each review, which costs the server more. */
  readonly withOrigins?: boolean
  /** Loads the tool calls and the disputes that wait. */
  readonly withApprovals?: boolean
}

const MOST = 200
const EVERY_MS = 5_000

/** Polls pending reviews even while the page is hidden, so that notifications reach a person who looks elsewhere. */
export function usePendingReviews(
  client: Client,
  { withOrigins: origins = false, withApprovals: approvals = false }: PendingReviewsOptions = {},
): PendingReviewsHandle {
  const live = useMemo(() => {
    const load = () => client.pendingReviews(undefined, { limit: MOST, origins, approvals })
    return polled(load, { everyMs: EVERY_MS, whileHidden: true })
  }, [client, origins, approvals])
  const { value, error } = useSyncExternalStore(live.subscribe, live.snapshot, live.snapshot)
  const rejected = useSyncExternalStore(onRejectedHere, rejectedHere, noneRejected)
  return useMemo(() => {
    const sessions = new Map(value?.sessions.map(session => [session.session_id, session]))
    const origins = new Map(value?.origins?.map(origin => [origin.review_id, origin]))
    const waiting = value?.reviews.filter(({ review_id }) => review_id !== rejected)
    const reviews = waiting?.map(review => ({
      review,
      session: sessions.get(review.session_id),
      origin: origins.get(review.review_id),
    }))
    const calls = value?.approvals ?? []
    const approvals = calls.map(approval => ({ approval, session: sessions.get(approval.session_id) }))
    const disputed = value?.disputes ?? []
    const disputes = disputed.map(dispute => ({ dispute, session: sessions.get(dispute.session_id) }))
    return { reviews, approvals, disputes, hasMore: value?.next_cursor !== undefined, error, reload: live.reload }
  }, [value, error, live, rejected])
}

const noneRejected = (): undefined => undefined
