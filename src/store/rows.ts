import type { Conversation } from '../core/model/conversation.ts'
import { EVENT_VERSION, type EventData, type StoredEvent } from '../core/model/event.ts'
import type { Instant } from '../core/model/instant.ts'
import { needsOf, type Need } from '../core/model/needs.ts'
import { withoutOrigin } from '../core/model/origin.ts'
import { lastTurnOf, planById } from '../core/model/plan.ts'
import { dueAt, requestOf, type Review, type ReviewRequest } from '../core/model/review.ts'
import type { Task } from '../core/model/task.ts'
import { markOf, type SessionMark } from '../core/views/session-list.ts'
import { nameGiven, titleGiven } from '../core/views/view.ts'
import type { TurnStatus } from '../core/model/turn.ts'
import { eventsOf, type Commit } from './store.ts'
import { StoreError } from './store-error.ts'

/** The rows that queries read. One function derives them from the log, in the same transaction, for every store. */
export interface Rows {
  readonly conversation: ConversationRow
  readonly tasks: readonly TaskRow[]
  readonly turns: readonly TurnRow[]
  readonly reviews: readonly ReviewRow[]
}
export interface ConversationRow {
  readonly seq: number
  /** Used only if the conversation has no title yet. */
  readonly title: string | null
  /** Replaces any title. */
  readonly renamed: string | null
  readonly created_at: Instant
  readonly updated_at: Instant
  readonly active_at: Instant
  readonly pinned: boolean
  readonly archived: boolean
  readonly mark: SessionMark | null
}
export interface TaskRow {
  readonly id: string
  /** The event that holds the task. */
  readonly seq: number
  readonly removed: boolean
}
export interface TurnRow {
  readonly turn: string
  readonly status: TurnStatus
  /** The ability that the turn needs from a process next; claims select by it. */
  readonly needs: Need | null
}
export interface ReviewRow {
  readonly id: string
  readonly pending: boolean
  /** When a pending review expires; null without a deadline. */
  readonly due_at: Instant | null
  readonly body: ReviewRecord
}

/** A review with its drafts and its outcome; the state drops the drafts once the review is resolved. */
export interface ReviewRecord {
  readonly review: ReviewRequest
  readonly resolution: EventData['task_create_review_resolved'] | null
  /** The tasks that the approval created, as of then. */
  readonly tasks: readonly Task[]
}

/** An event as databases store it. A type, not an interface, so that a database row can be cast to it. */
export type EventRow = {
  readonly seq: number
  readonly v: number
  readonly type: string
  readonly turn_id: string | null
  readonly timestamp: Instant
  readonly data: string
}
export const EVENT_COLUMNS = 'seq, v, type, turn_id, timestamp, data'

export function eventOf(conversation: string, row: EventRow): StoredEvent {
  const { seq, v, type, turn_id, timestamp } = row
  if (v !== EVENT_VERSION) throw new StoreError('newer', 'An event was written by a newer Runsheet. Update Runsheet.')
  return { type, timestamp, seq, session_id: conversation, turn_id, data: JSON.parse(row.data) } as StoredEvent
}

export function taskIdOf({ data }: StoredEvent): string | undefined {
  if ('task' in data) return data.task.id
  return 'task_id' in data ? data.task_id : undefined
}

export function rowsOf(before: Conversation, after: Conversation, commits: readonly Commit[]): Rows {
  const events = eventsOf(commits)
  return {
    conversation: {
      seq: after.seq,
      title: titleGiven(before.turns.get(before.latest_turn ?? '')?.client, events),
      renamed: nameGiven(events),
      created_at: after.created_at ?? '',
      updated_at: after.updated_at ?? '',
      active_at: after.active_at ?? after.created_at ?? '',
      pinned: after.pinned,
      archived: after.archived,
      mark: markOf(after),
    },
    tasks: taskRows(events),
    turns: turnRows(before, after, events),
    reviews: reviewRows(before, after, commits),
  }
}

export const isListedAlike = (before: Conversation, row: ConversationRow): boolean =>
  before.active_at === row.active_at &&
  before.pinned === row.pinned &&
  before.archived === row.archived &&
  markOf(before) === row.mark

export const titleAfter = (known: string | null, { renamed, title }: ConversationRow): string | null =>
  renamed ?? known ?? title

