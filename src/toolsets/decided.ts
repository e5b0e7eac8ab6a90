import type { Conversation } from '../domain/conversation.ts'
import type { Json } from '../domain/event.ts'
import { type Changes, statusAt } from '../domain/review.ts'
import type { Ref, ReviewRecord, Runsheet, Transaction } from '../runsheet.ts'
import type { ToolContext } from './context.ts'
import { toolsets } from './index.ts'
import type { JsonObject, Toolset } from './toolset.ts'
import type { View } from './view.ts'

/** What a decided review answers: the toolset's own words and what the person changed, or why not. */
export function reviewAnswer(
  toolset: Toolset,
  name: string,
  state: Conversation,
  { review, resolution, tasks }: ReviewRecord,
): Json {
  const view: View = { state, turnId: review.conversation_turn_id }
  const said = resolution?.comment === undefined ? {} : { comment: resolution.comment }
  if (resolution?.action !== 'confirm') {
    const answer: JsonObject = {
      confirmed: false,
      cancelled: true,
      reason: resolution?.reason ?? 'user_cancelled',
      ...said,
    }
    return toolset.unconfirmed?.(answer, view) ?? answer
  }
  const tool = toolset.tools.find(each => each.name === name)
  const rows = resolution.changes ?? UNCHANGED
  const changes = toolset.changes?.(rows, tasks) ?? (rows as unknown as Json)
  return { ...tool?.created?.(view, tasks), changes, ...said }
}

/**
 * What a review that is decided answers, whoever decides it: in the words of the toolset that asked, which was the
 * conversation's then. A person may have changed that since.
 */
export async function decidedAnswer(
  { conversations }: Runsheet,
  ref: Ref,
  reviewId: string,
): Promise<(state: Conversation, record: ReviewRecord) => Json> {
  const events = await conversations.events(ref, { types: ['policy_set', 'task_create_review_required'] })
  const asked = events.findIndex(
    event => event.type === 'task_create_review_required' && event.data.review_id === reviewId,
  )
  const policy = events.slice(0, asked).findLast(event => event.type === 'policy_set')
  const toolset = toolsets[policy?.data.policy.toolset ?? 'runsheet']
  const creating = toolset.tools.find(tool => tool.created)
  return (state, record) => reviewAnswer(toolset, creating?.name ?? '', state, record)
}

/** The review that a call waits for which was made in this turn with the same tool and arguments. */
export function waitingCall({ state, now }: Transaction, turn: string, print: string): string | undefined {
  const waiting = state.pending_reviews
    .flatMap(id => state.reviews.get(id) ?? [])
    .find(
      review =>
        review.conversation_turn_id === turn &&
        review.tool_call_id.startsWith(print) &&
        // One whose time is over waits for nobody, even where that is not written yet.
        statusAt(review, now) === 'pending',
    )
  return waiting?.review_id
}

/**
 * A review of the same call in this turn that a person has decided, and whose answer nobody got: whoever asked had given
 * up by then. It is theirs, before the person is asked the same again.
 */
export async function unheardReview(
  { runsheet, tenant, conversation, turn }: ToolContext,
  { state }: View,
  print: string,
): Promise<string | undefined> {
  const decided = [...state.reviews.values()].filter(
    ({ conversation_turn_id, tool_call_id, status }) =>
      conversation_turn_id === turn &&
      tool_call_id.startsWith(print) &&
      (status === 'confirmed' || status === 'cancelled'),
  )
  if (decided.length === 0) return undefined
  const answers = await runsheet.conversations.events({ tenant, conversation }, { types: ['tool_answered'] })
  const heard = new Set(answers.map(event => event.type === 'tool_answered' && event.data.tool_call_id))
  return decided.find(({ tool_call_id }) => !heard.has(tool_call_id))?.review_id
}

const UNCHANGED: Changes = { kept: [], edited: [], added: [], removed: [], reordered: false }
