import { useEffect, useState } from 'react'
import { planOf } from '../../../core/model/plan.ts'
import type { ConfirmedTask, Review, RowComment } from '../../../core/model/review.ts'
import type { Row } from '../../../core/model/row.ts'
import { sentBackRows } from '../../../core/views/plan-card.ts'
import {
  MAX_ROWS,
  areRowsEdited,
  asProposed,
  commentedRows,
  draftTally,
  firstUntitled,
  moveItem,
  newRow,
  restored,
  rowChange,
  type DraftTally,
  type EditableRow,
  type RowFields,
} from './draft.ts'
import { reviewsInOrder, useRunsheet, type ConversationView, type RunsheetSource } from '../parts/provider.tsx'
import { draftChecks, type ReviewChecks, type TypedCheck } from './draft-checks.ts'
import {
  sentBeforeReload,
  useDecision,
  useMoreTime,
  type Decision,
  type MoreTime,
  type ReviewError,
} from './decision.ts'
import { useDraft, useUndo, type EarlierEdits } from './use-draft.ts'
import { useNow } from '../parts/hooks.ts'
import { isRejectedHere, useRejection, type Rejection } from './rejection.ts'
import { useReviewOutcome, useReviewPresence, type Reopening, type ReviewOutcomeHandle } from './outcome.ts'

/** Why a draft cannot be confirmed. */
export type DraftProblem = { readonly kind: 'no_rows' } | { readonly kind: 'no_title'; readonly row: number }

/** A text field of the page, such as its message box, that holds the comment. */
export interface CommentField {
  readonly text: string
  /** The text is about something else and is not part of a decision. */
  readonly isApart?: boolean
  readonly setText: (text: string) => void
  readonly focus: () => void
}

/** The source of a review and the field for its comment. */
export interface ReviewSource extends RunsheetSource {
  /** Without it, the comment is part of the draft and `ReviewPanel` renders a field for it. */
  readonly commentField?: CommentField
}

/** A pending review: its rows, edits and decision. */
export interface ReviewHandle {
  /** The pending review. Without one, the draft is empty and nothing can be sent. */
  readonly review: Review | undefined
  /** The number of other pending reviews of the conversation. They follow one at a time. */
  readonly others: number
  /** The changes that the person requested in the previous plan, which this one revises. */
  readonly requestedChanges: string | undefined
  /** The person's comments on rows of the previous plan. */
  readonly requestedOnRows: readonly RowComment[]
  /** The plan that this one revises. */
  readonly revised: Review | undefined
  /** The rows as the person sent them back, with their edits; `revisionOf` compares them with this plan. */
  readonly sentBack: readonly Row[] | undefined
  readonly rows: readonly EditableRow[]
  readonly comment: string
  /** The page's own field for the comment. */
  readonly commentField: CommentField | undefined
  /** True if the draft differs from the proposal. */
  readonly isEdited: boolean
  readonly edit: (key: string, fields: Partial<RowFields>) => void
  readonly move: (from: number, to: number) => void
  /** Inserts as many rows as fit, by default one at the end; returns how many were added. */
  readonly add: (rows?: readonly Partial<RowFields>[], at?: number) => number
  readonly remove: (key: string) => void
  /** The checks of the rows, for the person to read and approve. */
  readonly checks: ReviewChecks
  /** How the person changed a row. */
  readonly changeOf: (row: EditableRow) => ConfirmedTask['change']
  /** The number of differences between the rows and the proposal, by kind. */
  readonly tally: DraftTally
  /** Resets one row to its proposed content and place, or all rows. Comments stay. */
  readonly reset: (key?: string) => void
  /** Restores a removed proposed row. */
  readonly restore: (draftIndex: number) => void
  /** Undoes the last change of the rows, including typed text. Returns the resulting rows. */
  readonly undo: () => readonly EditableRow[] | undefined
  /** Redoes the change that was undone last. */
  readonly redo: () => readonly EditableRow[] | undefined
  readonly canUndo: boolean
  readonly canRedo: boolean
  readonly setComment: (comment: string) => void
  /** Unsent edits of an earlier proposal. */
  readonly earlierEdits: EarlierEdits | undefined
  readonly problem: DraftProblem | undefined
  readonly confirm: () => Promise<void>
  readonly cancel: () => Promise<void>
  /** Rejects the plan after ten seconds, or when the page is left, unless it is undone. */
  readonly reject: () => void
  /** A rejection that is not sent yet. */
  readonly rejection: Rejection | undefined
  /**
   * Requests changes, by default with the comment, and sends the person's edits along. Without any comment, on a row
   * either, it sends nothing and focuses `commentField`.
   */
  readonly revise: (comment?: string) => Promise<void>
  /** Changes were requested without any comment, and none was added since. */
  readonly isRequestEmpty: boolean
  /** A decision is in flight. */
  readonly isBusy: boolean
  /** Why the last decision was refused. */
  readonly error: ReviewError | undefined
  /** Milliseconds until the deadline, updated every second; undefined before the first effect or without a deadline. */
  readonly remainingMs: number | undefined
  /** Undefined without a deadline. */
  readonly moreTime: MoreTime | undefined
  /** The outcome of the last review, if it was not decided here or a request for changes got no new plan. */
  readonly outcome: ReviewOutcomeHandle | undefined
  /** The newest plan, if it can be reopened now. */
  readonly reopening: Reopening | undefined
}

