import type { Review } from '../domain/review.ts'
import { type EditableRow, firstUntitled, MAX_ROWS, newRow, type RowFields } from './draft.ts'
import { moveItem } from './reorder.ts'
import { type RunsheetSource, useRunsheet } from './runsheet-provider.tsx'
import { type ReviewError, useDecision } from './use-decision.ts'
import { type EarlierEdits, useDraft } from './use-draft.ts'
import { useNow } from './use-now.ts'
import { type ReviewOutcomeHandle, useReviewOutcome } from './use-review-outcome.ts'
import { useReviewPresence } from './use-review-presence.ts'

/** What keeps a draft from being confirmed. */
export type DraftProblem = { readonly kind: 'no_rows' } | { readonly kind: 'no_title'; readonly row: number }

/** A pending review: its rows, how to edit them, and how to decide. */
export interface ReviewHandle {
  /** The review that waits for a decision. Without one, the draft is empty and nothing can be sent. */
  readonly review: Review | undefined
  readonly rows: readonly EditableRow[]
  readonly comment: string
  /** Whether the draft differs from the proposal. */
  readonly isEdited: boolean
  readonly edit: (key: string, fields: Partial<RowFields>) => void
  readonly move: (from: number, to: number) => void
  /** Appends rows, as many as fit; returns how many were added. */
  readonly add: (rows?: readonly Partial<RowFields>[]) => number
  readonly remove: (key: string) => void
  readonly setComment: (comment: string) => void
  /** Edits of an earlier proposal that was never decided. */
  readonly earlierEdits: EarlierEdits | undefined
  readonly problem: DraftProblem | undefined
  readonly confirm: () => Promise<void>
  readonly cancel: () => Promise<void>
  /** A decision is on its way. */
  readonly isBusy: boolean
  /** Why the last decision was not accepted. */
  readonly error: ReviewError | undefined
  /** Milliseconds until the review times out, updated every second; undefined before the first effect, or without a deadline. */
  readonly remainingMs: number | undefined
  /** How the last review ended, where this person did not decide it here. */
  readonly outcome: ReviewOutcomeHandle | undefined
}

/**
 * The review of a conversation without any UI: the draft, its edits, and the decision. Edits are saved in the browser,
 * and the server is told that the page shows the review. Call it once per conversation and pass the handle down.
 */
export function useReview(source?: RunsheetSource): ReviewHandle {
  const { client, view } = useRunsheet(source)
  const { conversation } = view.state
  const review = conversation.reviews[conversation.pending_reviews[0] ?? '']
  const { draft, update, isEdited, forget, earlierEdits } = useDraft(review, conversation)
  const decision = useDecision({
    client,
    reviewId: review?.review_id,
    draft,
    onAccepted: forget,
    onRefresh: view.retry,
  })
  useReviewPresence(client, review?.review_id, view.state.status === 'live')
  const now = useNow(client, review !== undefined)
  const outcome = useReviewOutcome(view, decision.sent)
  const { rows, comment } = draft
  const setRows = (change: (rows: readonly EditableRow[]) => readonly EditableRow[]): void =>
    update(before => ({ ...before, rows: change(before.rows) }))
  return {
    review,
    rows,
    comment,
    isEdited,
    edit: (key, fields) => {
      decision.clearRowError(key)
      setRows(before => before.map(row => (row.key === key ? { ...row, ...fields } : row)))
    },
    move: (from, to) => setRows(before => moveItem(before, from, to)),
    add: (more = [{}]) => {
      const added = more.slice(0, Math.max(0, MAX_ROWS - rows.length)).map(newRow)
      setRows(before => [...before, ...added].slice(0, MAX_ROWS))
      return added.length
    },
    remove: key => setRows(before => before.filter(row => row.key !== key)),
    setComment: text => update(before => ({ ...before, comment: text })),
    earlierEdits,
    problem: draftProblem(rows),
    confirm: () => decision.send('confirm'),
    cancel: () => decision.send('cancel'),
    isBusy: decision.isBusy,
    error: decision.error,
    remainingMs:
      review && now !== undefined && review.expires_at !== null ? Date.parse(review.expires_at) - now : undefined,
    outcome,
  }
}

function draftProblem(rows: readonly EditableRow[]): DraftProblem | undefined {
  if (rows.length === 0) return { kind: 'no_rows' }
  const row = firstUntitled(rows)
  return row === undefined ? undefined : { kind: 'no_title', row }
}
