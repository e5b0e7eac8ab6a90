import type { StoredEvent } from '../../src/core/model/event.ts'
import type { Origin } from '../../src/core/model/origin.ts'
import type { Door } from '../../src/engine/door/door.ts'

/** The events of a log that have an origin, each as `[type, origin]`. */
export const originsIn = (events: readonly StoredEvent[]): readonly (readonly [string, Origin])[] =>
  events.flatMap(({ type, data }) => ('origin' in data && data.origin ? [[type, data.origin] as const] : []))

/** The same of a conversation's log. */
export const originsOf = async (door: Door, conversation: string): Promise<readonly (readonly [string, Origin])[]> =>
  originsIn(await door.conversations.eventsAfter({ tenant: 'local', conversation }, 0, 10_000))
