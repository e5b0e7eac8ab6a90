import type { EventType, StoredEvent } from './event.ts'
import type { Conversation } from './conversation.ts'

/** One handler per event type; types without one change nothing. */
export type Handlers<S, R = S> = {
  readonly [T in EventType]?: (state: S, event: StoredEvent<T>) => R
}

export interface Projection<S> {
  readonly initial: S
  /** The only event types that have to be read from a log. */
  readonly types: readonly EventType[]
  readonly apply: (state: S, event: StoredEvent) => S
  readonly of: (events: readonly StoredEvent[]) => S
}

export function projection<S>({ initial, on }: { readonly initial: S; readonly on: Handlers<S> }): Projection<S> {
  const apply = (state: S, event: StoredEvent): S => dispatch(on, state, event, state)
  return { initial, types: typesOf(on), apply, of: events => events.reduce(apply, initial) }
}

export function combined<V extends object>(parts: { readonly [K in keyof V]: Projection<V[K]> }): Projection<V> {
  const names = Object.keys(parts) as (keyof V)[]
  const types = [...new Set(names.flatMap(name => parts[name].types))]
  const initial = Object.fromEntries(names.map(name => [name, parts[name].initial])) as V
  const apply = (state: V, event: StoredEvent): V => {
    if (!types.includes(event.type)) return state
    const next = { ...state }
    for (const name of names) next[name] = parts[name].apply(state[name], event)
    return next
  }
  return { initial, types, apply, of: events => events.reduce(apply, initial) }
}

/** Calls the handler of the event's type; returns `fallback` if there is none, as for a newer version's type. */
export function dispatch<S, R, T extends EventType>(
  on: Handlers<S, R>,
  state: S,
  event: StoredEvent<T>,
  fallback: R,
): R {
  const handler = Object.hasOwn(on, event.type) ? on[event.type] : undefined
  return handler ? handler(state, event) : fallback
}

export const typesOf = (on: Handlers<never, unknown>): readonly EventType[] => Object.keys(on) as EventType[]

/** The reason an event cannot be next in a log with this state; undefined if it can. Its form is validated elsewhere. */
export function eventProblem(state: Conversation, event: StoredEvent): string | undefined {
  if (event.session_id !== state.session_id) return `session_id is not ${state.session_id}`
  if (event.seq !== state.seq + 1) return `seq is ${event.seq}, expected ${state.seq + 1}`
  if (state.updated_at !== null && event.timestamp < state.updated_at)
    return 'timestamp is before that of the last event'
  return undefined
}

const ID_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'task_id',
  'task_ids',
  'review_id',
  'reopens',
  'revises',
  'parent_id',
])

/** Unlikely to appear by chance, so it may be replaced within texts. */
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi

/**
 * Turns a log into that of another conversation, event by event: with its id, and with new ids for tasks and reviews,
 * which are unique in a tenant. They are replaced everywhere, also in the answers of tools. Ids of turns, messages and
 * calls are unique within a conversation and stay.
 */
export function renamedLog(session_id: string, newId: () => string): (event: StoredEvent) => StoredEvent {
  const ids = new Map<string, string>()
  const idFor = (old: string): string => ids.get(old) ?? old
  const renamed = (value: unknown, field: string, from: string): unknown => {
    if (typeof value === 'string') {
      if (field === 'session_id' && value === from) return session_id
      return (ID_FIELDS.has(field) ? ids.get(value) : undefined) ?? value.replaceAll(UUID, idFor)
    }
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(each => renamed(each, field, from))
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, renamed(each, name, from)]))
  }
  return event => {
    // A held call names the tasks that it will create.
    const created = event.type === 'claim_made' ? (event.data.held?.edit.create ?? []) : []
    for (const { id } of created) ids.set(id, newId())
    if (event.type === 'task_created' && !ids.has(event.data.task.id)) ids.set(event.data.task.id, newId())
    if (event.type === 'task_create_review_required') ids.set(event.data.review_id, newId())
    return { ...event, session_id, data: renamed(event.data, '', event.session_id) } as StoredEvent
  }
}
