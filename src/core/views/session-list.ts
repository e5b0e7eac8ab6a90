import type { Conversation } from '../model/conversation.ts'
import type { EventType, StoredEvent } from '../model/event.ts'
import type { Instant } from '../model/instant.ts'

/**
 * The lists of conversations. `active`: for people; pinned ones first, then by last activity, without archived ones.
 * `archived`: only those, in the same order. `all`: every one by creation, so that paging misses none that exists
 * throughout.
 */
export const SESSION_LISTS = ['active', 'archived', 'all'] as const
/** The name of a list of conversations. */
export type SessionList = (typeof SESSION_LISTS)[number]

/**
 * Marks that a list shows beside a title: a review, a call or a dispute waits for a person, a turn of ours runs, or the latest
 * turn failed.
 */
const SESSION_MARKS = ['waiting', 'running', 'failed'] as const
/** The mark of a conversation in a list. */
export type SessionMark = (typeof SESSION_MARKS)[number]

export function markOf(state: Conversation): SessionMark | null {
  const { pending_reviews, approvals, disputed } = state
  if ([pending_reviews, approvals, disputed].some(waiting => waiting.length > 0)) return 'waiting'
  if (state.running_turn !== null) return 'running'
  return state.turns.get(state.latest_turn ?? '')?.status === 'failed' ? 'failed' : null
}

/** Events that do not count as activity: they concern the conversation's filing, or its viewers. */
const QUIET: ReadonlySet<EventType> = new Set([
  'title_set',
  'pin_set',
  'archive_set',
  'review_panel_opened',
  'review_panel_left',
])

/** Events that count to the millisecond, because people search for a conversation by them. */
const LANDMARKS: ReadonlySet<EventType> = new Set([
  'turn_opened',
  'turn_started',
  'turn_finished',
  'task_create_review_required',
  'task_create_review_resolved',
])

/**
 * The last activity of a conversation after one more event. Other activity counts to the minute, so that a busy
 * conversation changes its place and its row once a minute instead of with every event.
 */
export function activeAfter(known: Instant | null, { type, timestamp }: StoredEvent): Instant | null {
  if (QUIET.has(type)) return known
  const at = LANDMARKS.has(type) ? timestamp : minuteOf(timestamp)
  return known !== null && known > at ? known : at
}

const minuteOf = (at: Instant): Instant => `${at.slice(0, 'yyyy-mm-ddThh:mm'.length)}:00.000Z`
