import { DECISIONS, type DecisionType, type NewEvent, type StoredEvent } from './event.ts'
import { type Origin, SYSTEM } from './origin.ts'

export const DECISION_TYPES = Object.keys(DECISIONS) as readonly DecisionType[]

const isDecision = <E extends NewEvent | StoredEvent>(event: E): event is Extract<E, { type: DecisionType }> =>
  whatDecided(event, 0) !== undefined

/** The decision in an event; undefined if it is none. `created`: the number of tasks that it wrote. */
function whatDecided({ type, data }: NewEvent, created: number): string | undefined {
  if (!Object.hasOwn(DECISIONS, type)) return undefined
  return (DECISIONS[type as DecisionType] as (data: unknown, created: number) => string | undefined)(data, created)
}

export interface RecordedDecision {
  readonly event: StoredEvent<DecisionType>
  readonly what: string
}

export function decisionsIn(events: readonly StoredEvent[]): RecordedDecision[] {
  // The events of one commit share a timestamp that no other commit has.
  const commits = Map.groupBy(events, ({ timestamp }) => timestamp)
  return [...commits.values()].flatMap(commit => {
    const decisions = commit.filter(isDecision)
    const created = decisions.filter(({ type }) => type === 'task_created')
    const record = decisions.find(isConfirm) ?? created[0]
    return decisions
      .filter(event => event.type !== 'task_created' || event === record)
      .map(event => ({ event, what: whatDecided(event, event === record ? created.length : 0) ?? '' }))
  })
}

/**
 * Adds the origin to a command's decisions. Tasks created together are one decision, recorded by the confirmed review
 * or else by the first of them. Whatever expired by itself gets the origin `system`, whichever command noticed it.
 */
export function attributed(events: readonly NewEvent[], origin: Origin): readonly NewEvent[] {
  if (!events.some(isDecision)) return events
  let isCovered = events.some(isConfirm)
  return events.map(event => {
    if (!isDecision(event)) return event
    if (event.type !== 'task_created') return withOrigin(event, isOfSystem(event, events) ? SYSTEM : origin)
    if (isCovered) return event
    isCovered = true
    return withOrigin(event, origin)
  })
}

const isConfirm = ({ type, data }: NewEvent): boolean =>
  type === 'task_create_review_resolved' && data.action === 'confirm'

/**
 * Reviews and approvals that ended by themselves, and turns that queued messages started: the messages carry their own
 * origin.
 */
function isOfSystem({ type, data }: NewEvent, command: readonly NewEvent[]): boolean {
  if (type === 'turn_started') return command.some(event => event.type === 'turn_finished')
  if (type === 'tool_approval_resolved') return data.reason === 'turn_ended'
  if (type !== 'task_create_review_resolved' || data.via !== 'system') return false
  return data.reason === 'review_timeout' || data.reason === 'panel_closed'
}

const withOrigin = (event: NewEvent<DecisionType>, origin: Origin): NewEvent =>
  ({ ...event, data: { ...event.data, origin } }) as NewEvent
