import type { Command, CommandOf, CommandType } from '../command.ts'
import type { Conversation } from '../conversation.ts'
import type { Refusal } from '../refusal.ts'
import type { NewEvent } from '../event.ts'
import type { Instant } from '../instant.ts'
import { assessTask } from './assessment.ts'
import { addEvidence } from './evidence.ts'
import { setArchived, setPinned, setTitle } from './filing.ts'
import { deliverQueued, editQueued, finishAndFollow, sendMessage, sendQueued, withdrawQueued } from './queue.ts'
import { decideAndContinue, reopenReview } from './reopened.ts'
import { expireReview, extendReview, leavePanel, showPanel } from './reviews.ts'
import {
  acceptGuards,
  endCheck,
  handBackCheck,
  requestCheck,
  requestFinal,
  startCheck,
  stopCheck,
  takeBaseline,
  tickCheck,
} from './proof.ts'
import { makeClaims, settleCall } from './settle.ts'
import { editTasks } from './tasks.ts'
import { askApproval, decideApproval } from './tool-approvals.ts'
import { undoChange } from './undo.ts'
import { openTurn, record, setPolicy, startTurn, stopTurn } from './turns.ts'

type Decider<T extends CommandType> = (
  state: Conversation,
  command: CommandOf<T>,
  now: Instant,
) => readonly NewEvent[] | Refusal

/** One decider per command: a new command does not compile without one. */
const DECIDERS: { readonly [T in CommandType]: Decider<T> } = {
  set_policy: setPolicy,
  set_title: setTitle,
  set_pinned: setPinned,
  set_archived: setArchived,
  open_turn: openTurn,
  start_turn: startTurn,
  stop_turn: stopTurn,
  record,
  finish_turn: finishAndFollow,
  send_message: sendMessage,
  edit_queued: editQueued,
  withdraw_queued: withdrawQueued,
  send_queued: sendQueued,
  deliver_queued: deliverQueued,
  ask_approval: askApproval,
  decide_approval: decideApproval,
  edit_tasks: editTasks,
  assess_task: assessTask,
  decide_review: decideAndContinue,
  reopen_review: reopenReview,
  extend_review: extendReview,
  undo_change: undoChange,
  make_claims: makeClaims,
  settle_call: settleCall,
  start_check: startCheck,
  end_check: endCheck,
  hand_back_check: handBackCheck,
  request_check: requestCheck,
  request_final: requestFinal,
  stop_check: stopCheck,
  tick_check: tickCheck,
  accept_guards: acceptGuards,
  take_baseline: takeBaseline,
  add_evidence: addEvidence,
  expire_review: expireReview,
  show_panel: showPanel,
  leave_panel: leavePanel,
}

/** Decides a command: the events to commit, or a refusal. Pure, so a store may run it again. */
export function decide(state: Conversation, command: Command, now: Instant): readonly NewEvent[] | Refusal {
  return (DECIDERS[command.type] as Decider<CommandType>)(state, command, now)
}
