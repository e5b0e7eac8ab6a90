import { useEffect, useRef, useState } from 'react'
import type { ReviewRequest } from '../domain/review.ts'
import type { ConversationSnapshot } from '../domain/snapshot.ts'
import { type Draft, draftOf, isChanged, rebased } from './draft.ts'
import { reviewsInOrder } from './in-order.ts'

const keyOf = (id: string): string => `runsheet.review.${id}`

export interface EditedDraft {
  readonly draft: Draft
  readonly setDraft: (draft: Draft) => void
  readonly forgetDraft: () => void
  /** Edits of an earlier proposal that nobody decided on: they can be taken up, or let go. */
  readonly earlier: { readonly takeUp: () => void; readonly letGo: () => void } | undefined
}

/** A person's edits of a review: a reload brings them back, and a decision forgets them. */
export function useDraft(review: ReviewRequest, conversation: ConversationSnapshot): EditedDraft {
  const { review_id } = review
  const [draft, setDraft] = useState(() => kept(review_id) ?? draftOf(review))
  const [before, setBefore] = useState(() => undecidedBefore(review_id, conversation))
  // A window in which nothing was edited leaves alone what another one has kept.
  const wasChanged = useRef(false)
  useEffect(() => {
    const isEdited = isChanged(draft, review)
    if (isEdited) keep(review, draft)
    else if (wasChanged.current) forget(review_id)
    wasChanged.current = isEdited
  }, [review, review_id, draft])
  const letGo = (): void => {
    if (before !== undefined) forget(before)
    setBefore(undefined)
  }
  const takeUp = (): void => {
    const edits = before === undefined ? undefined : kept(before)
    if (edits) setDraft(rebased(edits, review))
    letGo()
  }
  const forgetDraft = (): void => {
    forget(review_id)
    letGo()
  }
  return { draft, setDraft, forgetDraft, earlier: before === undefined ? undefined : { takeUp, letGo } }
}

/** The newest of the proposals before this one, and after the last that was confirmed, that somebody had edited. */
function undecidedBefore(id: string, conversation: ConversationSnapshot): string | undefined {
  const newestFirst = reviewsInOrder(conversation).toReversed()
  const before = newestFirst.slice(newestFirst.findIndex(({ review_id }) => review_id === id) + 1)
  const confirmed = before.findIndex(({ status }) => status === 'confirmed')
  const undecided = confirmed < 0 ? before : before.slice(0, confirmed)
  return undecided.find(({ review_id }) => isKept(review_id))?.review_id
}

/** A draft as it was left, and the titles of the proposal that it was made of. */
export interface KeptDraft extends Draft {
  readonly of: readonly string[]
}

export const isKept = (id: string): boolean => kept(id) !== undefined

function kept(id: string): KeptDraft | undefined {
  try {
    const text = sessionStorage.getItem(keyOf(id)) ?? localStorage.getItem(keyOf(id))
    const draft = text === null ? undefined : (JSON.parse(text) as Partial<KeptDraft> | null)
    return Array.isArray(draft?.rows) ? { comment: '', of: [], ...draft, rows: draft.rows } : undefined
  } catch {
    // Storage that is closed to us costs a reload's memory, nothing else.
    return undefined
  }
}

/** Of this window; and for the next one, should this be closed by a crash. */
function keep({ review_id, draft_tasks }: ReviewRequest, { rows, comment }: Draft): void {
  try {
    const text = JSON.stringify({ rows, comment, of: draft_tasks.map(({ title }) => title) } satisfies KeptDraft)
    sessionStorage.setItem(keyOf(review_id), text)
    localStorage.setItem(keyOf(review_id), text)
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
