import type { EventType, StoredEvent } from './event.ts'
import type { Policy } from './policy.ts'

/** The types of events that tell which turns a limit ended. */
export const LIMITING: readonly EventType[] = ['turn_started', 'todos_limit_reached', 'turn_finished']

/** The turn of which this event says that a limit ended it: of steps that follow one another, or of model calls. */
export function limitedBy({ type, data, turn_id }: StoredEvent, policy: Policy | null): string | undefined {
  if (type === 'todos_limit_reached') return turn_id ?? undefined
  if (type !== 'turn_finished' || data.status !== 'incomplete' || policy === null) return undefined
  // However much of its plan is open, a turn takes no more.
  return data.steps >= Math.max(policy.max_steps, policy.max_steps_with_plan) ? data.turn_id : undefined
}

/** The turns that a limit ended, in a log or in what `LIMITING` chooses of it. */
export function limitedIn(events: readonly StoredEvent[]): ReadonlySet<string> {
  const limited = new Set<string>()
  let policy: Policy | null = null
  for (const event of events) {
    if (event.type === 'turn_started') policy = event.data.policy
    const turn = limitedBy(event, policy)
    if (turn !== undefined) limited.add(turn)
  }
  return limited
}
