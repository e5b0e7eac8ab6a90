import { useMemo, useSyncExternalStore } from 'react'
import type { Client } from '../client/client.ts'
import { polled } from '../client/polled.ts'
import type { ReviewRequest } from '../domain/review.ts'
import type { ReviewOrigin, Session } from '../domain/wire.ts'

/** What `usePendingReviews` returns. */
export interface PendingReviewsHandle {
  /** Those that wait, over all conversations, soonest deadline first. Undefined until they are loaded. */
  readonly reviews: readonly WaitingReview[] | undefined
  /** There are more than are shown. */
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

/** What `usePendingReviews` can be told. */
export interface PendingReviewsOptions {
  /** Asks for the origin of each review, which costs the server more. */
  readonly withOrigins?: boolean
}

const MOST = 200
const EVERY_MS = 5_000

/** Follows what waits for a person, also while the page is hidden: a notification is for who looks elsewhere. */
export function usePendingReviews(
  client: Client,
  { withOrigins: origins = false }: PendingReviewsOptions = {},
): PendingReviewsHandle {
  const live = useMemo(() => {
    const load = () => client.pendingReviews(undefined, { limit: MOST, origins })
    return polled(load, { everyMs: EVERY_MS, whileHidden: true })
  }, [client, origins])
  const { value, error } = useSyncExternalStore(live.subscribe, live.snapshot, live.snapshot)
  return useMemo(() => {
    const sessions = new Map(value?.sessions.map(session => [session.session_id, session]))
    const origins = new Map(value?.origins?.map(origin => [origin.review_id, origin]))
    const reviews = value?.reviews.map(review => ({
      review,
      session: sessions.get(review.session_id),
      origin: origins.get(review.review_id),
    }))
    return { reviews, hasMore: value?.next_cursor !== undefined, error, reload: live.reload }
  }, [value, error, live])
}
