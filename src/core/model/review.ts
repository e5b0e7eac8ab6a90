import type { Check } from '../proof/check.ts'
import { defined } from './defined.ts'
import { cleanRowFields } from './fields.ts'
import type { Instant } from './instant.ts'
import type { ToolsetName } from './policy.ts'
import { invalidField, Refusal } from './refusal.ts'
import { REOPENABLE } from './review-action.ts'
import { BLANK, differentFields, type Row, visibleFields } from './row.ts'
import { LIMITS, Problem, prose } from './text.ts'

export type ReviewStatus = 'pending' | 'confirmed' | 'cancelled' | 'expired'
/** A row that a model proposed. */
export interface DraftRow extends Row {
  /** The kind of agent it is for; not shown. */
  readonly agent_type?: string
  /** Its parent task; not shown. */
  readonly parent_id?: string
  /** Its place in the model's order; not shown. */
  readonly order?: number
  /** The hashes of its checks that the configuration allows. */
  readonly allowed?: readonly string[]
  /** Globs beyond its `scope` that name files which decide its checks. They count once a person adds them to it. */
  readonly asks_scope?: readonly string[]
}

/** A row of a decision, before validation. A draft row may be sent back unchanged. */
export type SubmittedRow = { readonly [K in keyof Row]?: Row[K] | undefined } & {
  /** Null: the row is new. If absent, the row is matched to the draft. */
  readonly draft_index?: number | null | undefined
  /** These are taken from the draft, whatever is sent. */
  readonly agent_type?: string | undefined
  readonly parent_id?: string | undefined
  readonly order?: number | undefined
  readonly allowed?: readonly string[] | undefined
  readonly asks_scope?: readonly string[] | undefined
  /** The hashes of the proposed checks that the person approves. */
  readonly approve?: readonly string[] | undefined
  /** The hashes of checks from elsewhere, such as a template: only `approve` approves them. */
  readonly inserted?: readonly string[] | undefined
}
export interface ConfirmedRow extends DraftRow {
  readonly draft_index?: number
  readonly approve?: readonly string[]
  readonly inserted?: readonly string[]
}

/** A person's comment on one row of the proposal, before validation. */
export type SentRowComment = {
  /** The index of the draft row, from 0. */
  readonly draft_index: number
  /** A comment for the agent on this row. */
  readonly comment: string
}
/** A person's comment on a row of the draft. */
export type RowComment = SentRowComment & {
  /** The proposed title. */
  readonly title: string
}

/** A proposal for a person to confirm or cancel. */
export interface ReviewRequest {
  /** A UUIDv7. */
  readonly review_id: string
  /** `pending` in the log. */
  readonly status: ReviewStatus
  readonly session_id: string
  /** The turn that asked. */
  readonly conversation_turn_id: string
  /** The tool call that asked; a reopened review has its own id here. */
  readonly tool_call_id: string
  /** The proposed tasks. */
  readonly draft_tasks: readonly DraftRow[]
  /** The timeout in milliseconds; null: none. */
  readonly timeout_ms: number | null
  /** The time at which it is cancelled without a decision; null: never. */
  readonly expires_at: Instant | null
  /** The host's id of the message that led to it. */
  readonly source_user_message_id?: string
  /** The host's id of the message that led to it. */
  readonly source_assistant_message_id?: string
  /** The toolset that asked. */
  readonly toolset: ToolsetName
  /** The tool that asked. */
  readonly tool: string
  /** A hash of the tool and its arguments, by which equal calls are recognized. */
  readonly call_hash?: string
  /** Commands of the workspace to pick a check from. */
  readonly commands?: readonly string[]
  /** The model sent checks that were dropped for lack of a workspace. */
  readonly unchecked?: true
  /** The review that a person reopened as this one. */
  readonly reopens?: string
  /** The review of the same turn that was sent back before this one. */
  readonly revises?: string
}

/**
 * A review in the state. Its draft is kept while it can be decided or reopened, or a plan that revises it can be
 * decided.
 */
export interface Review extends ReviewRequest {
  /** The time at which it was opened. */
  readonly asked_at: Instant
  /** The panels that show it. */
  readonly panels: readonly string[]
  /** The time at which it is cancelled because all panels were closed. */
  readonly closes_at: Instant | null
  /** The reason it was cancelled. */
  readonly reason?: string
  /** The edge that it was decided through. */
  readonly via?: string
  /** The review that reopens or revises it. */
  readonly successor?: string
}

/** The person's change to a row. */
export interface RowChange {
  readonly change: 'kept' | 'edited' | 'added'
  /** The draft row that it was made from; absent for an added one. */
  readonly draft_index?: number
}

/** A task that a confirm created, and the person's change to its row. */
export interface ConfirmedTask extends RowChange {
  readonly task_id: string
}

/** The person's changes to the draft, row by row. */
export type Changes = {
  /** Confirmed as proposed. */
  readonly kept: readonly Row[]
  /** As proposed and as confirmed. */
  readonly edited: readonly { readonly from: Row; readonly to: Row }[]
  /** Added by the person. */
  readonly added: readonly Row[]
  /** Not confirmed. */
  readonly removed: readonly Row[]
  /** True if the person changed the order. */
  readonly reordered: boolean
}

