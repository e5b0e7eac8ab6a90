import { type ReactElement, Suspense, useEffect } from 'react'
import type { Client } from '../../../client/client.ts'
import { lazyPart } from '../parts/lazy-part.tsx'
import { type RunsheetSource, useRunsheet } from '../parts/runsheet-provider.tsx'
import type { ConversationView } from '../thread/use-conversation.ts'
import { type ReviewHandle, useReview } from './use-review.ts'

/** The props of `ReviewPanel`. */
export interface ReviewPanelProps {
  /** Required outside of a `RunsheetProvider`. */
  readonly client?: Client
  /** Required outside of a `RunsheetProvider`. */
  readonly view?: ConversationView
  /** The handle of `useReview`. Pass it if the page also uses it, or has its own comment field. */
  readonly handle?: ReviewHandle
  readonly className?: string
}

const PendingReview = lazyPart(() => import('./pending-review.tsx'))
const ReviewOutcome = lazyPart(() => import('./review-outcome.tsx'))

/** The pending review, or the outcome of the last one until it is dismissed. */
export function ReviewPanel(props: ReviewPanelProps): ReactElement | null {
  const source = useRunsheet(props)
  const { handle, className } = props
  if (handle) return <Panel source={source} handle={handle} className={className} />
  return <OwnPanel source={source} className={className} />
}

interface OwnPanelProps {
  readonly source: Required<RunsheetSource>
  readonly className: string | undefined
}

function OwnPanel({ source, className }: OwnPanelProps): ReactElement | null {
  const handle = useReview(source)
  return <Panel source={source} handle={handle} className={className} />
}

interface PanelProps extends OwnPanelProps {
  readonly handle: ReviewHandle
}

function Panel({ source: { client }, handle, className }: PanelProps): ReactElement | null {
  const { review, outcome } = handle
  // Preloaded, so that a review shows without delay.
  useEffect(() => {
    PendingReview.preload()
    ReviewOutcome.preload()
  }, [])
  if (!review && !outcome) return null
  return (
    <Suspense>
      {review ? (
        <PendingReview.Part
          key={review.review_id}
          client={client}
          handle={handle}
          review={review}
          className={className}
        />
      ) : (
        outcome && <ReviewOutcome.Part outcome={outcome} className={className} />
      )}
    </Suspense>
  )
}
