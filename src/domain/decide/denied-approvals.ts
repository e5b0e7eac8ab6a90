import type { Conversation } from '../conversation.ts'
import type { NewEvent } from '../event.ts'
import type { ApprovalEnd, ToolApproval } from '../tool-approval.ts'

/** What a turn that is over waited for is not allowed. */
export const denyApprovalsOf = (state: Conversation, turnId: string, reason: ApprovalEnd): NewEvent[] =>
  approvalsOf(state, turnId).map(({ approval_id }) => ({
    type: 'tool_approval_resolved',
    turn_id: turnId,
    data: { approval_id, decision: 'deny', via: 'system', reason },
  }))

/** The calls of a turn that wait. */
export const approvalsOf = ({ approvals }: Conversation, turnId: string): readonly ToolApproval[] =>
  approvals.filter(({ turn_id }) => turn_id === turnId)
