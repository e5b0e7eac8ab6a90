import { awaitsBaseline } from '../domain/check-runs.ts'
import type { OpenClaim } from '../domain/proof.ts'
import type { Conversation } from '../domain/conversation.ts'
import type { Json, StoredEvent } from '../domain/event.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Commit, Door, Ref } from '../door/door.ts'
import type { CallState } from './calls.ts'
import type { ToolContext } from './context.ts'
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
