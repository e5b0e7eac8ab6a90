import { useEffect, useState } from 'react'
import type { ReviewRequest } from '../domain/review.ts'
import { type Draft, draftOf } from './draft.ts'

const keyOf = (id: string): string => `runsheet.review.${id}`

/** A person's edits of a review: a reload brings them back, and a decision forgets them. */
export function useDraft(review: ReviewRequest): readonly [Draft, (draft: Draft) => void, () => void] {
  const [draft, setDraft] = useState(() => kept(review) ?? draftOf(review))
  useEffect(() => keep(review.review_id, draft), [review.review_id, draft])
  return [draft, setDraft, () => forget(review.review_id)]
}

function kept({ review_id }: ReviewRequest): Draft | undefined {
  try {
    const text = sessionStorage.getItem(keyOf(review_id)) ?? localStorage.getItem(keyOf(review_id))
    const draft = text === null ? undefined : (JSON.parse(text) as Partial<Draft> | null)
    return Array.isArray(draft?.rows) ? { comment: '', ...draft, rows: draft.rows } : undefined
  } catch {
    // Storage that is closed to us costs a reload's memory, nothing else.
    return undefined
  }
}

/** Of this window; and for the next one, should this be closed by a crash. */
function keep(id: string, draft: Draft): void {
  try {
    sessionStorage.setItem(keyOf(id), JSON.stringify(draft))
    localStorage.setItem(keyOf(id), JSON.stringify(draft))
  } catch {
    // As above: nothing is lost while the window lives.
  }
}

export function forget(id: string): void {
  try {
    sessionStorage.removeItem(keyOf(id))
    localStorage.removeItem(keyOf(id))
  } catch {
    // There was nothing to forget.
  }
}
