import type { EventType, StoredEvent } from './event.ts'

/** What an event of each type makes of a state. Types that are left out change nothing. */
export type Handlers<S, R = S> = {
  readonly [T in EventType]?: (state: S, event: StoredEvent<T>) => R
}

/** A state that is folded from some types of events. */
export interface Projection<S> {
  readonly initial: S
  /** The types of events that change it: all that has to be read of a log. */
  readonly types: readonly EventType[]
  readonly apply: (state: S, event: StoredEvent) => S
  /** The state after these events, in order. */
  readonly of: (events: readonly StoredEvent[]) => S
}

/** A projection whose event types are the keys of `on`. */
export function projection<S>({ initial, on }: { readonly initial: S; readonly on: Handlers<S> }): Projection<S> {
  const apply = (state: S, event: StoredEvent): S => handled(on, state, event, state)
  return { initial, types: typesOf(on), apply, of: events => events.reduce(apply, initial) }
}

/** Several projections as one, whose state holds theirs by name. */
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

/** What the event's handler returns. A type without one, such as a newer version's, leaves `otherwise`. */
export function handled<S, R, T extends EventType>(
  on: Handlers<S, R>,
  state: S,
  event: StoredEvent<T>,
  otherwise: R,
): R {
  const handler = Object.hasOwn(on, event.type) ? on[event.type] : undefined
  return handler ? handler(state, event) : otherwise
}

export const typesOf = (on: Handlers<never, unknown>): readonly EventType[] => Object.keys(on) as EventType[]
