import type { CommandOf, Rules } from '../model/command.ts'
import type { Conversation } from '../model/conversation.ts'
import type { DecisionVia, NewEvent } from '../model/event.ts'
import { defined } from '../model/defined.ts'
import { plusMs, type Instant } from '../model/instant.ts'
import { MAX_REVIEW_TIMEOUT_MS, TOOLSETS, type Policy } from '../model/policy.ts'
import { Refusal, idIsTaken, invalidField } from '../model/refusal.ts'
import {
  MAX_REVIEWS,
  approvedIn,
  changeOf,
  changesBetween,
  confirmedRows,
  overdue,
  rowComments,
  type Changes,
  type ConfirmedRow,
  type DraftRow,
  type Review,
  type RowChange,
  type RowComment,
} from '../model/review.ts'
import { CANCELLING, type Said } from '../model/review-action.ts'
import { BLANK, ROW_STATUS, TASK_STATUS, visibleFields } from '../model/row.ts'
import { isOpen } from '../model/task.ts'
import { LIMITS, Problem, isId, line, prose } from '../model/text.ts'
import { approved, planLook } from './requests.ts'
import { ListEditor, sourcesOf, type Draft } from './list-editor.ts'

export type ReviewCommand =
  | {
      readonly type: 'extend_review'
      readonly review_id: string
      /** The minimum wait from now. Default: the original timeout. */
      readonly ms?: number | undefined
    }
  | { readonly type: 'expire_review'; readonly review_id: string }
  | { readonly type: 'show_panel'; readonly review_id: string; readonly panel: string }
  | { readonly type: 'leave_panel'; readonly review_id: string; readonly panel: string }

export const REVIEW_RULES: Rules<ReviewCommand> = {
  extend_review: extendReview,
  expire_review: expireReview,
  show_panel: showPanel,
  leave_panel: leavePanel,
}

const MAX_HELD_MS = 60_000

type Decide = CommandOf<'decide_review'>

/** Asks a person to review a model's new tasks. No task is written until they confirm. */
export function reviewRequired(
  state: Conversation,
  command: CommandOf<'edit_tasks'>,
  drafts: readonly Draft[],
  policy: Policy,
  now: Instant,
): NewEvent[] | Refusal {
  if (!command.review || !command.turn_id) {
    return new Refusal('persons_only', { action: 'create_tasks' })
  }
  const { review_id, tool_call_id, toolset, tool, call_hash, commands, unchecked } = command.review
  if (!isId(review_id) || state.reviews.has(review_id)) return idIsTaken('review_id')
  const opening = drafts.filter(({ status = 'pending' }) => isOpen({ status }))
  const open = state.open.length + opening.length
  if (open > LIMITS.open) return new Refusal('too_many_open', { limit: LIMITS.open, got: open })
  const sources = sourcesOf(command)
  if (sources instanceof Refusal) return sources
  const earlier = reviewsOf(state, command.turn_id)
  if (earlier.filter(({ reopens }) => reopens === undefined).length >= MAX_REVIEWS) {
    return new Refusal('too_many_reviews', { limit: MAX_REVIEWS })
  }
  const sentBack = earlier.findLast(({ reason, successor }) => reason === 'changes_requested' && !successor)
  return [
    ...superseded(state, command.turn_id, earlier, now),
    {
      type: 'task_create_review_required',
      turn_id: command.turn_id,
      data: {
        review_id,
        status: 'pending',
        session_id: state.session_id,
        conversation_turn_id: command.turn_id,
        tool_call_id,
        toolset,
        tool,
        ...(call_hash === undefined ? {} : { call_hash }),
        draft_tasks: drafts.map(asRow),
        ...deadlineOf(policy, now),
        ...sources,
        ...(commands?.length ? { commands } : {}),
        ...(unchecked ? { unchecked } : {}),
        ...(sentBack ? { revises: sentBack.review_id } : {}),
      },
    },
  ]
}

export function decideReview(state: Conversation, command: Decide, now: Instant): NewEvent[] | Refusal {
  const review = pendingReview(state, command.review_id, now)
  if (review instanceof Refusal) return review
  const { decision, via } = command
  const said = saidIn(review, decision)
  if (said instanceof Refusal) return said
  if (decision.action === 'confirm') return confirm(state, review, decision.tasks, command.ids, via, said, now)
  if (decision.action === 'revise') return sendBack(review, decision, via, said)
  const reason = line(decision.reason ?? CANCELLING[decision.action].reason, LIMITS.reference)
  if (reason instanceof Problem) return invalidField('reason', reason.fact)
  const { held_ms } = decision
  if (held_ms !== undefined && !(Number.isInteger(held_ms) && held_ms >= 0 && held_ms <= MAX_HELD_MS)) {
    return invalidField('held_ms', { rule: 'out_of_range', min: 0, max: MAX_HELD_MS })
  }
  return [cancelled(review, reason, via, said, held_ms === undefined ? {} : { held_ms })]
}

