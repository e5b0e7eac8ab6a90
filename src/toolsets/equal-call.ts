import type { Conversation } from '../domain/conversation.ts'
import { type Review, statusAt } from '../domain/review.ts'
import type { Instant } from '../domain/instant.ts'
import { hashOf } from '../door/door.ts'
import type { ToolContext } from './context.ts'

/** Calls that may wait are logged before their review; no turn has more of them waiting at once. */
const NEWEST_CALLS = 20

/** Identifies what a call asks for, whatever its id. */
export const callHash = (tool: string, input: unknown): string => hashOf([tool, input])

/**
 * The review that an equal call of this turn asked for, if it still waits, or nobody got its answer. A person may have
 * reopened it meanwhile. Only reviews that `fits` holds for are looked at.
 */
export async function reviewOfEqualCall(
  { door, tenant, conversation, turn }: ToolContext,
  wanted: string,
  fits: (review: Review) => boolean = () => true,
): Promise<Review | undefined> {
  const ref = { tenant, conversation }
  const state = await door.read(ref)
  if (!unheardOf(state, turn).some(fits)) return undefined
  const open = unanswered(state, turn, await door.now()).filter(fits)
  const called = await door.conversations.events(ref, { types: ['tool_called'], last: NEWEST_CALLS })
  const equal = new Set(
    called.flatMap(({ type, data }) =>
      type === 'tool_called' && callHash(data.tool, data.arguments) === wanted ? [data.tool_call_id] : [],
    ),
  )
  return open.find(review => equal.has(firstOf(state, review).tool_call_id))
}

/** The reviews of a turn that wait, or whose answer nobody got. One that expired was never decided: ask again. */
export const unanswered = (state: Conversation, turn: string, now: Instant): Review[] =>
  unheardOf(state, turn).filter(review => review.status === statusAt(review, now) && review.status !== 'expired')

const unheardOf = ({ reviews, pending_reviews, unheard_reviews }: Conversation, turn: string): Review[] =>
  [...pending_reviews, ...unheard_reviews]
    .flatMap(id => reviews.get(id) ?? [])
    .filter(review => review.conversation_turn_id === turn)

/** The review that a call asked for, of those that were opened again. */
function firstOf(state: Conversation, review: Review): Review {
  const reopened = state.reviews.get(review.reopens ?? '')
  return reopened ? firstOf(state, reopened) : review
}
