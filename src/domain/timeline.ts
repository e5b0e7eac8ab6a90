import type { EventType } from './event.ts'

/** Whether an event type is part of the timeline. A new type does not compile without an entry. */
const IN_TIMELINE: Record<EventType, boolean> = {
  task_created: true,
  task_changed: true,
  task_removed: true,
  task_assessed: true,
  task_create_review_required: true,
  task_create_review_resolved: true,
  review_extended: true,
  claim_made: false,
  claim_settled: false,
  check_approved: true,
  check_ran: true,
  guard_accepted: true,
  check_ticked: true,
  check_requested: false,
  check_started: false,
  check_handed_back: false,
  baseline_taken: false,
  evidence_added: false,
  policy_set: false,
  title_set: false,
  pin_set: false,
  archive_set: false,
  turn_opened: false,
  turn_started: false,
  tasks_adopted: false,
  turn_stop_requested: false,
  turn_failed: false,
  turn_finished: false,
  message_added: false,
  step_finished: false,
  tool_called: false,
  tool_answered: false,
  todos_resubmitting: false,
  todos_limit_reached: false,
  gate_followed: false,
  review_panel_opened: false,
  review_panel_left: false,
}

/** The event types of the timeline: what happened to tasks and reviews. */
export const TIMELINE: readonly EventType[] = (Object.keys(IN_TIMELINE) as EventType[]).filter(
  type => IN_TIMELINE[type],
)
