import { disputedTasks } from '../../core/proof/dispute.ts'
import type { DecisionVia } from '../../core/model/event.ts'
import { Refusal } from '../../core/model/refusal.ts'
import type { SessionList } from '../../core/views/session-list.ts'
import {
  APPROVAL_TYPES,
  type ApprovalDecision,
  decidedApproval,
  type ToolApprovalRequest,
} from '../../core/model/tool-approval.ts'
import type { WaitingApproval, WaitingDispute } from '../../core/views/wire.ts'
import type { ConversationSummary, Ref } from '../../store/store.ts'
import type { Door } from './door.ts'

export interface ApprovalWord {
  readonly decision: ApprovalDecision
  readonly comment?: string | undefined
}

export interface DecidedCall {
  readonly request: ToolApprovalRequest
  readonly isRepeated: boolean
  readonly seq: number
}

/** Decides a waiting tool call. Repeating the same decision is idempotent; a different one is refused. */
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
    // A decision is final, so reading it after the refusal cannot race.
    const before = decidedApproval(await door.conversations.events(ref, { types: APPROVAL_TYPES }), approvalId)
    if (!before) throw error
    if (before.decision !== decision || before.via === 'system') {
      throw new Refusal('approval_already_decided', { approval_id: approvalId, decision: before.decision })
    }
    return { request: before.request, isRepeated: true, seq: (await door.read(ref)).seq }
  }
}

/** Conversations searched per list: the page polls every few seconds. */
const MAX_LISTED = 200

export interface WaitingCalls {
  readonly approvals: readonly WaitingApproval[]
  readonly disputes: readonly WaitingDispute[]
}

/** Returns waiting calls and disputes, oldest first: of one conversation, or of the newest active and archived ones. */
export async function waitingCalls(door: Door, tenant: string, conversation?: string): Promise<WaitingCalls> {
  const top = async (list: SessionList): Promise<readonly ConversationSummary[]> =>
    (await door.conversations.list(tenant, { limit: MAX_LISTED }, list)).items
  const summaries =
    conversation === undefined
      ? [...(await top('active')), ...(await top('archived'))]
      : await door.conversations.summaries(tenant, [conversation])
  const found: WaitingApproval[] = []
  const disputes: WaitingDispute[] = []
  for (const { session_id, mark } of summaries) {
    if (mark !== 'waiting') continue
    const state = await door.read({ tenant, conversation: session_id })
    for (const { id: task_id, title, dispute } of disputedTasks(state)) {
      if (dispute) disputes.push({ session_id, task_id, title, ...dispute })
    }
    for (const { approval_id, turn_id, tool, server, server_tool, asked_at } of state.approvals) {
      const from = { ...(server !== undefined && { server }), ...(server_tool !== undefined && { server_tool }) }
      found.push({ session_id, approval_id, turn_id, tool, ...from, asked_at })
    }
  }
  return {
    approvals: found.sort((one, other) => Date.parse(one.asked_at) - Date.parse(other.asked_at)),
    disputes: disputes.sort((one, other) => Date.parse(one.at) - Date.parse(other.at)),
  }
}

/** Denies waiting calls of tools that a person has turned off or removed. */
export async function denyWaiting(
  door: Door,
  tenant: string,
  isGone: (call: WaitingApproval) => boolean,
  via: DecisionVia,
): Promise<void> {
  for (const call of (await waitingCalls(door, tenant)).approvals.filter(isGone)) {
    try {
      await decideApproval(door, { tenant, conversation: call.session_id }, call.approval_id, { decision: 'deny' }, via)
    } catch (error) {
      // Decided concurrently.
      if (!(error instanceof Refusal) || !error.is('approval_already_decided')) throw error
    }
  }
}
