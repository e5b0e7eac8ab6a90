import type { EventData, EventType, NewEvent, StoredEvent } from './event.ts'
import { type Origin, SYSTEM } from './origin.ts'

/** The events that may record a decision: those whose data has a place for an origin. */
export type DecisionType = {
  [T in EventType]: 'origin' extends keyof EventData[T] ? T : never
}[EventType]

type Rules = { readonly [T in DecisionType]: (data: EventData[T]) => boolean }

const always = (): boolean => true
const edited = ({ by }: EventData['task_changed' | 'task_removed']): boolean => by === 'person' || by === 'file'

/** Whether an event records a decision. A type that gets a place for an origin does not compile without a rule. */
const RULES: Rules = {
  policy_set: always,
  turn_opened: always,
  turn_started: always,
  turn_stop_requested: always,
  message_queued: always,
  queued_message_edited: always,
  queued_message_withdrawn: always,
  queue_released: always,
  tool_approval_resolved: always,
  // A model's new tasks are written without a review only where the policy has decided so.
  task_created: ({ by }) => by !== 'system',
  task_changed: edited,
  task_removed: edited,
  task_create_review_required: ({ reopens }) => reopens !== undefined,
  task_create_review_resolved: always,
  review_extended: always,
  check_approved: ({ via }) => via !== 'configuration',
  check_requested: ({ why }) => why === 'person',
  guard_accepted: always,
  check_ticked: always,
}

/** The types to read from a log for its decisions. */
export const DECISION_TYPES = Object.keys(RULES) as readonly DecisionType[]

const isDecision = <E extends NewEvent | StoredEvent>(event: E): event is Extract<E, { type: DecisionType }> =>
  Object.hasOwn(RULES, event.type) && (RULES[event.type as DecisionType] as (data: unknown) => boolean)(event.data)

/** A decision in a log, and how many tasks it wrote, if it wrote any. */
export interface RecordedDecision {
  readonly event: StoredEvent<DecisionType>
  readonly created: number
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
      .map(event => ({ event, created: event === record ? created.length : 0 }))
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