/** Reviews that a model may ask for in one turn. */
export const MAX_REVIEWS = 20

type Timed = Pick<Review, 'status' | 'expires_at' | 'closes_at'>

/** The time at which a pending review expires or closes; null if it has no deadline. */
export function dueAt({ expires_at, closes_at }: Timed): Instant | null {
  if (expires_at === null || closes_at === null) return expires_at ?? closes_at
  return closes_at < expires_at ? closes_at : expires_at
}

/** The reason a pending review is over at `now`, even if the log does not have its end yet. */
export function overdue(review: Timed, now: Instant): 'review_timeout' | 'panel_closed' | undefined {
  const due = dueAt(review)
  if (review.status !== 'pending' || due === null || now < due) return undefined
  return due === review.expires_at ? 'review_timeout' : 'panel_closed'
}

/** The status at `now`, even if the log does not have the expiry yet. */
export function statusAt(review: Timed, now: Instant): ReviewStatus {
  const reason = overdue(review, now)
  if (reason === undefined) return review.status
  return reason === 'review_timeout' ? 'expired' : 'cancelled'
}

export function requestOf(review: Review): ReviewRequest {
  const { asked_at: _asked, panels: _panels, closes_at: _closes, ...rest } = review
  const { reason: _reason, via: _via, successor: _successor, ...request } = rest
  return request
}

/**
 * True if a person may reopen it: it ended undecided, an MCP client's form decided it, or it was sent back and not
 * revised.
 */
export function isReopenable({ status, reason, via, successor }: Ended): boolean {
  if (successor !== undefined) return false
  if (status !== 'cancelled') return status === 'expired'
  return REOPENABLE.includes(reason ?? '') || via === 'mcp_form'
}

type Ended = Pick<Review, 'status'> & Partial<Pick<Review, 'reason' | 'via' | 'successor'>>

/** Merges the submitted rows with their draft rows and validates them; a refusal names the first invalid one. */
export function confirmedRows(draft: readonly DraftRow[], rows: readonly SubmittedRow[]): ConfirmedRow[] | Refusal {
  if (rows.length === 0) return new Refusal('batch_empty', {})
  if (rows.length > LIMITS.batch) {
    return new Refusal('batch_too_large', { limit: LIMITS.batch, got: rows.length })
  }
  const clean: CleanRow[] = []
  for (const [index, row] of rows.entries()) {
    const one = cleanRow(draft, row, index)
    if (one instanceof Refusal) return one
    clean.push(one)
  }
  const confirmed: ConfirmedRow[] = []
  for (const [index, row] of withDraftIndexes(draft, clean).entries()) {
    const one = mergedRow(draft, row, index)
    if (one instanceof Refusal) return one
    if (one.draft_index !== undefined && confirmed.some(({ draft_index }) => draft_index === one.draft_index)) {
      return invalidField('draft_index', { rule: 'duplicate', got: one.draft_index }, index)
    }
    if (one.status === 'doing' && confirmed.some(({ status }) => status === 'doing')) {
      return new Refusal('two_in_progress', { row: index, field: 'status' })
    }
    confirmed.push(one)
  }
  return confirmed
}

/** The non-empty comments on rows of the draft, in row order, or a refusal for the first invalid one. */
export function rowComments(
  draft: readonly DraftRow[],
  sent: readonly SentRowComment[] | undefined,
): readonly RowComment[] | Refusal {
  if (sent === undefined) return []
  if (!Array.isArray(sent)) return invalidField('row_comments', { rule: 'not_an_array' })
  const byRow = new Map<number, RowComment>()
  for (const [index, one] of (sent as readonly (Partial<SentRowComment> | null)[]).entries()) {
    const place = `row_comments[${index}]`
    if (typeof one !== 'object' || one === null) return invalidField(place, { rule: 'not_an_object' })
    const { draft_index = -1 } = one
    const row = Number.isInteger(draft_index) ? draft[draft_index] : undefined
    if (!row) {
      return invalidField(`${place}.draft_index`, { rule: 'out_of_range', min: 0, max: draft.length - 1 })
    }
    if (byRow.has(draft_index)) return invalidField(`${place}.draft_index`, { rule: 'duplicate', got: draft_index })
    const comment = prose(one.comment)
    if (comment instanceof Problem) return invalidField(`${place}.comment`, comment.fact)
    byRow.set(draft_index, { draft_index, title: row.title, comment })
  }
  return [...byRow.values()].filter(({ comment }) => comment !== '').sort((a, b) => a.draft_index - b.draft_index)
}

export function changeOf(draft: readonly DraftRow[], row: ConfirmedRow): RowChange {
  const { draft_index = -1 } = row
  const from = draft[draft_index]
  if (from === undefined) return { change: 'added' }
  return { change: sameRow(from, row) ? 'kept' : 'edited', draft_index }
}

