import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { Resolution } from '../../../core/model/event.ts'
import type { ReviewRequest } from '../../../core/model/review.ts'
import type { ConversationSnapshot } from '../../../core/model/snapshot.ts'
import { reviewsInOrder } from '../parts/provider.tsx'
import {
  type Draft,
  draftOf,
  type EditableRow,
  isAsDecided,
  isEdited,
  rebaseDraft,
  type SavedDraft,
  sentDraft,
} from './draft.ts'

/** Unsent edits of an earlier review that can be applied to this one. */
export interface EarlierEdits {
  readonly restore: () => void
  readonly discard: () => void
}

interface EditedDraft {
  readonly draft: Draft
  readonly update: (change: (draft: Draft) => Draft) => void
  readonly isEdited: boolean
  readonly forget: () => void
  /** Unsent edits of an earlier proposal. */
  readonly earlierEdits: EarlierEdits | undefined
  readonly unsentEdits: UnsentEdits
}

export interface UnsentEdits {
  readonly of: (reviewId: string) => Draft | undefined
  readonly discard: (reviewId: string) => void
}

const NO_DRAFT: Draft = { rows: [], comment: '' }

/** Edits are saved until the review is decided, so that a reload restores them. */
export function useDraft(
  review: ReviewRequest | undefined,
  conversation: ConversationSnapshot,
  resolutions: Resolutions,
): EditedDraft {
  const id = review?.review_id
  const [edited, setEdited] = useState<{ readonly id: string; readonly draft: Draft }>()
  const [earlier, setEarlier] = useState<string>()
  const proposal = useMemo(() => (review ? draftOf(review) : NO_DRAFT), [review])
  const draft = edited !== undefined && edited.id === id ? edited.draft : proposal
  const isChanged = review !== undefined && isEdited(draft, review)
  const update = (change: (draft: Draft) => Draft): void => {
    if (id === undefined) return
    setEdited(before => ({ id, draft: change(before?.id === id ? before.draft : proposal) }))
  }
  // Storage is read after the first render, which has to match the server's HTML.
  useLayoutEffect(() => {
    const saved = review && (loadDraft(review.review_id) ?? takeEdits(review, resolutions))
    if (id !== undefined && saved) setEdited({ id, draft: saved })
    setEarlier(id === undefined ? undefined : unsentBefore(id, conversation, resolutions))
    // Only when the review changes: later edits are this window's own.
  }, [id])
  // A window without edits does not overwrite what another window saved.
  const editedHere = useRef<{ readonly id: string; readonly draft: Draft }>(undefined)
  useEffect(() => {
    if (!review) return
    if (isChanged) saveDraft(review, draft)
    else if (editedHere.current?.id === review.review_id) removeDraft(review.review_id)
    editedHere.current = isChanged ? { id: review.review_id, draft } : undefined
  }, [review, draft, isChanged])
  const unsentEdits: UnsentEdits = {
    of: reviewId => (editedHere.current?.id === reviewId ? editedHere.current.draft : loadOwnDraft(reviewId)),
    discard: reviewId => {
      if (editedHere.current?.id === reviewId) editedHere.current = undefined
      removeDraft(reviewId)
    },
  }
  const discard = (): void => {
    if (earlier !== undefined) removeDraft(earlier)
    setEarlier(undefined)
  }
  const restore = (): void => {
    const saved = earlier === undefined ? undefined : loadDraft(earlier)
    if (saved && review) update(() => rebaseDraft(saved, review))
    discard()
  }
  const forget = (): void => {
    if (id !== undefined) unsentEdits.discard(id)
    discard()
  }
  return {
    draft,
    update,
    isEdited: isChanged,
    forget,
    earlierEdits: earlier === undefined ? undefined : { restore, discard },
    unsentEdits,
  }
}

type Resolutions = { readonly [review_id: string]: Resolution }

/** The edits of the reopened review. They are saved for the new review from here on. */
function takeEdits(review: ReviewRequest, resolutions: Resolutions): Draft | undefined {
  const { reopens } = review
  if (reopens === undefined) return undefined
  const saved = loadDraft(reopens)
  removeDraft(reopens)
  return saved ?? sentDraft(review, resolutions[reopens])
}

/** The newest proposal with unsent edits between the last confirmed review and this one. */
function unsentBefore(id: string, conversation: ConversationSnapshot, resolutions: Resolutions): string | undefined {
  const newestFirst = reviewsInOrder(conversation).toReversed()
  const before = newestFirst.slice(newestFirst.findIndex(({ review_id }) => review_id === id) + 1)
  const confirmed = before.findIndex(({ status }) => status === 'confirmed')
  const undecided = confirmed < 0 ? before : before.slice(0, confirmed)
  const isUnsent = (review: ReviewRequest): boolean => {
    const saved = loadDraft(review.review_id)
    return saved !== undefined && !isAsDecided(saved, review, resolutions[review.review_id])
  }
  return undecided.find(isUnsent)?.review_id
}