/**
 * A headless review of a conversation: the draft, its edits and the decision. Saves edits in the browser and tells the
 * server that the page shows the review. Call it once per conversation and pass the handle down.
 */
export function useReview(source: ReviewSource = {}): ReviewHandle {
  const { client, view } = useRunsheet(source)
  const { commentField } = source
  const { conversation, resolutions } = view.state
  const review = conversation.reviews[conversation.pending_reviews[0] ?? '']
  const { draft, update, isEdited, forget, earlierEdits, unsentEdits } = useDraft(review, conversation, resolutions)
  const comment = commentField?.isApart ? '' : (commentField?.text ?? draft.comment)
  const decision = useDecision({
    client,
    reviewId: review?.review_id,
    draft,
    comment,
    areRowsEdited: review !== undefined && areRowsEdited(draft, review),
    onAccepted: forget,
    onRefresh: view.retry,
  })
  useReviewPresence(client, review?.review_id, view.state.status === 'live')
  const deadline = review?.expires_at ?? undefined
  const now = useNow(client, deadline !== undefined)
  const { reject, rejection } = useRejection({
    client,
    reviewId: review?.review_id,
    expiresAt: review?.expires_at,
    reviews: conversation.reviews,
    decision,
  })
  useSaidComment(commentField, view, decision.sent)
  const ended = useReviewOutcome(client, view, decision.sent, unsentEdits)
  const undo = useUndo(review?.review_id)
  const { rows } = draft
  const turn = conversation.turns[review?.conversation_turn_id ?? '']
  const moreTime = useMoreTime(client, review, view.retry)
  const putRows = (change: (rows: readonly EditableRow[]) => readonly EditableRow[]): void =>
    update(before => ({ ...before, rows: change(before.rows) }))
  const setRows: SetRows = (change, field) => {
    // A change without effect is not an undo step.
    if (JSON.stringify(change(rows)) !== JSON.stringify(rows)) undo.changing(rows, field)
    putRows(change)
  }
  const put = (stepped: readonly EditableRow[] | undefined): readonly EditableRow[] | undefined => {
    if (stepped) putRows(() => stepped)
    return stepped
  }
  const send = async (...what: Parameters<Decision['send']>): Promise<void> => {
    await decision.send(...what)
  }
  const [asked, setAsked] = useState<string>()
  const [typed, setTyped] = useState<TypedCheck>()
  const isSaid = (text: string): boolean => text.trim() !== '' || commentedRows(rows).length > 0
  const revise = async (text = comment): Promise<void> => {
    if (isSaid(text)) return send('revise', text)
    setAsked(review?.review_id)
    commentField?.focus()
  }
  const revised = conversation.reviews[review?.revises ?? '']
  const request = resolutions[review?.revises ?? '']
  return {
    review,
    others: Math.max(0, conversation.pending_reviews.length - 1),
    requestedChanges: request?.comment,
    requestedOnRows: request?.row_comments ?? [],
    revised,
    sentBack: revised && sentBackRows(revised.draft_tasks, request),
    rows,
    comment,
    commentField,
    isEdited,
    edit: (key, fields) => {
      decision.clearRowError(key)
      const [field, ...others] = Object.keys(fields)
      const isTyped = others.length === 0 && field !== 'priority' && field !== 'status'
      setRows(withFields(key, fields), isTyped ? `${key} ${field}` : undefined)
    },
    move: (from, to) => setRows(before => moveItem(before, from, to)),
    add: (more = [{}], at = rows.length) => {
      const added = more.slice(0, Math.max(0, MAX_ROWS - rows.length)).map(newRow)
      if (added.length > 0) setRows(before => before.toSpliced(at, 0, ...added))
      return added.length
    },
    remove: key => setRows(before => before.filter(row => row.key !== key)),
    checks: draftChecks({
      rows,
      setRows,
      proposed: review?.draft_tasks.flatMap(({ checks = [] }) => checks) ?? [],
      areOffered: turn?.workspace !== undefined,
      ofPlan: turn ? (planOf(conversation, turn.id).done_checks ?? []) : [],
      commands: review?.commands ?? [],
      typed,
      setTyped,
      onEdit: decision.clearRowError,
    }),
    tally: review ? draftTally(rows, review) : { edited: 0, added: 0, removed: 0, isReordered: false },
    changeOf: row => (review ? rowChange(row, review) : 'added'),
    reset: key => {
      if (review) setRows(before => asProposed(before, review, key))
    },
    restore: index => {
      if (review && rows.length < MAX_ROWS) setRows(before => restored(before, review, index))
    },
    undo: () => put(undo.undone(rows)),
    redo: () => put(undo.redone(rows)),
    canUndo: undo.canUndo,
    canRedo: undo.canRedo,
    setComment: commentField?.setText ?? (text => update(before => ({ ...before, comment: text }))),
    earlierEdits: earlierEdits && {
      ...earlierEdits,
      restore: () => {
        undo.changing(rows)
        earlierEdits.restore()
      },
    },
    problem: draftProblem(rows),
    confirm: () => send('confirm'),
    cancel: () => send('cancel'),
    reject,
    rejection,
    revise,
    isRequestEmpty: review !== undefined && asked === review.review_id && !isSaid(comment),
    isBusy: decision.isBusy,
    error: decision.error,
    remainingMs: deadline === undefined || now === undefined ? undefined : Date.parse(deadline) - now,
    moreTime,
    ...ended,
  }
}

