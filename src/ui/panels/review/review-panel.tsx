import { type ReactElement, Suspense, useEffect } from 'react'
import type { Client } from '../../../client/client.ts'
import { lazyPart } from '../parts/lazy-part.tsx'
import { useRunsheet } from '../parts/provider.tsx'
import type { ConversationView } from '../hooks/use-conversation.ts'
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

const ReviewPart = lazyPart(() => import('./pending-review.tsx'))

/** The pending review, or the outcome of the last one until it is dismissed. */
export function ReviewPanel(props: ReviewPanelProps): ReactElement | null {
  return props.handle ? <Panel {...props} handle={props.handle} /> : <OwnPanel {...props} />
}

function OwnPanel(props: ReviewPanelProps): ReactElement | null {
  return <Panel {...props} handle={useReview(useRunsheet(props))} />
}

function Panel(props: ReviewPanelProps & { readonly handle: ReviewHandle }): ReactElement | null {
  const { handle, className } = props
  const { client } = useRunsheet(props)
  // Preloaded, so that a review shows without delay.
  useEffect(ReviewPart.preload, [])
  if (!handle.review && !handle.outcome) return null
  return (
    <Suspense>
      <ReviewPart.Part client={client} handle={handle} className={className} />
    </Suspense>
  )
}
