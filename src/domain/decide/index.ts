import type { Command, CommandOf, CommandType } from '../command.ts'
import type { Conversation } from '../conversation.ts'
import type { Refusal } from '../refusal.ts'
import type { NewEvent } from '../event.ts'
import type { Instant } from '../instant.ts'
import { assessTask } from './assessment.ts'
import { decideReview, expireReview, leavePanel, showPanel } from './reviews.ts'
import { editTasks } from './tasks.ts'
import { finishTurn, openTurn, record, setPolicy, startTurn, stopTurn } from './turns.ts'

type Decider<T extends CommandType> = (
  state: Conversation,
  command: CommandOf<T>,
  now: Instant,
) => readonly NewEvent[] | Refusal

/** One entry for each command: a new one does not compile until it is decided. */
const DECIDERS: { readonly [T in CommandType]: Decider<T> } = {
  set_policy: setPolicy,
  open_turn: openTurn,
  start_turn: startTurn,
  stop_turn: stopTurn,
  record,
  finish_turn: finishTurn,
  edit_tasks: editTasks,
  assess_task: assessTask,
  decide_review: decideReview,
  expire_review: expireReview,
  show_panel: showPanel,
  leave_panel: leavePanel,
}

/** What follows from a command in a state: events, or why not. Pure: the same arguments give the same answer. */
export function decide(state: Conversation, command: Command, now: Instant): readonly NewEvent[] | Refusal {
  return (DECIDERS[command.type] as Decider<CommandType>)(state, command, now)
}
