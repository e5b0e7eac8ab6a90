import { claimsOf, type OpenClaim } from '../domain/proof.ts'
import type { Conversation } from '../domain/conversation.ts'
import type { Json, StoredEvent } from '../domain/event.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Door, Ref } from '../door/door.ts'
import { type CallState, type Learnt, resumeCall } from './calls.ts'
import type { ToolContext } from './context.ts'
import { toolsets } from './index.ts'
import { servedUntil } from './serving.ts'

/** Of a turn's newest calls, to find the one of a claim. */
const MAX_CALLS = 1_000

/** How a call that made claims was answered. */
export interface ClaimAnswer {
  readonly result: Json
  readonly ok: boolean
}

/**
 * Waits until the claims of a call are settled, by whichever process, and returns its answer. If no process with their
 * workspace is alive, they end here, and count for nothing.
 */
export async function awaitClaims(
  { call_id, claim_ids }: Extract<CallState, { readonly status: 'checking' }>,
  context: ToolContext,
  signal?: AbortSignal,
): Promise<ClaimAnswer> {
  const { door, tenant, conversation } = context
  const [claimId = ''] = claim_ids
  const made = await claimCall(door, { tenant, conversation }, claimId)
  if (!made) throw new TypeError(`The log has no claim ${claimId}.`)
  const { turn_id } = made
  const isOver = (state: Conversation): boolean => openOnes(state, claim_ids).length === 0
  if (!(await servedUntil(context, turn_id, isOver, signal))) {
    const [claim] = openOnes(await door.read({ tenant, conversation }), claim_ids)
    if (claim) await settleCall(context, claim, { ended: claim.judge ? 'no_judge' : 'no_workspace' })
  }
  return answerIn(context, turn_id, call_id)
}

/** Makes the call of these claims again, with its arguments from the log. */
export async function settleCall(context: ToolContext, claim: OpenClaim, learnt: Learnt = {}): Promise<CallState> {
  const { door, tenant, conversation } = context
  const ref = { tenant, conversation }
  const called = await callOf(context, claim)
  if (!called) throw new TypeError(`The log has no call ${claim.tool_call_id}.`)
  const { policy } = await door.read(ref)
  const toolset = toolsets[policy?.toolset ?? 'runsheet']
  const { tool, arguments: args } = called.data
  return resumeCall(toolset, tool, args, claim.tool_call_id, { ...context, turn: claim.turn_id }, learnt)
}

/** Ends the claims of a call that cannot be made again: nothing is granted, and whoever made it hears so. */
export async function abandonCall(context: ToolContext, claim: OpenClaim): Promise<void> {
  const { door, tenant, conversation, lease } = context
  const { turn_id, tool_call_id } = claim
  const called = await callOf(context, claim)
  const once = { key: `answer:${turn_id}:${tool_call_id}`, bodyHash: '' }
  await door.transact({ tenant, conversation, once, ...(lease ? { lease } : {}) }, transaction => {
    const open = claimsOf(transaction.state, turn_id, tool_call_id)
    const resolution = { result: 'ended', because: 'failed' } as const
    transaction.mustRun({ type: 'refuse_claims', turn_id, claims: open.map(each => ({ claim: each, resolution })) })
    const data = { tool_call_id, tool: called?.data.tool ?? 'unknown', result: ABANDONED, ok: false, duration_ms: 0 }
    transaction.mustRun({ type: 'record', turn_id, fact: { type: 'tool_answered', data } })
    return null
  })
}

const ABANDONED = 'Error: The server failed unexpectedly; nothing was changed. Its log has the details.'

/** The call that made a claim, whether or not that is settled. */
export async function claimCall(
  { conversations }: Door,
  ref: Ref,
  claimId: string,
): Promise<{ readonly turn_id: string; readonly tool_call_id: string } | undefined> {
  const claims = await conversations.events(ref, { types: ['claim_made'], last: MAX_CALLS })
  const made = claims.findLast(event => event.type === 'claim_made' && event.data.claim_id === claimId)
  return made?.type === 'claim_made' ? { turn_id: made.turn_id ?? '', tool_call_id: made.data.tool_call_id } : undefined
}

const openOnes = ({ claims }: Conversation, ids: readonly string[]): OpenClaim[] =>
  ids.flatMap(id => claims.get(id) ?? [])

async function answerIn(
  { door, tenant, conversation }: ToolContext,
  turn_id: string,
  callId: string,
): Promise<ClaimAnswer> {
  const ref = { tenant, conversation }
  const answers = await door.conversations.events(ref, { types: ['tool_answered'], last: MAX_CALLS })
  const answer = answers.findLast(
    (event): event is StoredEvent<'tool_answered'> =>
      event.type === 'tool_answered' && event.turn_id === turn_id && event.data.tool_call_id === callId,
  )
  if (!answer) throw new Refusal('turn_finished', { turn_id, status: 'stopped' })
  return { result: answer.data.result, ok: answer.data.ok }
}

async function callOf(
  { door, tenant, conversation }: ToolContext,
  claim: OpenClaim,
): Promise<StoredEvent<'tool_called'> | undefined> {
  const calls = await door.conversations.events({ tenant, conversation }, { types: ['tool_called'], last: MAX_CALLS })
  return calls.findLast(
    (event): event is StoredEvent<'tool_called'> =>
      event.type === 'tool_called' && event.turn_id === claim.turn_id && event.data.tool_call_id === claim.tool_call_id,
  )
}
