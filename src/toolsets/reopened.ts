import { planFailures, unseenChecks } from '../domain/plan-checks.ts'
import type { Conversation } from '../domain/conversation.ts'
import type { Json } from '../domain/event.ts'
import { planOf } from '../domain/plan.ts'
import type { Reopened } from '../domain/plan-checks.ts'
import type { ReviewRecord } from '../door/door.ts'
import type { ToolContext } from './context.ts'
import { reviewAnswer } from './review-answer.ts'
import type { Toolset } from './toolset.ts'

/** A call's answer, and the reopened review whose outcome it also carries. */
export interface AnswerWithOutcome {
  readonly result: Json
  readonly review_id?: string
}

/**
 * A decided review that a person had reopened, if its agent lives elsewhere and has not heard of it. Our own turns are
 * continued instead. `awaited` is the review that this call waits for: its outcome is the answer itself.
 */
export async function unheardOutcome(
  { door, tenant, conversation, run }: ToolContext,
  awaited?: string,
): Promise<ReviewRecord | undefined> {
  if (run) return undefined
  const { unheard_reviews, reviews, turns } = await door.read({ tenant, conversation })
  const id = unheard_reviews.find(each => {
    const review = reviews.get(each)
    // The agent itself superseded it, with another plan.
    if (review?.reopens === undefined || review.reason === 'superseded') return false
    return turns.get(review.conversation_turn_id)?.model === undefined
  })
  return id === undefined || id === awaited ? undefined : (await door.reviews.get(tenant, id)).record
}

/** The answer with that outcome, unless another answer has carried it meanwhile. */
export function withOutcome(state: Conversation, result: Json, record: ReviewRecord | undefined): AnswerWithOutcome {
  if (!record || typeof result !== 'object' || result === null || Array.isArray(result)) return { result }
  const { review_id } = record.review
  if (!state.unheard_reviews.includes(review_id)) return { result }
  const tasks = record.tasks.flatMap(({ id }) => state.tasks.get(id) ?? [])
  const outcome = { review_id, confirmed: true, ...reviewAnswer(state, { ...record, tasks }) }
  return { result: { ...result, review: outcome }, review_id }
}

/** The answer, with the checks of a plan that did not pass once nothing is open: it is not done, or not known to be. */
export function withFailing(result: Json, state: Conversation, turnId: string): Json {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return result
  const plan = planOf(state, turnId)
  if (plan.open.length > 0) return result
  const failing = [...planFailures(state, plan), ...unseenChecks(state, plan)]
  return failing.length > 0 ? { ...result, failing } : result
}

/** The answer to a claim, with the tasks that the runs before the end of the plan opened again. */
export function withReopened(result: Json, reopened: readonly Reopened[], { vocabulary }: Toolset): Json {
  if (reopened.length === 0 || typeof result !== 'object' || result === null || Array.isArray(result)) return result
  return { ...result, reopened: reopened.map(({ task, why }) => `${vocabulary.idOf(task)} ${task.title}: ${why}`) }
}
