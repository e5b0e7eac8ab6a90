import type { StoredEvent } from '../core/model/event.ts'
import type { Instant } from '../core/model/instant.ts'
import type { Ref, Store } from './store.ts'

/** Events that were written together, in order. */
export interface Commit {
  /** The seq of its last event: continue reading after it. */
  readonly seq: number
  readonly timestamp: Instant
  readonly events: readonly StoredEvent[]
}

/** Returns whole commits after `after`, about `limit` events in all; empty at the end of the log. */
export async function commitsAfter(
  store: Pick<Store, 'eventsAfter'>,
  ref: Ref,
  after: number,
  limit: number,
): Promise<readonly Commit[]> {
  const events = await store.eventsAfter(ref, after, limit)
  const commits = commitsOf(events)
  if (events.length < limit) return commits
  // The page may end inside the last commit.
  if (commits.length > 1) return commits.slice(0, -1)
  return commitsAfter(store, ref, after, limit * 2)
}

export function commitOf(events: readonly StoredEvent[]): Commit {
  const last = events.at(-1)
  if (!last) throw new TypeError('a commit has at least one event')
  return { seq: last.seq, timestamp: last.timestamp, events }
}

export const eventsOf = (commits: readonly Commit[]): StoredEvent[] => commits.flatMap(({ events }) => events)

/** Stores give each commit of a conversation a distinct timestamp [EV5], so the timestamp identifies the commit. */
const commitsOf = (events: readonly StoredEvent[]): Commit[] =>
  [...Map.groupBy(events, ({ timestamp }) => timestamp).values()].map(commitOf)
