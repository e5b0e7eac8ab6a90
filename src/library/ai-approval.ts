import { fieldTexts } from '../core/model/row.ts'
import type { ModelMessage, ToolApprovalStatus } from 'ai'
import type { Check } from '../core/proof/check.ts'
import { describeCheck, isLegible } from '../core/proof/check-label.ts'
import { Refusal } from '../core/model/refusal.ts'
import type { DraftRow, ReviewRequest } from '../core/model/review.ts'
import { type Decision, StoreError } from '../engine/door/door.ts'
import { beginCall } from '../engine/toolsets/calls.ts'
import { namesOf } from '../engine/toolsets/guidance.ts'
import type { Turn } from './turn.ts'

export type Approval = (
  input: unknown,
  options: { readonly toolCallId: string; readonly messages?: readonly ModelMessage[] },
) => Promise<ToolApprovalStatus>

/** AI SDK approvals for a turn's planning tools. The review is in the log before the approval request is sent. */
export function approvalsOf(turn: Turn): Record<string, Approval> {
  return Object.fromEntries(
    planningTools(turn).map(name => [
      name,
      async (input, { toolCallId }) => {
        const review = await propose(turn, name, input, toolCallId)
        return review && { type: 'user-approval', reason: shownText(review) }
      },
    ]),
  )
}

/** Confirms the plan of an approved call as proposed, with the checks that the request listed. */
export async function confirmAsShown(turn: Turn, { id, name, input }: AskedCall): Promise<void> {
  const review = await propose(turn, name, input, id)
  if (!review) return
  const tasks = review.draft_tasks.map((row, draft_index) => ({
    draft_index,
    approve: shownChecks(row).map(({ hash }) => hash),
  }))
  await decide(turn, review, { action: 'confirm', tasks })
}

/** Cancels the plans whose approval was denied, with the reason as the person's comment. */
export async function hearDenials(turn: Turn, messages: readonly ModelMessage[]): Promise<void> {
  for (const { call, approved, reason } of asked(messages)) {
    if (approved || !planningTools(turn).includes(call.name)) continue
    const review = await propose(turn, call.name, call.input, call.id)
    if (!review) continue
    const comment = reason === undefined || reason.trim() === '' ? {} : { comment: reason }
    await decide(turn, review, { action: 'cancel', ...comment })
    // AI SDK answers the model; this call puts the answer into the log.
    await turn.call(call.name, call.input, { id: call.id })
  }
}

function planningTools({ inside: { toolset } }: Turn): readonly string[] {
  return toolset.tools.filter(({ created }) => created).map(({ name }) => namesOf(toolset)(name))
}

/** Begins a call, or finds it by its id. Resolves with the review that it waits for, if any. */
async function propose(turn: Turn, name: string, input: unknown, id: string): Promise<ReviewRequest | undefined> {
  const { toolset, deps, context } = turn.inside
  const { door, ref, reviewer } = deps
  // A call that cannot begin is answered when it is executed; this includes a reused id with other arguments.
  const call = await beginCall(toolset, name, input, context(id)).catch((error: unknown) => {
    if (error instanceof Refusal || error instanceof StoreError) return undefined
    throw error
  })
  if (call?.status !== 'pending_review') return undefined
  reviewer.leave(call.review_id)
  return (await door.reviews.get(ref.tenant, call.review_id)).record.review
}

async function decide(turn: Turn, { review_id }: ReviewRequest, decision: Decision): Promise<void> {
  const { door, ref } = turn.inside.deps
  try {
    await door.reviews.decide(ref.tenant, review_id, decision, 'library')
  } catch (error) {
    // Already decided elsewhere: the first decision wins.
    if (error instanceof Refusal && (error.is('review_already_decided') || error.is('review_expired'))) return
    throw error
  }
}

/** The approver sees every task and every command that the approval allows. */
function shownText({ draft_tasks }: ReviewRequest): string {
  const rows = draft_tasks.map((row, index) => {
    const checks = shownChecks(row).map(check => `\n   check: ${describeCheck(check)}`)
    const scope = fieldTexts(row, 'globs').map(text => `\n   ${text}`)
    return [`${index + 1}. ${row.title}`, ...checks, ...scope].join('')
  })
  const allows = draft_tasks.some(row => shownChecks(row).length > 0)
  return [`A plan of ${rows.length}:`, ...rows, ...(allows ? ['Approving it allows these checks to run.'] : [])].join(
    '\n',
  )
}

const shownChecks = ({ checks = [] }: DraftRow): readonly Check[] => checks.filter(isLegible)

export interface AskedCall {
  readonly id: string
  readonly name: string
  readonly input: unknown
}

export interface Asked {
  readonly call: AskedCall
  readonly approved: boolean
  readonly reason: string | undefined
}

/** True if a person approved this call with this tool. */
export const isApproved = (messages: readonly ModelMessage[], { id, name }: Omit<AskedCall, 'input'>): boolean =>
  asked(messages).some(({ call, approved }) => call.id === id && call.name === name && approved)

/** The answered approval requests in the last message. As in AI SDK, the first answer to a call counts. */
export function asked(messages: readonly ModelMessage[]): readonly Asked[] {
  const last = messages.at(-1)
  if (last?.role !== 'tool') return []
  const parts = messages.flatMap(({ role, content }) =>
    role === 'assistant' && typeof content !== 'string' ? content : [],
  )
  const found = new Map<string, Asked>()
  for (const answer of last.content) {
    if (answer.type !== 'tool-approval-response') continue
    const request = parts.find(
      part => part.type === 'tool-approval-request' && part.approvalId === answer.approvalId && !part.isAutomatic,
    )
    const id = request?.type === 'tool-approval-request' ? request.toolCallId : undefined
    const call = parts.find(part => part.type === 'tool-call' && part.toolCallId === id)
    if (call?.type !== 'tool-call' || found.has(call.toolCallId)) continue
    const { approved, reason } = answer
    found.set(call.toolCallId, {
      call: { id: call.toolCallId, name: call.toolName, input: call.input },
      approved,
      reason,
    })
  }
  return [...found.values()]
}
