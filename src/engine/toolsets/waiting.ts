import { awaitsBaseline } from '../../core/proof/check-runs.ts'
import type { Conversation } from '../../core/model/conversation.ts'
import type { StoredEvent } from '../../core/model/event.ts'
import { needsOf } from '../../core/model/needs.ts'
import type { OpenClaim } from '../../core/proof/proof.ts'
import { Refusal } from '../../core/model/refusal.ts'
import type { Door, Ref } from '../door/door.ts'
import type { Told } from './answer.ts'
import type { CheckingCall } from './calls.ts'
import type { ToolContext } from './view.ts'

/** Newest calls searched first for the one of a claim. */
const MAX_CALLS = 1_000

/** Time until a claim that no process serves is ended. */
const ENDED_MS = 15_000

export interface ServedOptions {
  readonly signal?: AbortSignal | undefined
  /** Whether a worker ends what no process serves, so that waiting is safe. */
  readonly isEnded?: boolean
}

/**
 * Waits until a turn's runs are over, in whichever process, and returns the state then; undefined if no process that
 * serves their workspace or the judge is alive. While a person is awaited, none needs to be.
 */
export async function servedUntil(
  { door, tenant, conversation }: ToolContext,
  turnId: string,
  isOver: (state: Conversation) => boolean,
  { signal, isEnded = false }: ServedOptions = {},
): Promise<Conversation | undefined> {
  const ref = { tenant, conversation }
  const service = door.turns.watch(ref)
  try {
    const until = isEnded ? signal : AbortSignal.any([service.gone, ...(signal ? [signal] : [])])
    for await (const state of door.states(ref, until && { signal: until })) {
      if (isOver(state)) return state
      service.needs(needsOf(state, turnId))
    }
    signal?.throwIfAborted()
    // Throws if the door is closed.
    if (!service.gone.aborted) await door.read(ref)
    return undefined
  } finally {
    service.end()
  }
}

/**
 * Waits until a plan's checks have run before the work. If no process with the workspace is alive, the plan is answered
 * without them.
 */
export async function awaitBaseline(context: ToolContext, turnId: string, signal?: AbortSignal): Promise<void> {
  await servedUntil(context, turnId, state => !awaitsBaseline(state, turnId), { signal })
}

/** Ends a claim that blocks a call, even if no process serves it. */
export function watchClaim({ claim_id, turn_id }: OpenClaim, context: ToolContext): void {
  const isOver = ({ claims }: Conversation): boolean => !claims.has(claim_id)
  const signal = AbortSignal.timeout(ENDED_MS)
  void servedUntil(context, turn_id, isOver, { signal, isEnded: true }).catch(() => {})
}

/** The id with which a caller that cannot keep waiting asks for the answer later. */
export const claimIdOf = ({ claim_ids: [first], call_id }: CheckingCall): string => first ?? call_id

/**
 * Waits until a call's claims are settled, by whichever process, and returns its answer; without claims, until its
 * plan's checks have run. If no process with their workspace is alive, a worker of this process ends the claims.
 */
export async function awaitClaims(
  { call_id, claim_ids }: CheckingCall,
  context: ToolContext,
  signal?: AbortSignal,
): Promise<Told> {
  const { door, tenant, conversation, turn } = context
  const isOver = (state: Conversation): boolean =>
    claim_ids.length > 0 ? !claim_ids.some(id => state.claims.has(id)) : !awaitsBaseline(state, turn)
  const ref = { tenant, conversation }
  const state = await servedUntil(context, turn, isOver, { signal, isEnded: claim_ids.length > 0 })
  const { answered_seq } = state ?? (await door.read(ref))
  const newest = answerAmong(await door.conversations.eventsAfter(ref, answered_seq - 1, 1), turn, call_id)
  if (newest) return newest
  for (const last of [MAX_CALLS, undefined]) {
    const events = await door.conversations.events(ref, { types: ['tool_answered'], last })
    const answer = answerAmong(events, turn, call_id)
    if (answer) return answer
  }
  throw new Refusal('turn_finished', { turn_id: turn, status: 'stopped' })
}

/** The call to wait for, by the id that its caller was given, whether or not it is answered. */
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

function answerAmong(events: readonly StoredEvent[], turnId: string, callId: string): Told | undefined {
  const answer = events.findLast(
    (event): event is StoredEvent<'tool_answered'> =>
      event.type === 'tool_answered' && event.turn_id === turnId && event.data.tool_call_id === callId,
  )
  return answer && { result: answer.data.result, ok: answer.data.ok }
}