export function changesBetween(draft: readonly DraftRow[], confirmed: readonly ConfirmedRow[]): Changes {
  const kept: Row[] = []
  const edited: { from: Row; to: Row }[] = []
  const added: Row[] = []
  for (const row of confirmed) {
    const from = draft[row.draft_index ?? -1]
    if (from === undefined) added.push(visibleFields(row))
    else if (sameRow(from, row)) kept.push(visibleFields(row))
    else edited.push({ from: visibleFields(from), to: visibleFields(row) })
  }
  const order = confirmed.flatMap(({ draft_index }) => draft_index ?? [])
  return {
    kept,
    edited,
    added,
    removed: draft.filter((_, index) => !order.includes(index)).map(visibleFields),
    reordered: order.some((index, place) => place > 0 && index < (order[place - 1] ?? index)),
  }
}

type CleanRow = { readonly [K in keyof Row]?: Row[K] } & {
  readonly draft_index?: number | null
  readonly approve?: readonly string[]
  readonly inserted?: readonly string[]
}

function cleanRow(draft: readonly DraftRow[], row: SubmittedRow, index: number): CleanRow | Refusal {
  if (typeof row !== 'object' || row === null) return invalidField('row', { rule: 'not_an_object' }, index)
  const { draft_index, approve, inserted } = row
  const names = draft_index ?? undefined
  if (names !== undefined && (!Number.isInteger(names) || draft[names] === undefined)) {
    return invalidField('draft_index', { rule: 'out_of_range', min: 0, max: draft.length - 1 }, index)
  }
  const fields = cleanRowFields(row, index)
  if (fields instanceof Refusal) return fields
  return { ...fields, ...defined({ draft_index, approve, inserted }) }
}

/**
 * Matches rows without a `draft_index` to free draft rows: to one that is equal in every field the row has, else to one
 * with its title, else to the one in its place. Rows with more fields choose first, because they fit fewer. Places are
 * not matched if rows were removed, or if the sender names draft rows, because it knows which rows are new.
 */
function withDraftIndexes(draft: readonly DraftRow[], rows: readonly CleanRow[]): CleanRow[] {
  const found = rows.map(({ draft_index }) => draft_index ?? undefined)
  const match = (at: number, fits: (from: DraftRow, index: number) => boolean): void => {
    if (rows[at]?.draft_index !== undefined || found[at] !== undefined) return
    const index = draft.findIndex((from, each) => !found.includes(each) && fits(from, each))
    if (index >= 0) found[at] = index
  }
  const fields = (at: number): number => Object.keys(rows[at] ?? {}).length
  const titled = [...rows.keys()].filter(at => rows[at]?.title !== undefined)
  for (const at of titled.toSorted((a, b) => fields(b) - fields(a))) {
    match(at, from => sameRow(from, { ...from, ...rows[at] }))
  }
  for (const at of titled) match(at, ({ title }) => title === rows[at]?.title)
  if (rows.length >= draft.length && rows.every(({ draft_index }) => draft_index === undefined)) {
    for (const at of titled) match(at, (_, index) => index === at && isWhole(rows[at]))
  }
  return rows.map((row, at) => ({ ...row, ...(found[at] === undefined ? {} : { draft_index: found[at] }) }))
}

/** True if the row has every field of the second design's panel. A row with fewer fields may be a new one. */
const isWhole = ({ title, details, priority, status, tags }: CleanRow = {}): boolean =>
  ![title, details, priority, status, tags].includes(undefined)

function mergedRow(
  draft: readonly DraftRow[],
  { draft_index, ...row }: CleanRow,
  index: number,
): ConfirmedRow | Refusal {
  const named = typeof draft_index === 'number' ? { draft_index } : {}
  const merged = { ...visibleFields(BLANK), ...draft[draft_index ?? -1], ...row, ...named }
  if (merged.title === BLANK.title) return invalidField('title', { rule: 'empty' }, index)
  const hashes = new Set((merged.checks ?? []).map(({ hash }) => hash))
  if (row.approve?.some(hash => !hashes.has(hash))) {
    return invalidField('approve', { rule: 'invalid', expected: "hashes of this row's checks" }, index)
  }
  return merged
}

/**
 * The checks of a confirmed row that may run: approved by hash, newly written by the person, or allowed by the
 * configuration.
 */
export function approvedIn(draft: readonly DraftRow[], row: ConfirmedRow): { person: Check[]; configuration: Check[] } {
  const from = draft[row.draft_index ?? -1]
  // Of all rows: a check sent back with another row was not written by the person either.
  const proposed = new Set([
    ...draft.flatMap(({ checks = [] }) => checks.map(({ hash }) => hash)),
    ...(row.inserted ?? []),
  ])
  const isPersons = ({ hash }: Check): boolean => !proposed.has(hash) || (row.approve?.includes(hash) ?? false)
  const checks = row.checks ?? []
  return {
    person: checks.filter(isPersons),
    configuration: checks.filter(check => !isPersons(check) && (from?.allowed?.includes(check.hash) ?? false)),
  }
}

export const sameRow = (a: Row, b: Row): boolean => differentFields(a, b).length === 0
