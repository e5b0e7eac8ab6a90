import type { ReviewRequest } from '../domain/review.ts'
import type { Draft, SavedDraft } from './draft.ts'

const keyOf = (reviewId: string): string => `runsheet.review.${reviewId}`

export const hasSavedDraft = (reviewId: string): boolean => loadDraft(reviewId) !== undefined

export function loadDraft(reviewId: string): SavedDraft | undefined {
  try {
    const text = sessionStorage.getItem(keyOf(reviewId)) ?? localStorage.getItem(keyOf(reviewId))
    const draft = text === null ? undefined : (JSON.parse(text) as Partial<SavedDraft> | null)
    return Array.isArray(draft?.rows) ? { comment: '', proposed: [], ...draft, rows: draft.rows } : undefined
  } catch {
    // Storage is blocked or damaged: edits last until the page is reloaded.
    return undefined
  }
}

/** In sessionStorage for a reload of this window, in localStorage for the next window after a crash. */
export function saveDraft({ review_id, draft_tasks }: ReviewRequest, { rows, comment }: Draft): void {
  try {
    const proposed = draft_tasks.map(({ title }) => title)
    const text = JSON.stringify({ rows, comment, proposed } satisfies SavedDraft)
    sessionStorage.setItem(keyOf(review_id), text)
    localStorage.setItem(keyOf(review_id), text)
  } catch {
    // Storage is blocked or full: edits last until the page is reloaded.
  }
}

export function removeDraft(reviewId: string): void {
  try {
    sessionStorage.removeItem(keyOf(reviewId))
    localStorage.removeItem(keyOf(reviewId))
  } catch {
    // Storage is blocked: nothing was saved.
  }
}
