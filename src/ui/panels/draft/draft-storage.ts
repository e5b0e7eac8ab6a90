import type { ReviewRequest } from '../../../core/model/review.ts'
import type { Draft, SavedDraft } from './draft.ts'

const keyOf = (reviewId: string): string => `runsheet.review.${reviewId}`

export const loadDraft = (reviewId: string): SavedDraft | undefined =>
  loadOwnDraft(reviewId) ?? read(reviewId, () => localStorage)

export const loadOwnDraft = (reviewId: string): SavedDraft | undefined => read(reviewId, () => sessionStorage)

/** sessionStorage survives a reload of this window; localStorage lets a new window recover after a crash. */
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
  remove(reviewId, () => sessionStorage)
  removeSharedDraft(reviewId)
}

/** Other windows keep their own edits. */
export const removeSharedDraft = (reviewId: string): void => remove(reviewId, () => localStorage)

// Accessing blocked storage throws.
function read(reviewId: string, storage: () => Storage): SavedDraft | undefined {
  try {
    const text = storage().getItem(keyOf(reviewId))
    const draft = text === null ? undefined : (JSON.parse(text) as SavedDraft | null)
    return Array.isArray(draft?.rows) ? draft : undefined
  } catch {
    // Storage is blocked or damaged: edits last until the page is reloaded.
    return undefined
  }
}

function remove(reviewId: string, storage: () => Storage): void {
  try {
    storage().removeItem(keyOf(reviewId))
  } catch {
    // Storage is blocked: nothing was saved.
  }
}
