import type { Conversation } from './conversation.ts'
import type { StoredEvent } from './event.ts'
import { isBack } from './removed.ts'
import type { Task } from './task.ts'

/**
 * Why an event cannot be the next of a log, given the state before it; undefined if it can. Its form was checked before:
 * this is about its place, and about what it refers to.
 */
export function eventProblem(state: Conversation, event: StoredEvent): string | undefined {
  if (event.session_id !== state.session_id) return `session_id is not ${state.session_id}`
  if (event.seq !== state.seq + 1) return `seq is ${event.seq}, expected ${state.seq + 1}`
  if (state.updated_at !== null && event.timestamp < state.updated_at)
    return 'timestamp is before that of the last event'
  return referenceProblem(state, event)
}

function referenceProblem(state: Conversation, { type, data }: StoredEvent): string | undefined {
  switch (type) {
    case 'task_created':
      return taskProblem(state, data.task) ?? (state.tasks.has(data.task.id) ? 'the task exists already' : undefined)
    case 'task_changed':
    case 'task_removed': {
      const isBrought = 'from' in data && isBack(data.from)
      const tasks = isBrought ? state.removed : state.tasks
      return taskProblem(state, data.task) ?? (tasks.has(data.task.id) ? undefined : 'there is no such task')
    }
    case 'task_create_review_required':
      if (data.session_id !== state.session_id) return `the review's session_id is not ${state.session_id}`
      return state.reviews.has(data.review_id) ? 'the review exists already' : undefined
    case 'task_create_review_resolved':
      return state.pending_reviews.includes(data.review_id) ? undefined : 'there is no such pending review'
    case 'review_panel_opened':
    case 'review_panel_left':
    case 'review_extended':
      return state.reviews.has(data.review_id) ? undefined : 'there is no such review'
    case 'message_queued':
      return isQueued(state, data.message_id) ? 'the message waits already' : undefined
    case 'queued_message_edited':
    case 'queued_message_withdrawn':
      return isQueued(state, data.message_id) ? undefined : 'there is no such queued message'
    case 'queue_released':
      return state.turns.has(data.turn_id) ? undefined : 'there is no such turn'
    case 'tool_approval_required':
      return isAsked(state, data.approval_id) ? 'the approval waits already' : undefined
    case 'tool_approval_resolved':
      return isAsked(state, data.approval_id) ? undefined : 'there is no such approval'
    case 'turn_opened':
    case 'turn_started':
      return state.turns.has(data.turn_id) ? 'the turn exists already' : undefined
    case 'turn_stop_requested':
    case 'turn_failed':
    case 'turn_finished':
      return state.turns.has(data.turn_id) ? undefined : 'there is no such turn'
    default:
      return undefined
  }
}

const isQueued = ({ queued }: Conversation, id: string): boolean => queued.some(({ message_id }) => message_id === id)

const isAsked = ({ approvals }: Conversation, id: string): boolean =>
  approvals.some(({ approval_id }) => approval_id === id)

const taskProblem = (state: Conversation, { session_id }: Task): string | undefined =>
  session_id === state.session_id ? undefined : `the task's session_id is not ${state.session_id}`
