import { useMemo, useSyncExternalStore } from 'react'
import type { Client } from '../client/client.ts'
import { polled } from '../client/polled.ts'
import type { ReviewRequest } from '../domain/review.ts'
import type { ReviewOrigin, Session, WaitingApproval } from '../domain/wire.ts'
import { onRejectedHere, rejectedHere } from './rejected-here.ts'

/** What `usePendingReviews` returns. */
export interface PendingReviewsHandle {
  /**
   * Those that wait, over all conversations, soonest deadline first; without one that this window rejected, while that can
   * be undone. Undefined until they are loaded.
   */
  readonly reviews: readonly WaitingReview[] | undefined
  /** Calls of tools that wait, oldest first, if `withApprovals` asks for them. */
  readonly approvals: readonly WaitingCall[]
  /** There are more reviews than are shown. */
  readonly hasMore: boolean
  readonly error: unknown
  readonly reload: () => Promise<void>
}

/** A review and the conversation that it belongs to. */
export interface WaitingReview {
  readonly review: ReviewRequest
  readonly session: Session | undefined
  /** When and by which agent it was opened, if `withOrigins` asks for it. */
  readonly origin: ReviewOrigin | undefined
}

/** A call of a tool that waits, and its conversation. */
export interface WaitingCall {
  readonly approval: WaitingApproval
  readonly session: Session | undefined
}

/** What `usePendingReviews` can be told. */
export interface PendingReviewsOptions {
  /** Asks for the origin of each review, which costs the server more. */
  readonly withOrigins?: boolean
  /** Asks also for the calls of tools that wait. */
  readonly withApprovals?: boolean
}

const MOST = 200
const EVERY_MS = 5_000

/** Follows what waits for a person, also while the page is hidden: a notification is for who looks elsewhere. */
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
    return { reviews, approvals, hasMore: value?.next_cursor !== undefined, error, reload: live.reload }
  }, [value, error, live, rejected])
}

const noneRejected = (): undefined => undefined
