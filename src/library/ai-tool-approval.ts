import { asSchema, type ModelMessage, type ToolApprovalStatus, type ToolSet } from 'ai'
import type { Json, StoredEvent } from '../core/model/event.ts'
import { Refusal } from '../core/model/refusal.ts'
import { APPROVAL_TYPES } from '../core/model/tool-approval.ts'
import { type ApprovalWord, decideApproval, hashOf } from '../engine/door/door.ts'
import { type Approval, type Asked, asked, type AskedCall } from './ai-approval.ts'
import type { Turn } from './turn.ts'

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
    await decide(turn, call.id, { decision: 'deny', comment: reason })
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
  await decide(turn, call.id, { decision: approved ? 'allow' : 'deny', comment: reason })
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

async function decide(turn: Turn, callId: string, word: ApprovalWord): Promise<void> {
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
