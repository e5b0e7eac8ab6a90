import type { Command, CommandType, Decider, Rules } from '../model/command.ts'
import type { Conversation } from '../model/conversation.ts'
import type { Refusal } from '../model/refusal.ts'
import type { NewEvent } from '../model/event.ts'
import type { Instant } from '../model/instant.ts'
import { TURN_RULES } from './turns.ts'
import { FILING_RULES } from './filing.ts'
import { QUEUE_RULES } from './queue.ts'
import { APPROVAL_RULES } from './tool-approvals.ts'
import { TASK_RULES } from './tasks.ts'
import { ASSESSMENT_RULES } from './assessment.ts'
import { DISPUTE_RULES } from './disputes.ts'
import { DECISION_RULES } from './reopened.ts'
import { REVIEW_RULES } from './reviews.ts'
import { UNDO_RULES } from './undo.ts'
import { CLAIM_RULES } from './settle.ts'
import { CHECK_RULES } from './proof.ts'

/** One decider per command: a new command does not compile without one. */
const DECIDERS: Rules<Command> = {
  ...TURN_RULES,
  ...FILING_RULES,
  ...QUEUE_RULES,
  ...APPROVAL_RULES,
  ...TASK_RULES,
  ...ASSESSMENT_RULES,
  ...DISPUTE_RULES,
  ...DECISION_RULES,
  ...REVIEW_RULES,
  ...UNDO_RULES,
  ...CLAIM_RULES,
  ...CHECK_RULES,
}

/** Decides a command: returns the events to commit, or a refusal. Pure, so a store may retry it. */
export function decide(state: Conversation, command: Command, now: Instant): readonly NewEvent[] | Refusal {
  return (DECIDERS[command.type] as Decider<CommandType>)(state, command, now)
}
