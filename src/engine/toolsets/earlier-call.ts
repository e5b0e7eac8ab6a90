import type { Conversation } from '../../core/model/conversation.ts'
import type { Instant } from '../../core/model/instant.ts'
import { claimsOf } from '../../core/proof/open-claims.ts'
import { type Review, statusAt } from '../../core/model/review.ts'
import { hashOf } from '../door/door.ts'
import type { WaitingCall } from './calls.ts'

/** Identifies the content of a call, whatever its id. */
export const callHash = (tool: string, input: unknown): string => hashOf([tool, input])

export interface ArrivingCall {
  readonly turn: string
  readonly hash: string
  /** The caller gave it an id, which tells it apart from equal calls. */
  readonly isNamed: boolean
}

/**
 * The equal call of this turn that the arriving one joins: it waits for a review or for claims, or its answer was not
 * delivered. A named call joins another only if that would block it: an open claim, or a plan that a person reopened.
 */
export function earlierCall(
  state: Conversation,
  { turn, hash, isNamed }: ArrivingCall,
  now: Instant,
): WaitingCall | undefined {
  const review = unheardReviews(state, now).find(
    each => each.conversation_turn_id === turn && each.call_hash === hash && isJoined(each, isNamed),
  )
  if (review) return { status: 'pending_review', call_id: review.tool_call_id, review_id: review.review_id }
  const claim = [...state.claims.values()].find(({ turn_id, held }) => turn_id === turn && held?.call_hash === hash)
  if (!claim) return undefined
  const claims = claimsOf(state, turn, claim.tool_call_id)
  return { status: 'checking', call_id: claim.tool_call_id, claim_ids: claims.map(({ claim_id }) => claim_id) }
}

/**
 * Reviews that wait or whose answer was not delivered. An expired one was never decided, so the person is asked again.
 */
const unheardReviews = ({ reviews, pending_reviews, unheard_reviews }: Conversation, now: Instant): Review[] =>
  [...pending_reviews, ...unheard_reviews]
    .flatMap(id => reviews.get(id) ?? [])
    .filter(review => review.status === statusAt(review, now) && review.status !== 'expired')

function isJoined({ reopens, status, reason }: Review, isNamed: boolean): boolean {
  if (reopens === undefined) return !isNamed
  // The call was already answered: the agent that superseded the reopened plan does not wait for it.
  return status === 'pending' || (!isNamed && reason !== 'superseded')
}
