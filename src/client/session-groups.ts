import type { Session } from '../domain/wire.ts'

/** Where a list has a heading. `week` and `month`: within the last 7 and 30 days. */
export type SessionGroup = 'pinned' | 'today' | 'yesterday' | 'week' | 'month' | 'older'

const DAYS: readonly (readonly [SessionGroup, number])[] = [
  ['today', 0],
  ['yesterday', 1],
  ['week', 7],
  ['month', 30],
  ['older', Infinity],
]

/** Conversations by the day of their last activity, by the clock and calendar of this machine, in the order of the list. */
export function groupSessions(
  sessions: readonly Session[],
  now: number = Date.now(),
): readonly { readonly group: SessionGroup; readonly sessions: readonly Session[] }[] {
  const groups = Map.groupBy(sessions, session => (session.pinned ? 'pinned' : groupOf(session, now)))
  const order: readonly SessionGroup[] = ['pinned', ...DAYS.map(([group]) => group)]
  return order.flatMap(group => {
    const own = groups.get(group)
    return own ? [{ group, sessions: own }] : []
  })
}

function groupOf({ active_at }: Session, now: number): SessionGroup {
  const days = dayOf(now) - dayOf(Date.parse(active_at))
  return DAYS.find(([, most]) => days <= most)?.[0] ?? 'older'
}

/** The number of a day here: not the elapsed time, since some days have 23 or 25 hours. */
function dayOf(at: number): number {
  const date = new Date(at)
  return Math.round(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / 86_400_000)
}
