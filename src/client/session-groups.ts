import type { Session } from '../domain/wire.ts'

/** Where a list has a heading. `week` and `month`: within the last 7 and 30 days; `older`: a month before that. */
export type SessionGroup = 'pinned' | 'today' | 'yesterday' | 'week' | 'month' | 'older'

const DAYS: readonly (readonly [SessionGroup, number])[] = [
  ['today', 0],
  ['yesterday', 1],
  ['week', 7],
  ['month', 30],
  ['older', Infinity],
]

/** Conversations under one heading. */
export interface GroupedSessions {
  readonly group: SessionGroup
  /** Of `older`: the beginning of its month. */
  readonly month?: Date
  readonly sessions: readonly Session[]
}

/** Conversations by the day of their last activity, by the clock and calendar of this machine, in the order of the list. */
export function groupSessions(sessions: readonly Session[], now: number = Date.now()): readonly GroupedSessions[] {
  const groups = Map.groupBy(sessions, session => (session.pinned ? 'pinned' : groupOf(session, now)))
  const order: readonly SessionGroup[] = ['pinned', ...DAYS.map(([group]) => group)]
  return order.flatMap((group): readonly GroupedSessions[] => {
    const own = groups.get(group) ?? []
    if (group === 'older') return byMonth(own)
    return own.length > 0 ? [{ group, sessions: own }] : []
  })
}

function byMonth(sessions: readonly Session[]): readonly GroupedSessions[] {
  const months = Map.groupBy(sessions, ({ active_at }) => {
    const date = new Date(active_at)
    return new Date(date.getFullYear(), date.getMonth()).getTime()
  })
  return [...months].map(([month, own]) => ({ group: 'older', month: new Date(month), sessions: own }))
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
