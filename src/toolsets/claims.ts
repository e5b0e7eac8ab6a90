import { awaitsBaseline } from '../domain/check-runs.ts'
import { claimsOf } from '../domain/open-claims.ts'
import type { OpenClaim } from '../domain/proof.ts'
import type { Conversation } from '../domain/conversation.ts'
import type { Json, StoredEvent } from '../domain/event.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Commit, Door, Ref } from '../door/door.ts'
import { type CallState, type Learnt, type ResumedCall, resumeCall } from './calls.ts'
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

/** A call that waits for checks. */
export type CheckingCall = Extract<CallState, { readonly status: 'checking' }>

/** What a caller who cannot wait any longer asks for the answer with. */
export const claimIdOf = ({ claim_ids: [first], call_id }: CheckingCall): string => first ?? call_id

/**
 * Waits until the claims of a call are settled, by whichever process, and returns its answer; without claims until the
 * checks of its plan have run. If no process with their workspace is alive, a worker of this process ends claims.
 */
export async function awaitClaims(
  { call_id, claim_ids }: CheckingCall,
  context: ToolContext,
  signal?: AbortSignal,
): Promise<ClaimAnswer> {
  const turn_id = await turnOf(context, claim_ids)
  const isOver = (state: Conversation): boolean =>
    claim_ids.length > 0 ? openOnes(state, claim_ids).length === 0 : !awaitsBaseline(state, turn_id)
  let answer: ClaimAnswer | undefined
  const onCommit = ({ events }: Commit): void => void (answer ??= answerAmong(events, turn_id, call_id))
  await servedUntil(context, turn_id, isOver, { signal, onCommit, isEnded: claim_ids.length > 0 })
  return answer ?? answerIn(context, turn_id, call_id)
}

/** Makes the call of these claims again, with its arguments from the log. */
export async function settleCall(context: ToolContext, claim: OpenClaim, learnt: Learnt = {}): Promise<ResumedCall> {
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

/** The call to wait for by the id that its caller was given, whether or not it is answered. */
export async function claimCall(
  { conversations }: Door,
  ref: Ref,
  claimId: string,
): Promise<{ readonly turn_id: string; readonly call: CheckingCall } | undefined> {
  const types = ['claim_made', 'tool_answered'] as const
  const found = (await conversations.events(ref, { types, last: MAX_CALLS })).findLast(event =>
    event.type === 'claim_made'
      ? event.data.claim_id === claimId
      : event.type === 'tool_answered' && event.data.tool_call_id === claimId,
  )
  if (found?.type !== 'claim_made' && found?.type !== 'tool_answered') return undefined
  const claim_ids = found.type === 'claim_made' ? [claimId] : []
  const call = { status: 'checking', call_id: found.data.tool_call_id, claim_ids } as const
  return { turn_id: found.turn_id ?? '', call }
}

async function turnOf(context: ToolContext, [claimId]: readonly string[]): Promise<string> {
  if (claimId === undefined) return context.turn
  const { door, tenant, conversation } = context
  const ref = { tenant, conversation }
  const open = (await door.read(ref)).claims.get(claimId)
  const turn = open?.turn_id ?? (await claimCall(door, ref, claimId))?.turn_id
  if (turn === undefined) throw new TypeError(`The log has no claim ${claimId}.`)
  return turn
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
  const answer = answerAmong(answers, turn_id, callId)
  if (!answer) throw new Refusal('turn_finished', { turn_id, status: 'stopped' })
  return answer
}

function answerAmong(events: readonly StoredEvent[], turnId: string, callId: string): ClaimAnswer | undefined {
  const answer = events.findLast(
    (event): event is StoredEvent<'tool_answered'> =>
      event.type === 'tool_answered' && event.turn_id === turnId && event.data.tool_call_id === callId,
  )
  return answer && { result: answer.data.result, ok: answer.data.ok }
}

/** The call of a claim. Most often it is right before it in the log. */
async function callOf(
  { door, tenant, conversation }: ToolContext,
  claim: OpenClaim,
): Promise<StoredEvent<'tool_called'> | undefined> {
  const ref = { tenant, conversation }
  const isIts = (event: StoredEvent): event is StoredEvent<'tool_called'> =>
    event.type === 'tool_called' && event.turn_id === claim.turn_id && event.data.tool_call_id === claim.tool_call_id
  const [before] = await door.conversations.eventsAfter(ref, claim.seq - 2, 1)
  if (before && isIts(before)) return before
  return (await door.conversations.events(ref, { types: ['tool_called'], last: MAX_CALLS })).findLast(isIts)
}
