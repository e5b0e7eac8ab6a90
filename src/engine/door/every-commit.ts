import { setTimeout as delay } from 'node:timers/promises'
import type { StoredEvent } from '../../core/model/event.ts'
import { instantOf } from '../../core/model/instant.ts'
import { type Ref, refKey, type Store } from '../../store/store.ts'

/** Receives committed events, in log order per conversation. */
export type EventObserver = (ref: Ref, events: readonly StoredEvent[]) => void

const PAGE = 500
/** Events read from the end of a log that has no recorded position. */
const FIRST_LOOK = 32
const RETRY_LISTENING_MS = 500
const MAX_PLACES = 10_000

/** Reports every event committed from now on, by any process, once. */
export async function everyCommit(
  store: Store,
  observer: EventObserver,
  onError: (error: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  /** The seq of the last reported event, by log. */
  const places = new Map<string, number>()
  let hints = store.changes(signal)
  /** In logs without a recorded position, only later events are reported. */
  let since = await store.now().catch(() => instantOf(Date.now()))
  const report = async (ref: Ref): Promise<void> => {
    const place = places.get(refKey(ref))
    const events = place === undefined ? await newest(ref) : await store.eventsAfter(ref, place, PAGE)
    const last = events.at(-1)
    if (!last) return
    const fresh = place === undefined ? events.filter(({ timestamp }) => timestamp > since) : events
    if (places.size >= MAX_PLACES) {
      places.clear()
      since = last.timestamp
    }
    places.set(refKey(ref), last.seq)
    if (fresh.length > 0) observer(ref, fresh)
    if (place !== undefined && events.length === PAGE) await report(ref)
  }
  const newest = async (ref: Ref): Promise<readonly StoredEvent[]> => {
    for (let last = FIRST_LOOK; ; last *= 4) {
      const events = await store.queries.events(ref, { last })
      if (events.length < last || (events[0]?.timestamp ?? '') <= since) return events
    }
  }
  while (!signal.aborted) {
    try {
      for await (const { kind, tenant, conversation } of hints)
        if (kind === 'log') await report({ tenant, conversation })
    } catch (error) {
      if (signal.aborted) return
      onError(error)
      await delay(RETRY_LISTENING_MS, undefined, { ref: false })
      hints = store.changes(signal)
    }
  }
}