/** Clears the page's field once the log has its text, even after a reload. */
function useSaidComment(
  field: CommentField | undefined,
  { state: { conversation, resolutions } }: ConversationView,
  sentNow: Decision['sent'],
): void {
  const id = sentNow?.reviewId ?? reviewsInOrder(conversation).at(-1)?.review_id
  const sent = sentNow ?? (id === undefined ? undefined : sentBeforeReload(id))
  const resolution = id === undefined ? undefined : resolutions[id]
  const said = resolution?.comment ?? ''
  const isSent = sent ? sent.comment === said : id !== undefined && isRejectedHere(id)
  const isSaid = field !== undefined && resolution !== undefined && said !== '' && isSent
  useEffect(() => {
    if (isSaid && field.text.trim() === said) field.setText('')
    // Once per decision: the person may type the same text again.
  }, [isSaid, id])
}

/** Pass `field` while a person types in it: undo then merges the keystrokes into one change. */
type SetRows = (change: (rows: readonly EditableRow[]) => readonly EditableRow[], field?: string) => void

function draftProblem(rows: readonly EditableRow[]): DraftProblem | undefined {
  if (rows.length === 0) return { kind: 'no_rows' }
  const row = firstUntitled(rows)
  return row === undefined ? undefined : { kind: 'no_title', row }
}

const withFields = (key: string, fields: Partial<RowFields>) => (rows: readonly EditableRow[]) =>
  rows.map(row => (row.key === key ? { ...row, ...fields } : row))
