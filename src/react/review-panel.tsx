import { type ReactElement, useState } from 'react'
import type { Client } from '../client/client.ts'
import { PendingReview } from './pending-review.tsx'
import { ReviewOutcome } from './review-outcome.tsx'
import { useRunsheet } from './runsheet-provider.tsx'
import type { ConversationView } from './use-conversation.ts'
import { useReview } from './use-review.ts'

/** The props of `ReviewPanel`. */
export interface ReviewPanelProps {
  /** Needed only outside of a `RunsheetProvider`. */
  readonly client?: Client
  /** Needed only outside of a `RunsheetProvider`. */
  readonly view?: ConversationView
  readonly className?: string
  /** Asks the agent to propose the plan again, after a review ended undecided. Without it there is no such button. */
  readonly onAskAgain?: (turnId: string, reviewId: string) => void
}

/** The review that waits for a decision, or how the last one ended until that is closed. */
export function ReviewPanel(props: ReviewPanelProps): ReactElement | null {
  const { className, onAskAgain } = props
  const source = useRunsheet(props)
  const { client, view } = source
  const handle = useReview(source)
  const [askedAgain, setAskedAgain] = useState<string>()
  const { review, outcome } = handle
  if (review) {
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
  if (!outcome || outcome.review.review_id === askedAgain) return null
  const { review_id, conversation_turn_id } = outcome.review
  // While a turn is running, the server would refuse another one.
  const canAskAgain = onAskAgain && outcome.isUndecided && view.state.conversation.running_turn === null
  return (
    <ReviewOutcome
      outcome={outcome}
      className={className}
      onAskAgain={
        canAskAgain
          ? () => {
              onAskAgain(conversation_turn_id, review_id)
              setAskedAgain(review_id)
            }
          : undefined
      }
    />
  )
}
