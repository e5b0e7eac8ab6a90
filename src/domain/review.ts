import { Refusal } from './errors.ts'
import { cleanFields, invalidField, type SomeFields } from './fields.ts'
import type { Instant } from './instant.ts'
import type { Priority, TaskStatus } from './task.ts'
import { LIMITS } from './text.ts'

export type RowStatus = 'todo' | 'doing' | 'blocked' | 'done'
export type ReviewStatus = 'pending' | 'confirmed' | 'cancelled' | 'expired'
export type CancelReason = 'user_cancelled' | 'review_timeout' | 'panel_closed' | 'turn_stopped'

/** A row as a person sees and edits it. */
export interface Row {
  readonly title: string
  readonly details: string
  readonly criteria: string
  readonly priority: Priority
  readonly status: RowStatus
  readonly tags: readonly string[]
}

/** A proposed row: what is seen, and what goes along unseen. */
export interface DraftRow extends Row {
  readonly agent_type?: string
  readonly parent_id?: string
  readonly order?: number
}

/** A row of a decision, as it comes in. */
export type SubmittedRow = { readonly [K in keyof Row]?: Row[K] | undefined } & {
  readonly draft_index?: number | undefined
}
export interface ConfirmedRow extends DraftRow {
  readonly draft_index?: number
}

/** What is put before a person, as it is stored, sent and shown. */
export interface ReviewRequest {
  readonly review_id: string
  readonly status: ReviewStatus
  readonly session_id: string
  readonly conversation_turn_id: string
  readonly tool_call_id: string
  readonly draft_tasks: readonly DraftRow[]
  readonly timeout_ms: number
  readonly expires_at: Instant
  readonly source_user_message_id?: string
  readonly source_assistant_message_id?: string
}

export interface Review extends ReviewRequest {
  /** The panels that show it now. */
  readonly panels: readonly string[]
  /** When it counts as closed, because the last panel left and none came back. */
  readonly closes_at: Instant | null
}

/** What the person did to the draft, row by row. */
export interface Changes {
  readonly kept: readonly Row[]
  readonly edited: readonly { readonly from: Row; readonly to: Row }[]
  readonly added: readonly Row[]
  readonly removed: readonly Row[]
  readonly reordered: boolean
}

export const TASK_STATUS: Record<RowStatus, TaskStatus> = {
  todo: 'pending',
  doing: 'in_progress',
  blocked: 'blocked',
  done: 'completed',
}
export const ROW_STATUS: Record<Exclude<TaskStatus, 'cancelled'>, RowStatus> = {
  pending: 'todo',
  in_progress: 'doing',
  blocked: 'blocked',
  completed: 'done',
}

const BLANK: Omit<DraftRow, 'title'> = { details: '', criteria: '', priority: 'medium', status: 'todo', tags: [] }

/** The moment at which a pending review is over by itself. */
export const dueAt = (review: Review): Instant =>
  review.closes_at !== null && review.closes_at < review.expires_at ? review.closes_at : review.expires_at

/** Why a pending review is over by itself, if it is: before any sweep has written so. */
export function overdue(review: Review, now: Instant): 'review_timeout' | 'panel_closed' | undefined {
  if (review.status !== 'pending' || now < dueAt(review)) return undefined
  return dueAt(review) === review.expires_at ? 'review_timeout' : 'panel_closed'
}

/** The status that anybody who asks at `now` is told. */
export function statusAt(review: Review, now: Instant): ReviewStatus {
  const reason = overdue(review, now)
  if (reason === undefined) return review.status
  return reason === 'review_timeout' ? 'expired' : 'cancelled'
}

/** The rows that a person submitted, each laid over its draft and checked again; or the first that is wrong. */
export function confirmedRows(draft: readonly DraftRow[], rows: readonly SubmittedRow[]): ConfirmedRow[] | Refusal {
  if (rows.length === 0)
    return new Refusal('batch_empty', 'A confirmed plan needs at least 1 task; to write none, cancel.')
  if (rows.length > LIMITS.batch) {
    return new Refusal('batch_too_large', `A plan holds at most ${LIMITS.batch} tasks, got ${rows.length}.`)
  }
  const confirmed: ConfirmedRow[] = []
  const taken = new Set<number>()
  for (const [index, row] of rows.entries()) {
    const one = confirmedRow(draft, row, index)
    if (one instanceof Refusal) return one
    if (one.draft_index !== undefined) {
      if (taken.has(one.draft_index)) return invalidField('draft_index', `${one.draft_index} stands in two rows`, index)
      taken.add(one.draft_index)
    }
    if (one.status === 'doing' && confirmed.some(other => other.status === 'doing')) {
      return invalidField('status', 'must be doing in one row at most', index)
    }
    confirmed.push(one)
  }
  return confirmed
}

export function changesBetween(draft: readonly DraftRow[], confirmed: readonly ConfirmedRow[]): Changes {
  const kept: Row[] = []
  const edited: { from: Row; to: Row }[] = []
  const added: Row[] = []
  const order: number[] = []
  for (const row of confirmed) {
    const from = row.draft_index === undefined ? undefined : draft[row.draft_index]
    if (row.draft_index === undefined || from === undefined) {
      added.push(visible(row))
      continue
    }
    order.push(row.draft_index)
    if (sameRow(from, row)) kept.push(visible(row))
    else edited.push({ from: visible(from), to: visible(row) })
  }
  return {
    kept,
    edited,
    added,
    removed: draft.filter((_, index) => !order.includes(index)).map(visible),
    reordered: order.some((index, place) => place > 0 && index < (order[place - 1] ?? index)),
  }
}

function confirmedRow(draft: readonly DraftRow[], row: SubmittedRow, index: number): ConfirmedRow | Refusal {
  if (typeof row !== 'object' || row === null) return invalidField('row', 'must be an object with a title', index)
  const from = row.draft_index
  if (from !== undefined && (!Number.isInteger(from) || draft[from] === undefined)) {
    return invalidField('draft_index', `must be a row of the draft, 0 to ${draft.length - 1}`, index)
  }
  if (row.status !== undefined && !isRowStatus(row.status)) {
    return invalidField('status', `must be one of ${Object.keys(TASK_STATUS).join(', ')}`, index)
  }
  const { title, details, criteria, priority, tags } = row
  const fields = cleanFields({ title, details, criteria, priority, tags } satisfies SomeFields, index)
  if (fields instanceof Refusal) return fields
  const base = from === undefined ? BLANK : { ...BLANK, ...draft[from] }
  const merged = { ...base, ...fields, status: row.status ?? base.status }
  if (typeof merged.title !== 'string') return invalidField('title', 'must not be empty', index)
  return { ...merged, title: merged.title, ...(from === undefined ? {} : { draft_index: from }) }
}

const isRowStatus = (raw: unknown): raw is RowStatus => typeof raw === 'string' && Object.hasOwn(TASK_STATUS, raw)

function visible({ title, details, criteria, priority, status, tags }: Row): Row {
  return { title, details, criteria, priority, status, tags }
}

const sameRow = (a: Row, b: Row): boolean => JSON.stringify(visible(a)) === JSON.stringify(visible(b))
