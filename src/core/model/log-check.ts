import type { Conversation } from './conversation.ts'
import type { StoredEvent } from './event.ts'
import { isBack } from '../views/removed.ts'
import type { Task } from './task.ts'

/**
 * The reason an event cannot be next in a log with this state; undefined if it can. Covers its place and its
 * references; its form is validated elsewhere.
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
    case 'message_queued':
      return isQueued(state, data.message_id) ? 'the message waits already' : undefined
    case 'queued_message_edited':
    case 'queued_message_withdrawn':
      return isQueued(state, data.message_id) ? undefined : 'there is no such queued message'
    case 'tool_approval_required':
      return isAsked(state, data.approval_id) ? 'the approval waits already' : undefined
    case 'tool_approval_resolved':
      return isAsked(state, data.approval_id) ? undefined : 'there is no such approval'
    case 'turn_opened':
    case 'turn_started':
      return state.turns.has(data.turn_id) ? 'the turn exists already' : undefined
    // Statements about a task may come before its creation and after its removal.
    case 'task_assessed':
    case 'claim_made':
    case 'claim_settled':
    case 'check_started':
    case 'check_handed_back':
    case 'check_ran':
    case 'step_finished':
      return undefined
    default:
      return unknownReference(state, data)
  }
}

function unknownReference(state: Conversation, data: object): string | undefined {
  const known = { turn: state.turns, task: state.tasks, review: state.reviews }
  const fields = data as Readonly<Record<string, unknown>>
  const missing = Object.entries(known).find(([noun, ids]) => {
    const id = fields[`${noun}_id`]
    return typeof id === 'string' && !ids.has(id)
  })
  return missing && `there is no such ${missing[0]}`
}

const isQueued = ({ queued }: Conversation, id: string): boolean => queued.some(({ message_id }) => message_id === id)

const isAsked = ({ approvals }: Conversation, id: string): boolean =>
  approvals.some(({ approval_id }) => approval_id === id)

const taskProblem = (state: Conversation, { session_id }: Task): string | undefined =>
  session_id === state.session_id ? undefined : `the task's session_id is not ${state.session_id}`