/** Extends a review's deadline; an earlier deadline changes nothing. */
function extendReview(
  state: Conversation,
  { review_id, ms }: CommandOf<'extend_review'>,
  now: Instant,
): NewEvent[] | Refusal {
  const review = pendingReview(state, review_id, now)
  if (review instanceof Refusal) return review
  if (review.expires_at === null) return new Refusal('review_without_deadline', { review_id })
  const wait = ms ?? review.timeout_ms
  if (!Number.isInteger(wait) || wait === null || wait < 1 || wait > MAX_REVIEW_TIMEOUT_MS) {
    return invalidField('ms', { rule: 'out_of_range', min: 1, max: MAX_REVIEW_TIMEOUT_MS })
  }
  const expires_at = plusMs(now, wait)
  if (expires_at <= review.expires_at) return []
  return [{ type: 'review_extended', turn_id: review.conversation_turn_id, data: { review_id, expires_at } }]
}

/** Expiry is an ordinary command: any process may send it, and the first one wins. */
function expireReview(state: Conversation, command: CommandOf<'expire_review'>, now: Instant): NewEvent[] | Refusal {
  const review = state.reviews.get(command.review_id)
  if (!review) return reviewNotFound(command.review_id)
  const reason = overdue(review, now)
  return reason ? [cancelled(review, reason, 'system')] : []
}

function showPanel(state: Conversation, command: CommandOf<'show_panel'>, now: Instant): NewEvent[] | Refusal {
  const review = pendingReview(state, command.review_id, now)
  if (review instanceof Refusal) return review
  const panel = line(command.panel, LIMITS.reference)
  if (panel instanceof Problem) return invalidField('panel', panel.fact)
  if (review.panels.includes(panel)) return []
  return [panelEvent('review_panel_opened', review, panel)]
}

function leavePanel(state: Conversation, command: CommandOf<'leave_panel'>): NewEvent[] | Refusal {
  const review = state.reviews.get(command.review_id)
  if (!review) return reviewNotFound(command.review_id)
  const panel = line(command.panel, LIMITS.reference)
  if (panel instanceof Problem) return invalidField('panel', panel.fact)
  return review.panels.includes(panel) ? [panelEvent('review_panel_left', review, panel)] : []
}

export function cancelReviewsOf(state: Conversation, turnId: string, now: Instant): NewEvent[] {
  return state.pending_reviews
    .flatMap(id => state.reviews.get(id) ?? [])
    .filter(review => review.conversation_turn_id === turnId)
    .map(review => cancelled(review, overdue(review, now) ?? 'turn_stopped', 'system'))
}

interface CleanSaid {
  readonly comment?: string
  readonly row_comments?: readonly RowComment[]
}

function saidIn({ draft_tasks }: Review, { comment: raw = '', row_comments }: Said): CleanSaid | Refusal {
  const comment = prose(raw)
  if (comment instanceof Problem) return invalidField('comment', comment.fact)
  const onRows = rowComments(draft_tasks, row_comments)
  if (onRows instanceof Refusal) return onRows
  return { ...(comment === '' ? {} : { comment }), ...(onRows.length > 0 ? { row_comments: onRows } : {}) }
}

function reviewsOf({ reviews }: Conversation, turnId: string): Review[] {
  return [...reviews.values()]
    .filter(review => review.conversation_turn_id === turnId)
    .sort((a, b) => (a.asked_at < b.asked_at ? -1 : 1))
}

/**
 * An agent elsewhere that proposes a new plan no longer waits for its older one. Our own turns cannot do this: they are
 * parked.
 */
function superseded(state: Conversation, turnId: string, earlier: readonly Review[], now: Instant): NewEvent[] {
  if (state.turns.get(turnId)?.status !== 'open') return []
  return earlier
    .filter(({ status, toolset }) => status === 'pending' && toolset && TOOLSETS[toolset].plans)
    .map(review => cancelled(review, overdue(review, now) ?? 'superseded', 'system'))
}