export function decidedReview(
  before: Conversation,
  after: Conversation,
  events: readonly StoredEvent[],
  id: string,
): ReviewRecord {
  const row = reviewRows(before, after, [{ events }]).find(each => each.id === id)
  if (!row) throw new TypeError(`these events do not resolve ${id}`)
  return row.body
}

function taskRows(events: readonly StoredEvent[]): TaskRow[] {
  const rows = new Map<string, TaskRow>()
  for (const event of events) {
    if (event.type !== 'task_created' && event.type !== 'task_changed' && event.type !== 'task_removed') continue
    const { task } = event.data
    rows.set(task.id, { id: task.id, seq: event.seq, removed: task.removed_at !== undefined })
  }
  return [...rows.values()]
}

/** Only rows that differ: most commits change none, and that saves a page. */
function turnRows(before: Conversation, after: Conversation, events: readonly StoredEvent[]): TurnRow[] {
  return [...touchedTurns([before, after], events)].flatMap(turn => {
    const [old, row] = [turnRow(before, turn), turnRow(after, turn)]
    return !row || (old?.status === row.status && old.needs === row.needs) ? [] : [row]
  })
}

function turnRow(state: Conversation, turn: string): TurnRow | undefined {
  const status = state.turns.get(turn)?.status
  return status && { turn, status, needs: needsOf(state, turn) }
}

function touchedTurns(states: readonly Conversation[], events: readonly StoredEvent[]): ReadonlySet<string> {
  // Claims and requested runs may be about tasks that have moved to other plans since.
  const waiting = states.flatMap(({ claims, requests }) => [...claims.values(), ...requests])
  const turns = new Set(waiting.map(({ turn_id }) => turn_id))
  for (const event of events) {
    if (event.turn_id !== null) turns.add(event.turn_id)
    for (const id of taskIdsOf(event)) {
      for (const state of states) {
        const task = state.tasks.get(id)
        if (task) turns.add(lastTurnOf(planById(state, task.plan_id)))
      }
    }
  }
  return turns
}

function taskIdsOf(event: StoredEvent): readonly string[] {
  if (event.type === 'plan_joined') return event.data.task_ids
  const id = taskIdOf(event)
  return id === undefined ? [] : [id]
}

function reviewRows(
  before: Conversation,
  after: Conversation,
  commits: readonly Pick<Commit, 'events'>[],
): ReviewRow[] {
  const records = new Map<string, ReviewRecord>()
  for (const { events } of commits) {
    for (const event of events) {
      const changed = reviewAfter(event, events, id => records.get(id) ?? recordOf(before.reviews.get(id)))
      if (changed) records.set(changed.review.review_id, changed)
    }
  }
  return [...records].map(([id, record]) => {
    const status = after.reviews.get(id)?.status ?? record.review.status
    const pending = status === 'pending'
    return { id, pending, due_at: dueIn(after, id), body: { ...record, review: { ...record.review, status } } }
  })
}

function reviewAfter(
  event: StoredEvent,
  commit: readonly StoredEvent[],
  known: (id: string) => ReviewRecord | undefined,
): ReviewRecord | undefined {
  switch (event.type) {
    case 'task_create_review_required':
      return { review: withoutOrigin(event.data), resolution: null, tasks: [] }
    case 'review_panel_opened':
    case 'review_panel_left':
      return known(event.data.review_id)
    case 'review_extended': {
      const record = known(event.data.review_id)
      return record && { ...record, review: { ...record.review, expires_at: event.data.expires_at } }
    }
    case 'task_create_review_resolved': {
      const record = known(event.data.review_id)
      const tasks = event.data.action === 'confirm' ? createdIn(commit) : []
      return record && { ...record, resolution: event.data, tasks }
    }
    default:
      return undefined
  }
}

const createdIn = (commit: readonly StoredEvent[]): Task[] =>
  commit.flatMap(event => (event.type === 'task_created' ? [event.data.task] : []))

const recordOf = (review: Review | undefined): ReviewRecord | undefined =>
  review && { review: requestOf(review), resolution: null, tasks: [] }

function dueIn(state: Conversation, id: string): Instant | null {
  const review = state.reviews.get(id)
  return review?.status === 'pending' ? dueAt(review) : null
}
