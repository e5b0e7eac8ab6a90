import { useLayoutEffect } from 'react'
import type { Review } from 'runsheet/client'
import { useStored } from './use-stored.ts'

export interface TextOwner {
  /** A review waits, and the text in the message box was begun before it: it is no part of a decision. */
  readonly isFromBefore: boolean
  /** Makes it one. */
  readonly useForReview: () => void
}

/** What the text in the message box was begun for: a message, or the review that waited then. A reload keeps it. */
export function useTextOwner(session: string, text: string, review: Review | undefined): TextOwner {
  const [owner, setOwner] = useStored(`runsheet.box-for.${session}`, '')
  const waiting = review?.review_id ?? ''
  const isEmpty = text.trim() === ''
  useLayoutEffect(() => {
    if (isEmpty) setOwner(waiting)
  }, [isEmpty, waiting, setOwner])
  return {
    isFromBefore: review !== undefined && !isEmpty && owner !== waiting && owner !== review.reopens,
    useForReview: () => setOwner(waiting),
  }
}
