import type { Review } from '../domain/review.ts'
import type { ConversationSnapshot } from '../domain/snapshot.ts'
import type { Turn } from '../domain/turn.ts'

/** The turns as they began: a state keeps them in no order. */
export const turnsInOrder = ({ turns }: ConversationSnapshot): readonly Turn[] =>
  Object.values(turns).sort((a, b) => (a.started_at < b.started_at ? -1 : 1))

/** The reviews as they were asked for. */
export const reviewsInOrder = ({ reviews }: ConversationSnapshot): readonly Review[] =>
  Object.values(reviews).sort((a, b) => askedAt(a) - askedAt(b))

const askedAt = ({ expires_at, timeout_ms }: Review): number => Date.parse(expires_at) - timeout_ms
