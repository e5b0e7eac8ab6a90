import { asSchema, type ModelMessage, type ToolApprovalStatus, type ToolSet } from 'ai'
import { fieldTexts } from '../core/model/row.ts'
import type { Check } from '../core/proof/check.ts'
import { describeCheck, isLegible } from '../core/proof/check-text.ts'
import { Refusal } from '../core/model/refusal.ts'
import type { DraftRow, ReviewRequest } from '../core/model/review.ts'
import { StoreError, decideApproval, hashOf, type ApprovalWord, type Decision } from '../engine/door/door.ts'
import { beginCall } from '../engine/toolsets/calls.ts'
import { namesOf } from '../engine/toolsets/guidance.ts'
import type { Turn } from './turn.ts'
import type { Json, StoredEvent } from '../core/model/event.ts'
import { APPROVAL_TYPES } from '../core/model/tool-approval.ts'

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

/**
 * AI SDK approvals for the program's own tools. A request is in the log before it is sent, so that the page shows it
 * too. The first decision wins, wherever it is made.
 */
export function toolApprovalsOf(turn: Turn, tools: ToolSet): Record<string, Approval> {
  return Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => [
      name,
      async (input, { toolCallId: id, messages = [] }) => {
        const call = { id, name, input, fingerprint: await fingerprintOf(tool) }
        const answer = asked(messages).find(each => each.call.id === id && each.call.name === name)
        return answer ? heard(turn, call, answer) : standing(turn, call)
      },
    ]),
  )
}

/** Records denied calls: AI SDK does not ask about them again. */
export async function hearToolDenials(turn: Turn, tools: ToolSet, messages: readonly ModelMessage[]): Promise<void> {
  for (const { call, approved, reason } of asked(messages)) {
    if (approved || !Object.hasOwn(tools, call.name)) continue
    await decideCall(turn, call.id, { decision: 'deny', comment: reason })
  }
}

interface Call extends AskedCall {
  readonly fingerprint: string
}

/** The logged approval status of a call. Requests approval for a call that is not logged yet. */
async function standing(turn: Turn, call: Call): Promise<ToolApprovalStatus> {
  const events = await approvalEvents(turn)
  const known = knownIn(events, turn, call)
  if (known?.resolved) return decidedStatus(known.resolved)
  if (!known && isAlways(events, call)) return 'approved'
  if (!known) await ask(turn, call)
  return { type: 'user-approval', reason: `${call.name} ${JSON.stringify(call.input)}` }
}

/** AI SDK checks again before it runs an approved call. Only calls that the log allows with equal arguments run. */
async function heard(turn: Turn, call: Call, { approved, reason }: Asked): Promise<ToolApprovalStatus> {
  if (!knownIn(await approvalEvents(turn), turn, call))
    return { type: 'denied', reason: 'Nobody was asked about this call.' }
  await decideCall(turn, call.id, { decision: approved ? 'allow' : 'deny', comment: reason })
  const resolved = knownIn(await approvalEvents(turn), turn, call)?.resolved
  return resolved ? decidedStatus(resolved) : { type: 'denied', reason: 'Nobody has decided this call.' }
}

const decidedStatus = ({ data: { decision, comment } }: StoredEvent<'tool_approval_resolved'>): ToolApprovalStatus =>
  decision === 'deny' ? { type: 'denied', reason: comment ?? 'A person did not allow this call.' } : 'approved'

const approvalEvents = ({ inside: { deps } }: Turn): Promise<readonly StoredEvent[]> =>
  deps.door.conversations.events(deps.ref, { types: APPROVAL_TYPES })

/** A call with other arguments is a different call. */
const knownIn = (events: readonly StoredEvent[], turn: Turn, call: Call): Requested | undefined =>
  requestsIn(events).findLast(
    ({ event: { turn_id, data } }) =>
      turn_id === turn.id && data.tool_call_id === call.id && hashOf(data.arguments) === hashOf(asJson(call.input)),
  )

async function ask(turn: Turn, { id, name, input, fingerprint }: Call): Promise<void> {
  const { toolset, deps } = turn.inside
  const { door, ref, policy } = deps
  const approval = {
    approval_id: door.newId(),
    tool_call_id: id,
    tool: name,
    arguments: asJson(input),
    fingerprint,
  }
  // This may be the first event of the turn.
  const opened = { type: 'open_turn', turn_id: turn.id, toolset: toolset.name, host: policy, reads: true } as const
  await door.run(ref, opened, { type: 'ask_approval', turn_id: turn.id, approval })
}

async function decideCall(turn: Turn, callId: string, word: ApprovalWord): Promise<void> {
  const { door, ref } = turn.inside.deps
  const state = await door.read(ref)
  const waiting = state.approvals.find(({ turn_id, tool_call_id }) => turn_id === turn.id && tool_call_id === callId)
  if (!waiting) return
  try {
    await decideApproval(door, ref, waiting.approval_id, word, 'library')
  } catch (error) {
    // Already decided elsewhere: the first decision wins.
    if (!(error instanceof Refusal) || !error.is('approval_already_decided')) throw error
  }
}

interface Requested {
  readonly event: StoredEvent<'tool_approval_required'>
  readonly resolved: StoredEvent<'tool_approval_resolved'> | undefined
}

function requestsIn(events: readonly StoredEvent[]): readonly Requested[] {
  const resolved = new Map(
    events.flatMap(event =>
      event.type === 'tool_approval_resolved' ? [[event.data.approval_id, event] as const] : [],
    ),
  )
  return events.flatMap(event =>
    event.type === 'tool_approval_required' ? [{ event, resolved: resolved.get(event.data.approval_id) }] : [],
  )
}

/** True if a person allowed the tool for the conversation and its fingerprint has not changed since. */
const isAlways = (events: readonly StoredEvent[], { name, fingerprint }: Call): boolean =>
  requestsIn(events).some(
    ({ event: { data }, resolved }) =>
      resolved?.data.decision === 'always' && data.tool === name && data.fingerprint === fingerprint,
  )

const fingerprintOf = async ({ description, inputSchema }: ToolSet[string]): Promise<string> =>
  hashOf([typeof description === 'string' ? description : '', await asSchema(inputSchema).jsonSchema])

const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null)) as Json
