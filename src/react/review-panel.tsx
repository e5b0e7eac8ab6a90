import { type ReactElement, useEffect, useState } from 'react'
import type { Client } from '../client/client.ts'
import { reviewsInOrder } from './in-order.ts'
import { PendingReview } from './pending-review.tsx'
import { isPutAway, putAway } from './put-away.ts'
import { ReviewOutcome } from './review-outcome.tsx'
import type { ConversationView } from './use-conversation.ts'
import type { Action } from './use-decision.ts'
import { forget, isKept } from './use-draft.ts'
import { noLongerShown } from './use-panel.ts'

/** The props of `ReviewPanel`. */
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
  const pending = pendingId === undefined ? undefined : conversation.reviews[pendingId]
  const last = reviewsInOrder(conversation).at(-1)
  // What this window has shown as waiting, has decided itself, and has put away.
  const [seen, setSeen] = useState<string>()
  const [mine, setMine] = useState<{ readonly id: string; readonly action: Action }>()
  const [away, setAway] = useState<string>()
  const resolution = last && view.state.resolutions[last.review_id]
  useEffect(() => setSeen(was => pendingId ?? was), [pendingId])
  // What a person decided, here or elsewhere, needs no edits any longer; what nobody did may be asked for again.
  const isDecided = last?.status === 'confirmed' || (resolution !== undefined && resolution.via !== 'system')
  useEffect(() => {
    if (isDecided && last) forget(last.review_id)
  }, [isDecided, last?.review_id])
  useEffect(() => {
    if (last && last.status !== 'pending') noLongerShown(last.review_id)
  }, [last?.review_id, last?.status])
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
  if (!last || last.conversation_turn_id !== conversation.latest_turn) return null
  if (away === last.review_id || isPutAway(last.review_id)) return null
  if (mine?.id === last.review_id && BECOMES[mine.action] === last.status) return null
  const isUndecided =
    last.status === 'expired' || (resolution?.via === 'system' && resolution.reason === 'panel_closed')
  // Whoever comes later is told what is left to do, not what others did.
  if (seen !== last.review_id && !isUndecided) return null
  return (
    <ReviewOutcome
      review={last}
      reason={resolution?.reason}
      keepsChanges={isUndecided && isKept(last.review_id)}
      onClose={() => {
        putAway(last.review_id)
        setAway(last.review_id)
      }}
      // While the turn still answers, another one would be refused.
      {...(onAskAgain && isUndecided && conversation.running_turn === null
        ? {
            onAskAgain: () => {
              onAskAgain(last.conversation_turn_id)
              setAway(last.review_id)
            },
          }
        : {})}
    />
  )
}