function confirm(
  state: Conversation,
  review: Review,
  submitted: Parameters<typeof confirmedRows>[1],
  ids: readonly string[],
  via: DecisionVia,
  said: CleanSaid,
  now: Instant,
): NewEvent[] | Refusal {
  const rows = confirmedRows(review.draft_tasks, submitted)
  if (rows instanceof Refusal) return rows
  const changes = changesBetween(review.draft_tasks, rows)
  const drafts: Draft[] = []
  for (const [index, row] of rows.entries()) {
    const id = ids[index]
    if (id === undefined || state.tasks.has(id) || ids.indexOf(id) !== index) return idIsTaken('id', index)
    const { order, parent_id, ...draft } = asDraft(review, row, id)
    drafts.push({
      ...draft,
      // The person's order wins over the requested one. The parent may have been removed during the review.
      ...(order === undefined || changes.reordered ? {} : { order }),
      ...(parent_id === undefined || !state.tasks.has(parent_id) ? {} : { parent_id }),
    })
  }
  const editor = new ListEditor(state, now, 'person', review.conversation_turn_id)
  editor.create(drafts, review.conversation_turn_id)
  const events = editor.finish()
  if (events instanceof Refusal) return events
  const turnId = review.conversation_turn_id
  const approvals = rows.flatMap((row, index) => {
    const task = { id: ids[index] ?? '' }
    const { person, configuration } = approvedIn(review.draft_tasks, row)
    return [
      ...approved(state, task, person, 'review', turnId),
      ...approved(state, task, configuration, 'configuration', turnId),
    ]
  })
  const made = rows.map((row, index) => ({ task_id: ids[index] ?? '', ...changeOf(review.draft_tasks, row) }))
  const data = {
    review_id: review.review_id,
    action: 'confirm' as const,
    ...said,
    via,
    created_count: rows.length,
    changes,
    tasks: made,
  }
  const look = planLook(state, turnId)
  return [...events, ...approvals, ...look, { type: 'task_create_review_resolved', turn_id: turnId, data }]
}

export function deadlineOf({ review_timeout_ms: ms }: Policy, now: Instant): Pick<Review, 'timeout_ms' | 'expires_at'> {
  return { timeout_ms: ms, expires_at: ms === null ? null : plusMs(now, ms) }
}

function sendBack(
  review: Review,
  { tasks }: Extract<Decide['decision'], { readonly action: 'revise' }>,
  via: DecisionVia,
  said: CleanSaid,
): NewEvent[] | Refusal {
  if (!said.comment && !said.row_comments) return invalidField('comment', { rule: 'empty' })
  const rows = tasks && confirmedRows(review.draft_tasks, tasks)
  if (rows instanceof Refusal) return rows
  const { draft_tasks: draft } = review
  const sent = rows && { changes: changesBetween(draft, rows), rows: rows.map(row => changeOf(draft, row)) }
  return [cancelled(review, CANCELLING.revise.reason, via, said, sent)]
}

function pendingReview(state: Conversation, id: string, now: Instant): Review | Refusal {
  const review = state.reviews.get(id)
  if (!review) return reviewNotFound(id)
  const reason = overdue(review, now)
  if (review.status === 'expired' || reason === 'review_timeout') {
    return new Refusal('review_expired', { review_id: id })
  }
  if (review.status !== 'pending' || reason) {
    return new Refusal('review_already_decided', { review_id: id, status: reason ? 'cancelled' : review.status })
  }
  return review
}

export const reviewNotFound = (id: string): Refusal => new Refusal('review_not_found', { review_id: id })

export function cancelled(
  review: Review,
  reason: string,
  via: DecisionVia,
  said: CleanSaid = {},
  more: { readonly changes?: Changes; readonly rows?: readonly RowChange[]; readonly held_ms?: number } = {},
): NewEvent {
  const data = {
    review_id: review.review_id,
    action: 'cancel' as const,
    reason,
    ...said,
    via,
    created_count: 0,
    ...more,
  }
  return { type: 'task_create_review_resolved', turn_id: review.conversation_turn_id, data }
}

function panelEvent(type: 'review_panel_opened' | 'review_panel_left', review: Review, panel: string): NewEvent {
  return { type, turn_id: review.conversation_turn_id, data: { review_id: review.review_id, panel } }
}

function asRow(draft: Draft): DraftRow {
  const { status = 'pending', agent_type, parent_id, order, allowed, asks_scope } = draft
  const row = { ...BLANK, ...draft, status: status === 'cancelled' ? 'todo' : ROW_STATUS[status] }
  return {
    ...visibleFields(row),
    ...defined({ agent_type, parent_id, order }),
    ...(allowed?.length ? { allowed } : {}),
    ...(asks_scope?.length ? { asks_scope } : {}),
  }
}

function asDraft(review: Review, row: ConfirmedRow, id: string): Draft {
  const { draft_index, status, ...sent } = row
  const { approve: _approve, allowed: _allowed, asks_scope: _asks, inserted: _inserted, ...fields } = sent
  const { source_user_message_id, source_assistant_message_id } = review
  return {
    ...fields,
    ...(source_user_message_id === undefined ? {} : { source_user_message_id }),
    ...(source_assistant_message_id === undefined ? {} : { source_assistant_message_id }),
    status: TASK_STATUS[status],
    id,
    created_by: draft_index === undefined ? 'user' : 'tool',
  }
}
