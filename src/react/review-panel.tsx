import { type ReactElement, useEffect, useState } from 'react'
import type { Client } from '../client/client.ts'
import { PendingReview } from './pending-review.tsx'
import { ReviewOutcome, type Resolution, useResolution } from './review-outcome.tsx'
import type { ConversationView } from './use-conversation.ts'
import type { Action } from './use-decision.ts'
import { forget } from './use-draft.ts'

export interface ReviewPanelProps {
  readonly client: Client
  readonly view: ConversationView
  /** Asks the agent to propose again, after nobody decided in time. Without it there is no such button. */
  readonly onAskAgain?: (turnId: string) => void
}

const BECOMES = { confirm: 'confirmed', cancel: 'cancelled' } as const

/** The review that waits in a conversation; and, until it is put away, what became of the one before. */
export function ReviewPanel({ client, view, onAskAgain }: ReviewPanelProps): ReactElement | null {
  const { conversation } = view.state
  const [pendingId] = conversation.pending_reviews
  const [shown, setShown] = useState<string>()
  // What was decided in this window; what another one or the clock decided is said.
  const [mine, setMine] = useState<{ readonly id: string; readonly action: Action }>()
  const resolution: Resolution | undefined = useResolution(view)
  const pending = pendingId === undefined ? undefined : conversation.reviews.get(pendingId)
  useEffect(() => setShown(was => pendingId ?? was), [pendingId])
  const last = shown === undefined ? undefined : conversation.reviews.get(shown)
  const isOver = last !== undefined && last.status !== 'pending'
  useEffect(() => {
    if (isOver) forget(last.review_id)
  }, [isOver, last?.review_id])
  if (pending) {
    return (
      <PendingReview
        key={pending.review_id}
        client={client}
        view={view}
        review={pending}
        onDecide={action => setMine(action && { id: pending.review_id, action })}
      />
    )
  }
  if (!isOver || (mine?.id === last.review_id && BECOMES[mine.action] === last.status)) return null
  return (
    <ReviewOutcome
      review={last}
      resolution={resolution}
      onClose={() => setShown(undefined)}
      // While the turn still answers, another one would be refused.
      {...(onAskAgain && view.state.conversation.running_turn === null
        ? { onAskAgain: () => onAskAgain(last.conversation_turn_id) }
        : {})}
    />
  )
}
