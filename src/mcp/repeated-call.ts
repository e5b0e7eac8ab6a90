import { Refusal } from '../domain/refusal.ts'
import { statusAt } from '../domain/review.ts'
import { hashOf } from '../door/door.ts'
import type { ToolContext } from '../toolsets/context.ts'
import { parseInput } from '../toolsets/input.ts'
import type { Tool } from '../toolsets/toolset.ts'

/** Calls that may wait are logged before their review; no turn has more of them waiting at once. */
const NEWEST_CALLS = 20

/**
 * The review of an equal call of this turn that still waits, or whose answer nobody got. A model that calls again does so
 * under a new id of its host's, so the id alone would ask the person twice.
 */
export async function repeatedReview(tool: Tool, input: unknown, context: ToolContext): Promise<string | undefined> {
  const { door, tenant, conversation, turn } = context
  if (!tool.created) return undefined
  const ref = { tenant, conversation }
  const [{ reviews, pending_reviews, unheard_reviews }, now] = await Promise.all([door.read(ref), door.now()])
  const open = [...pending_reviews, ...unheard_reviews].flatMap(id => {
    const review = reviews.get(id)
    // An expired review was never decided: ask again.
    if (review?.conversation_turn_id !== turn || review.status === 'expired') return []
    return review.status === statusAt(review, now) ? [review] : []
  })
  if (open.length === 0) return undefined
  const parsed = parseInput(tool, input)
  if (parsed instanceof Refusal) return undefined
  const wanted = hashOf([tool.name, parsed.value])
  const called = await door.conversations.events(ref, { types: ['tool_called'], last: NEWEST_CALLS })
  return open.find(({ tool_call_id }) =>
    called.some(
      ({ type, data }) =>
        type === 'tool_called' && data.tool_call_id === tool_call_id && hashOf([data.tool, data.arguments]) === wanted,
    ),
  )?.review_id
}
