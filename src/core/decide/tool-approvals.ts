import type { CommandOf, Rules } from '../model/command.ts'
import { type ApprovalDecision, approvalsOf, type ToolApprovalRequest } from '../model/tool-approval.ts'
import type { Conversation } from '../model/conversation.ts'
import type { DecisionVia, NewEvent } from '../model/event.ts'
import { idIsTaken, invalidField, invalidId, Refusal } from '../model/refusal.ts'
import { isId, Problem, prose } from '../model/text.ts'
import { turnFinished, unfinishedTurn } from './turns.ts'

export type ApprovalCommand =
  | {
      readonly type: 'ask_approval'
      readonly turn_id: string
      readonly approval: ToolApprovalRequest
    }
  | {
      readonly type: 'decide_approval'
      readonly approval_id: string
      readonly decision: ApprovalDecision
      readonly comment?: string | undefined
      readonly via: DecisionVia
    }

export const APPROVAL_RULES: Rules<ApprovalCommand> = {
  ask_approval: askApproval,
  decide_approval: decideApproval,
}

/** Asking again for the same call changes nothing. */
function askApproval(state: Conversation, command: CommandOf<'ask_approval'>): NewEvent[] | Refusal {
  const { turn_id, approval } = command
  if (!isId(approval.approval_id)) return invalidId('approval_id')
  const turn = unfinishedTurn(state, turn_id)
  if (turn instanceof Refusal) return turn
  if (turn.stop_requested) return turnFinished({ ...turn, status: 'stopped' })
  if (approvalsOf(state, turn_id).some(({ tool_call_id }) => tool_call_id === approval.tool_call_id)) return []
  if (state.approvals.some(({ approval_id }) => approval_id === approval.approval_id)) return idIsTaken('approval_id')
  return [{ type: 'tool_approval_required', turn_id, data: approval }]
}

/** The first decision counts. */
function decideApproval(state: Conversation, command: CommandOf<'decide_approval'>): NewEvent[] | Refusal {
  const { approval_id, decision, via } = command
  const comment = prose(command.comment ?? '')
  if (comment instanceof Problem) return invalidField('comment', comment.fact)
  const approval = state.approvals.find(each => each.approval_id === approval_id)
  if (!approval) return new Refusal('approval_not_found', { approval_id })
  const said = comment === '' ? {} : { comment }
  return [{ type: 'tool_approval_resolved', turn_id: approval.turn_id, data: { approval_id, decision, via, ...said } }]
}
