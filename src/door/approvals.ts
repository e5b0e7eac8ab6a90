import type { DecisionVia } from '../domain/event.ts'
import { Refusal } from '../domain/refusal.ts'
import {
  APPROVAL_TYPES,
  type ApprovalDecision,
  decidedApproval,
  type ToolApprovalRequest,
} from '../domain/tool-approval.ts'
import type { Ref } from '../store/store.ts'
import type { Door } from './door.ts'

/** What a person says to a call that waits. */
export interface ApprovalWord {
  readonly decision: ApprovalDecision
  readonly comment?: string | undefined
}

export interface DecidedCall {
  readonly request: ToolApprovalRequest
  /** It had been decided in the same way before. */
  readonly isRepeated: boolean
  readonly seq: number
}

/** Decides a call that waits. The same decision again is no error; another one is refused. */
export async function decideApproval(
  door: Door,
  ref: Ref,
  approvalId: string,
  { decision, comment }: ApprovalWord,
  via: DecisionVia,
): Promise<DecidedCall> {
  try {
    const { value } = await door.transact(ref, transaction => {
      const request = transaction.state.approvals.find(({ approval_id }) => approval_id === approvalId)
      transaction.mustRun({ type: 'decide_approval', approval_id: approvalId, decision, comment, via })
      if (!request) throw new TypeError('an approval was decided that did not wait')
      return { request, isRepeated: false, seq: transaction.state.seq }
    })
    return value
  } catch (error) {
    if (!(error instanceof Refusal) || !error.is('approval_not_found')) throw error
    // Nothing can change that any more, so it may be read after the refusal.
    const before = decidedApproval(await door.conversations.events(ref, { types: APPROVAL_TYPES }), approvalId)
    if (!before) throw error
    if (before.decision !== decision || before.via === 'system') {
      throw new Refusal('approval_already_decided', { approval_id: approvalId, decision: before.decision })
    }
    return { request: before.request, isRepeated: true, seq: (await door.read(ref)).seq }
  }
}