const keyOf = (reviewId: string): string => `runsheet.review.${reviewId}`

export const loadDraft = (reviewId: string): SavedDraft | undefined =>
  loadOwnDraft(reviewId) ?? readDraft(reviewId, () => localStorage)

const loadOwnDraft = (reviewId: string): SavedDraft | undefined => readDraft(reviewId, () => sessionStorage)

/** sessionStorage survives a reload of this window; localStorage lets a new window recover after a crash. */
function saveDraft({ review_id, draft_tasks }: ReviewRequest, { rows, comment }: Draft): void {
  try {
    const proposed = draft_tasks.map(({ title }) => title)
    const text = JSON.stringify({ rows, comment, proposed } satisfies SavedDraft)
    sessionStorage.setItem(keyOf(review_id), text)
    localStorage.setItem(keyOf(review_id), text)
  } catch {
    // Storage is blocked or full: edits last until the page is reloaded.
  }
}

function removeDraft(reviewId: string): void {
  removeFrom(reviewId, () => sessionStorage)
  removeSharedDraft(reviewId)
}

/** Other windows keep their own edits. */
export const removeSharedDraft = (reviewId: string): void => removeFrom(reviewId, () => localStorage)

// Accessing blocked storage throws.
function readDraft(reviewId: string, storage: () => Storage): SavedDraft | undefined {
  try {
    const text = storage().getItem(keyOf(reviewId))
    const draft = text === null ? undefined : (JSON.parse(text) as SavedDraft | null)
    return Array.isArray(draft?.rows) ? draft : undefined
  } catch {
    // Storage is blocked or damaged: edits last until the page is reloaded.
    return undefined
  }
}

function removeFrom(reviewId: string, storage: () => Storage): void {
  try {
    storage().removeItem(keyOf(reviewId))
  } catch {
    // Storage is blocked: nothing was saved.
  }
}

type Rows = readonly EditableRow[]

/** Typing in one field is one undo step until it pauses this long. */
const PAUSE_MS = 1_000

/** The undo and redo stacks of a review's rows, newest last. */
export interface RowHistory {
  readonly past: readonly Rows[]
  readonly future: readonly Rows[]
  readonly typed?: { readonly field: string; readonly at: number }
}

export const NO_HISTORY: RowHistory = { past: [], future: [] }

/** Records `rows` before a change; pass `field` while a person types in it. */
export function noted(history: RowHistory, rows: Rows, at: number, field?: string): RowHistory {
  const { past, typed } = history
  const isMoreTyping = field !== undefined && typed?.field === field && at - typed.at < PAUSE_MS
  // Several changes at once, such as to all selected rows, start from the same rows.
  const isKnown = past.length > 0 && (isMoreTyping || past.at(-1) === rows)
  const next = { past: isKnown ? past : [...past, rows], future: [] }
  return field === undefined ? next : { ...next, typed: { field, at } }
}

/** The history after an undo or redo step, and the resulting rows. */
export function stepped(
  history: RowHistory,
  rows: Rows,
  by: 'undo' | 'redo',
): { history: RowHistory; rows: Rows } | undefined {
  const { past, future } = history
  const to = (by === 'undo' ? past : future).at(-1)
  if (!to) return undefined
  const moved =
    by === 'undo'
      ? { past: past.slice(0, -1), future: [...future, rows] }
      : { past: [...past, rows], future: future.slice(0, -1) }
  return { history: moved, rows: to }
}

interface Undo {
  readonly canUndo: boolean
  readonly canRedo: boolean
  /** Call it before each change of the rows; pass `field` while a person types in it. */
  readonly changing: (rows: Rows, field?: string) => void
  /** The rows without the newest change; undefined if there is none. */
  readonly undone: (rows: Rows) => Rows | undefined
  /** The rows with the change that was undone last; undefined if there is none. */
  readonly redone: (rows: Rows) => Rows | undefined
}

/** Undo and redo for the rows of a review, including typed text. The browser's own undo cannot restore removed rows. */
export function useUndo(reviewId: string | undefined): Undo {
  const [kept, setKept] = useState<{ readonly id: string | undefined; readonly history: RowHistory }>()
  const historyOf = (all: typeof kept): RowHistory => (all?.id === reviewId ? all?.history : undefined) ?? NO_HISTORY
  const history = historyOf(kept)
  const step = (rows: Rows, by: 'undo' | 'redo'): Rows | undefined => {
    const to = stepped(history, rows, by)
    if (to) setKept({ id: reviewId, history: to.history })
    return to?.rows
  }
  return {
    canUndo: history.past.length > 0,
    canRedo: history.future.length > 0,
    changing: (rows, field) => {
      const at = performance.now()
      setKept(before => ({ id: reviewId, history: noted(historyOf(before), rows, at, field) }))
    },
    undone: rows => step(rows, 'undo'),
    redone: rows => step(rows, 'redo'),
  }
}
