import { inView, tasksInView, type Conversation } from '../../core/model/conversation.ts'
import type { Json, StoredEvent } from '../../core/model/event.ts'
import { textForAgent } from '../../core/proof/held-out.ts'
import { planIdOf } from '../../core/model/plan.ts'
import { TOOLSETS } from '../../core/model/policy.ts'
import { dispatch, type Handlers } from '../../core/model/log.ts'
import { isOpen, type Task } from '../../core/model/task.ts'
import { todosOf } from '../../engine/toolsets/manage-todos.ts'
import type { Role } from './access.ts'

/** Beyond this a list frame has the open tasks first, and `more` counts the rest. */
const MAX_SHOWN = 200

export function framed(event: StoredEvent, role: Role): string {
  const { type, timestamp, seq, session_id, turn_id, data } = event
  const json = JSON.stringify({ type, timestamp, seq, session_id, turn_id, data })
  return `id: ${seq}\nevent: ${type}\ndata: ${role === 'person' ? json : textForAgent(json)}\n\n`
}

/** Frames derived or transient data without an id, so that clients do not resume from it. */
export function framedAside(state: Conversation, type: string, data: { readonly [key: string]: Json }): string {
  const { session_id, running_turn, latest_turn, updated_at } = state
  const turn_id = running_turn ?? latest_turn
  return `event: ${type}\ndata: ${JSON.stringify({ type, timestamp: updated_at, session_id, turn_id, data })}\n\n`
}

export function framedTodos(state: Conversation): string {
  const tasks = tasksInView(state).filter(({ status }) => status !== 'cancelled')
  const shown = tasks.length <= MAX_SHOWN ? tasks : [...tasks.filter(isOpen), ...tasks.filter(task => !isOpen(task))]
  const plan = planIdOf(state, state.running_turn ?? state.latest_turn ?? '')
  const { total, remaining, current, items } = todosOf(shown, plan)
  const as_of_seq = state.seq
  const more = items.length > MAX_SHOWN ? { more: items.length - MAX_SHOWN } : {}
  const list = { total, remaining, current, items: items.slice(0, MAX_SHOWN), ...more, as_of_seq }
  return (
    framedAside(state, 'todos_updated', list) +
    framedAside(state, 'todos_current', { current, remaining, total, as_of_seq })
  )
}

export function touchesView(events: readonly StoredEvent[], before: Conversation, after: Conversation): boolean {
  return events.some(event => dispatch(TOUCHES_VIEW, { before, after }, event, false))
}

interface Change {
  readonly before: Conversation
  readonly after: Conversation
}

const taskInView = ({ before, after }: Change, { data }: { readonly data: { readonly task: Task } }): boolean =>
  inView(before)(data.task) || inView(after)(data.task)

const TOUCHES_VIEW: Handlers<Change, boolean> = {
  task_created: taskInView,
  task_changed: taskInView,
  task_removed: taskInView,
  // These events change which tasks are in view.
  turn_started: () => true,
  turn_opened: () => true,
  plan_joined: () => true,
  policy_set: ({ before, after }) => scopeOf(before) !== scopeOf(after),
}

const scopeOf = ({ policy }: Conversation): 'turn' | 'conversation' =>
  policy ? TOOLSETS[policy.toolset].scope : 'conversation'
