import { useLayoutEffect } from 'react'
import type { Review } from 'runsheet/client'
import { useStored } from '../parts/use-stored.ts'

export interface TextOwner {
  /** The text is older than the waiting review, so it is not part of the decision. */
  readonly isFromBefore: boolean
  readonly useForReview: () => void
}

/** Tracks whether the text was begun as a message or for the waiting review. Survives a reload. */
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
