import type { Conversation } from '../domain/conversation.ts'
import type { Json } from '../domain/event.ts'
import { type Changes, type Review, statusAt } from '../domain/review.ts'
import type { Instant } from '../domain/instant.ts'
import type { ReviewRecord } from '../runsheet.ts'
import { toolsets } from './index.ts'
import type { JsonObject } from './toolset.ts'
import type { View } from './view.ts'

/** What the tool that asked for a review answers once it is decided: in its own words, with the person's changes. */
export function reviewAnswer(state: Conversation, { review, resolution, tasks }: ReviewRecord): Json {
  const view: View = { state, turnId: review.conversation_turn_id }
  // Reviews of older versions do not name their tool.
  const toolset = toolsets[review.toolset ?? state.policy?.toolset ?? 'runsheet']
  const comment = resolution?.comment === undefined ? {} : { comment: resolution.comment }
  if (resolution?.action !== 'confirm') {
    const reason = resolution?.reason ?? 'user_cancelled'
    const answer: JsonObject = { confirmed: false, cancelled: true, reason, ...comment }
    return toolset.unconfirmed?.(answer, view) ?? answer
  }
  const tool = toolset.tools.find(({ name, created }) => created && (review.tool ?? name) === name)
  const rows = resolution.changes ?? UNCHANGED
  const changes = toolset.changes?.(rows, resolution.tasks ?? [], tasks) ?? { ...rows }
  return { ...tool?.created?.(view, tasks), changes, ...comment }
}

/**
 * The review of a call that is repeated without an id: one that still waits, or one whose answer the agent never got.
 * `prefix` identifies the tool and its arguments.
 */
export function reviewOfRepeatedCall(
  state: Conversation,
  turn: string,
  prefix: string,
  now: Instant,
): Review | undefined {
  return [...state.pending_reviews, ...state.unheard_reviews]
    .flatMap(id => state.reviews.get(id) ?? [])
    .find(review => {
      if (review.conversation_turn_id !== turn || !review.tool_call_id.startsWith(prefix)) return false
      // Nobody decided an expired review: the person is asked again.
      return statusAt(review, now) !== 'expired' && !isOverdue(review, now)
    })
}

const isOverdue = (review: Review, now: Instant): boolean =>
  review.status === 'pending' && statusAt(review, now) !== 'pending'

const UNCHANGED: Changes = { kept: [], edited: [], added: [], removed: [], reordered: false }
