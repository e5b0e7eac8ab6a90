import { disputeIn } from '../proof/dispute.ts'
import type { EventData, StoredEvent } from '../model/event.ts'
import type { Instant } from '../model/instant.ts'

/** The payload of a webhook: ids and counts, never texts. */
export type Notice =
  | Told<
      'review_waiting',
      {
        readonly session_id: string
        readonly turn_id: string
        readonly review_id: string
        /** The number of steps in the plan. */
        readonly steps: number
        readonly expires_at: Instant | null
      }
    >
  | Told<
      'dispute_waiting',
      {
        readonly session_id: string
        readonly turn_id: string
        readonly task_id: string
        /** The number of disputes of this task. */
        readonly count: number
      }
    >
  | Told<
      'turn_finished',
      { readonly session_id: string } & Pick<
        EventData['turn_finished'],
        'turn_id' | 'status' | 'because' | 'remaining' | 'counts' | 'standings'
      >
    >
export type NoticeType = Notice['type']

interface Told<T extends string, D> {
  readonly type: T
  /** The time of the event. */
  readonly timestamp: Instant
  readonly data: D
}

/** The person who reopened a review knows of it and gets no notice. */
export const isTold = (event: StoredEvent): boolean => {
  const { type, data } = event
  if (type === 'task_create_review_required') return data.reopens === undefined
  return type === 'turn_finished' || disputeIn(event) !== undefined
}

export function noticeOf(event: StoredEvent): Notice | undefined {
  const { session_id, timestamp } = event
  if (!isTold(event)) return undefined
  switch (event.type) {
    case 'task_create_review_required': {
      const { review_id, conversation_turn_id: turn_id, draft_tasks, expires_at } = event.data
      const data = { session_id, turn_id, review_id, steps: draft_tasks.length, expires_at }
      return { type: 'review_waiting', timestamp, data }
    }
    case 'task_changed': {
      const { id: task_id, dispute } = event.data.task
      const data = { session_id, turn_id: event.turn_id ?? '', task_id, count: dispute?.count ?? 0 }
      return { type: 'dispute_waiting', timestamp, data }
    }
    case 'turn_finished': {
      const { turn_id, status, because, remaining, counts, standings } = event.data
      const data = { session_id, turn_id, status, because, remaining, counts, standings }
      return { type: 'turn_finished', timestamp, data }
    }
    default:
      return undefined
  }
}
