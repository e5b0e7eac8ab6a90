import type { Conversation } from '../domain/conversation.ts'
import type { Review } from '../domain/review.ts'
import type { Turn } from '../domain/turn.ts'

/** A conversation's turns, oldest first. Its own table has no order. */
export const turnsInOrder = ({ turns }: Conversation): readonly Turn[] =>
  [...turns.values()].sort((a, b) => (a.started_at < b.started_at ? -1 : 1))

/** A conversation's reviews, oldest first. */
export const reviewsInOrder = ({ reviews }: Conversation): readonly Review[] =>
  [...reviews.values()].sort((a, b) => createdAt(a) - createdAt(b))

const createdAt = ({ expires_at, timeout_ms }: Review): number => Date.parse(expires_at) - timeout_ms
