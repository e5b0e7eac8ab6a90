import { DECISIONS, type DecisionType, type NewEvent, type StoredEvent } from './event.ts'
import { type Origin, SYSTEM } from './origin.ts'

/** The types to read from a log for its decisions. */
export const DECISION_TYPES = Object.keys(DECISIONS) as readonly DecisionType[]

const isDecision = <E extends NewEvent | StoredEvent>(event: E): event is Extract<E, { type: DecisionType }> =>
  whatDecided(event, 0) !== undefined

/** What an event decided; undefined if it is no decision. `created`: the tasks that it wrote. */
function whatDecided({ type, data }: NewEvent, created: number): string | undefined {
  if (!Object.hasOwn(DECISIONS, type)) return undefined
  return (DECISIONS[type as DecisionType] as (data: unknown, created: number) => string | undefined)(data, created)
}

/** A decision in a log. */
export interface RecordedDecision {
  readonly event: StoredEvent<DecisionType>
  /** What was decided. */
  readonly what: string
}

/** The decisions in a log. */
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
 * The events of one command, its decisions with their origin. Tasks that are created together are one decision, which the
 * confirmed review records, else the first of them. What ended by itself is the system's, whoever's command found it.
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

/** A review or an approval that ended by itself, or a turn that waiting messages started: who wrote these is recorded with them. */
function isOfSystem({ type, data }: NewEvent, command: readonly NewEvent[]): boolean {
  if (type === 'turn_started') return command.some(event => event.type === 'turn_finished')
  if (type === 'tool_approval_resolved') return data.reason === 'turn_ended'
  if (type !== 'task_create_review_resolved' || data.via !== 'system') return false
  return data.reason === 'review_timeout' || data.reason === 'panel_closed'
}

const withOrigin = (event: NewEvent<DecisionType>, origin: Origin): NewEvent =>
  ({ ...event, data: { ...event.data, origin } }) as NewEvent
