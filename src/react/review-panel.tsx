import type { ReactElement } from 'react'
import type { Client } from '../client/client.ts'
import { PendingReview } from './pending-review.tsx'
import { ReviewOutcome } from './review-outcome.tsx'
import { type RunsheetSource, useRunsheet } from './runsheet-provider.tsx'
import type { ConversationView } from './use-conversation.ts'
import { type ReviewHandle, useReview } from './use-review.ts'

/** The props of `ReviewPanel`. */
export interface ReviewPanelProps {
  /** Needed only outside of a `RunsheetProvider`. */
  readonly client?: Client
  /** Needed only outside of a `RunsheetProvider`. */
  readonly view?: ConversationView
  /** What `useReview` returns, where the page itself needs it, too. */
  readonly handle?: ReviewHandle
  readonly className?: string
}

/** The review that waits for a decision, or how the last one ended until that is closed. */
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

function Panel({ source: { client, view }, handle, className }: PanelProps): ReactElement | null {
  const { review, outcome } = handle
  if (!review) return outcome ? <ReviewOutcome outcome={outcome} className={className} /> : null
  return (
    <PendingReview
      key={review.review_id}
      client={client}
      view={view}
      handle={handle}
      review={review}
      className={className}
    />
  )
}
