import type { CommandOf, Rules } from '../model/command.ts'
import { type Conversation, fold, stamped } from '../model/conversation.ts'
import type { DecisionVia, EventData, NewEvent } from '../model/event.ts'
import type { Instant } from '../model/instant.ts'
import { idIsTaken, Refusal } from '../model/refusal.ts'
import { confirmedRows, isReopenable, overdue, requestOf, type Review, statusAt } from '../model/review.ts'
import type { Decision } from '../model/review-action.ts'
import type { Row } from '../model/row.ts'
import { isId } from '../model/text.ts'
import { isFinished, type Turn } from '../model/turn.ts'
import { cancelled, deadlineOf, decideReview, reviewNotFound } from './reviews.ts'
import { turnRunning } from './tasks.ts'
import { continueTurn } from './turns.ts'

export type DecisionCommand =
  | {
      readonly type: 'decide_review'
      readonly review_id: string
      readonly decision: Decision
      readonly via: DecisionVia
      /** Ids for the tasks that a confirm creates, at least one per row. */
      readonly ids: readonly string[]
      /** Ids for the turn that continues a reopened plan, used if its own turn is over. */
      readonly continuation?: { readonly turn_id: string; readonly message_id: string }
    }
  | {
      readonly type: 'reopen_review'
      readonly review_id: string
      readonly new_review_id: string
    }

export const DECISION_RULES: Rules<DecisionCommand> = {
  decide_review: decideAndContinue,
  reopen_review: reopenReview,
}

/** Opens a new review with the draft of the old one, which stays as it ended. */
function reopenReview(
  state: Conversation,
  { review_id, new_review_id }: CommandOf<'reopen_review'>,
  now: Instant,
): NewEvent[] | Refusal {
  const review = state.reviews.get(review_id)
  if (!review || !state.policy) return reviewNotFound(review_id)
  if (!isId(new_review_id) || state.reviews.has(new_review_id)) return idIsTaken('review_id')
  const reason = overdue(review, now)
  if (!reason && !isReopenable(review)) return notReopenable(review, now)
  const turn_id = review.conversation_turn_id
  // Its model has already gone on.
  if (state.running_turn === turn_id) return turnRunning(turn_id)
  const { revises: _, ...request } = requestOf(review)
  const data = {
    ...request,
    ...deadlineOf(state.policy, now),
    review_id: new_review_id,
    status: 'pending' as const,
    // The call that asked was answered when the old review ended.
    tool_call_id: new_review_id,
    reopens: review_id,
  }
  const ended = reason ? [cancelled(review, reason, 'system')] : []
  return [...ended, { type: 'task_create_review_required', turn_id, data }]
}

/** Decides a review. If a reopened plan's own turn is over, a new turn continues it in the same commit. */
function decideAndContinue(
  state: Conversation,
  command: CommandOf<'decide_review'>,
  now: Instant,
): NewEvent[] | Refusal {
  const decided = decideReview(state, command, now)
  const review = state.reviews.get(command.review_id)
  const turn = state.turns.get(review?.conversation_turn_id ?? '')
  const { continuation, decision } = command
  if (decided instanceof Refusal || !review?.reopens || !turn || !continuation) return decided
  if ((decision.action !== 'confirm' && decision.action !== 'revise') || !wasOurs(turn)) return decided
  const events = decided.map(event => continuedBy(event, continuation.turn_id))
  const rows = decision.tasks ? confirmedRows(review.draft_tasks, decision.tasks) : review.draft_tasks
  if (rows instanceof Refusal) return rows
  const message = { ...continuation, message: messageFor(events, rows, decision.tasks !== undefined) }
  const started = continueTurn(fold(state, stamped(state, events, now)), turn, message, now)
  return started instanceof Refusal ? started : [...events, ...started]
}

/** Turns of external agents have no model. */
export const wasOurs = (turn: Turn): turn is Turn & { readonly model: string } =>
  turn.model !== undefined && isFinished(turn)

function continuedBy(event: NewEvent, continued_by: string): NewEvent {
  return event.type === 'task_create_review_resolved' ? { ...event, data: { ...event.data, continued_by } } : event
}

/** The new turn's message to the model. People see it as their decision (`startedBy`). */
function messageFor(decided: readonly NewEvent[], rows: readonly Row[], isEdited: boolean): string {
  const [resolved] = decided.flatMap(({ type, data }) => (type === 'task_create_review_resolved' ? [data] : []))
  const { action, comment = '', row_comments = [] }: Partial<EventData['task_create_review_resolved']> = resolved ?? {}
  const onRows = row_comments.map(each => `\n- About "${each.title}": ${each.comment}`).join('')
  if (action === 'confirm') return `${`Go on with the plan I approved. ${comment}`.trim()}${onRows}`
  const titles = rows.map(({ title }) => `\n- ${title}`).join('')
  return `${`Change the plan: ${comment}`.trim()}${onRows}\n${isEdited ? 'My version of it' : 'The plan'}:${titles}`
}

function notReopenable(review: Review, now: Instant): Refusal {
  const { review_id, successor } = review
  const status = statusAt(review, now)
  return new Refusal('review_not_reopenable', { review_id, status, ...(successor === undefined ? {} : { successor }) })
}
