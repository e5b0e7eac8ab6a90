import type { Session } from '../core/views/wire.ts'

/** A heading of the list. `week` and `month`: within the last 7 and 30 days; `older`: one group per month. */
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
  /** For `older`: the first day of the month. */
  readonly month?: Date
  readonly sessions: readonly Session[]
}

/** Groups conversations by the local day of their last activity, in list order. */
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

/** The day number in local time. Elapsed time would be wrong: some days have 23 or 25 hours. */
function dayOf(at: number): number {
  const date = new Date(at)
  return Math.round(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / 86_400_000)
}
