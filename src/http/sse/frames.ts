import type { Conversation } from '../../domain/conversation.ts'
import { planTurnOf, tasksInView } from '../../domain/conversation.ts'
import type { Json, StoredEvent } from '../../domain/event.ts'
import { TOOLSETS } from '../../domain/policy.ts'
import { isOpen, type Task } from '../../domain/task.ts'
import { todosOf } from '../../toolsets/todos.ts'

/** A longer list shows its open tasks first and counts the rest. */
const MAX_SHOWN = 200

/** A stored event; its id is the seq that a client resumes from. */
export function framed(event: StoredEvent): string {
  const { type, timestamp, seq, session_id, turn_id, data } = event
  return `id: ${seq}\nevent: ${type}\ndata: ${JSON.stringify({ type, timestamp, seq, session_id, turn_id, data })}\n\n`
}

/** An event that is not stored: without an id, so that no client resumes from it. */
export function framedAside(state: Conversation, type: string, data: { readonly [key: string]: Json }): string {
  const { session_id, running_turn, latest_turn, updated_at } = state
  const turn_id = running_turn ?? latest_turn
  return `event: ${type}\ndata: ${JSON.stringify({ type, timestamp: updated_at, session_id, turn_id, data })}\n\n`
}

/** The list in view, in its long and its short form. */
export function framedTodos(state: Conversation): string {
  const tasks = tasksInView(state).filter(({ status }) => status !== 'cancelled')
  const shown = tasks.length <= MAX_SHOWN ? tasks : [...tasks.filter(isOpen), ...tasks.filter(task => !isOpen(task))]
  const { total, remaining, current, items } = todosOf(shown, state.running_turn ?? state.latest_turn, task =>
    planTurnOf(state, task),
  )
  const as_of_seq = state.seq
  const more = items.length > MAX_SHOWN ? { more: items.length - MAX_SHOWN } : {}
  const list = { total, remaining, current, items: items.slice(0, MAX_SHOWN), ...more, as_of_seq }
  return (
    framedAside(state, 'todos_updated', list) +
    framedAside(state, 'todos_current', { current, remaining, total, as_of_seq })
  )
}

/** Whether a commit that led from one state to the other touched the list in view. */
export function touchesView(events: readonly StoredEvent[], before: Conversation, after: Conversation): boolean {
  return events.some(event => {
    switch (event.type) {
      case 'task_created':
      case 'task_changed':
      case 'task_removed':
        return isInView(before, event.data.task) || isInView(after, event.data.task)
      // These change which tasks are in view.
      case 'turn_started':
      case 'turn_opened':
        return true
      case 'policy_set':
        return scopeOf(before) !== scopeOf(after)
      default:
        return false
    }
  })
}

function isInView(state: Conversation, task: Task): boolean {
  if (scopeOf(state) === 'conversation') return true
  return planTurnOf(state, task) === (state.running_turn ?? state.latest_turn)
}

const scopeOf = ({ policy }: Conversation): 'turn' | 'conversation' =>
  policy ? TOOLSETS[policy.toolset].scope : 'conversation'
