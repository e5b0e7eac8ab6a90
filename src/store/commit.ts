import type { StoredEvent } from '../domain/event.ts'
import type { Instant } from '../domain/instant.ts'
import type { Ref, Store } from './store.ts'

/** The events that were written together, in order. */
export interface Commit {
  /** The seq of its last event: read on from here. */
  readonly seq: number
  readonly timestamp: Instant
  readonly events: readonly StoredEvent[]
}

/** Whole commits after seq `after`, about `limit` events in total; none at the end of the log. */
export async function commitsAfter(
  store: Pick<Store, 'eventsAfter'>,
  ref: Ref,
  after: number,
  limit: number,
): Promise<readonly Commit[]> {
  const events = await store.eventsAfter(ref, after, limit)
  const commits = commitsOf(events)
  if (events.length < limit) return commits
  // The last commit of the page may be incomplete.
  if (commits.length > 1) return commits.slice(0, -1)
  return commitsAfter(store, ref, after, limit * 2)
}

export function commitOf(events: readonly StoredEvent[]): Commit {
  const last = events.at(-1)
  if (!last) throw new TypeError('A commit must have at least one event.')
  return { seq: last.seq, timestamp: last.timestamp, events }
}

export const eventsOf = (commits: readonly Commit[]): StoredEvent[] => commits.flatMap(({ events }) => events)

/** Each commit of a conversation has its own timestamp [EV4], so grouping by timestamp restores the commits. */
const commitsOf = (events: readonly StoredEvent[]): Commit[] =>
  [...Map.groupBy(events, ({ timestamp }) => timestamp).values()].map(commitOf)
