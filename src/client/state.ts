import { type Conversation, emptyConversation } from '../domain/conversation.ts'
import { Table } from '../domain/table.ts'
import { isOpen } from '../domain/task.ts'
import type { SessionAnswer } from '../domain/wire.ts'

/** The state that a reader folds events onto, from what the server answers of a conversation. */
export function conversationOf(answer: SessionAnswer): Conversation {
  const { session, policy, turns, tasks, reviews, panels, seq, answered_seq, edits } = answer
  const pending = reviews.filter(({ status }) => status === 'pending')
  return {
    ...emptyConversation(session.session_id),
    seq,
    created_at: session.created_at,
    updated_at: session.updated_at,
    policy,
    tasks: Table.from(tasks.map(task => [task.id, task])),
    open: tasks.filter(isOpen).map(({ id }) => id),
    last_number: Math.max(0, ...tasks.map(({ number }) => number)),
    last_position: Math.max(0, ...tasks.map(({ position }) => position)),
    adopted: Table.from(turns.flatMap(({ turn_id, adopted }) => adopted.map(task => [task, turn_id] as const))),
    edits: Table.from(Object.entries(edits)),
    turns: Table.from(
      turns.map(({ turn_id: id, status, stop_requested, started_at, removed }) => [
        id,
        { id, status, stop_requested, started_at, removed },
      ]),
    ),
    running_turn: turns.find(({ status }) => status === 'running')?.turn_id ?? null,
    latest_turn: turns.at(-1)?.turn_id ?? null,
    reviews: Table.from(
      reviews.map(review => [review.review_id, { ...review, ...NO_PANEL, ...panels[review.review_id] }]),
    ),
    pending_reviews: pending.map(({ review_id }) => review_id),
    answered_seq,
  }
}

const NO_PANEL = { panels: [], closes_at: null } as const
