import type { EventType, StoredEvent } from './event.ts'

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
