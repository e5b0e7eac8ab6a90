import { checkIn, JUDGE, workspaceKey } from '../domain/needs.ts'
import { type OpenClaim, settleable, workspaceOf } from '../domain/proof.ts'
import type { Conversation } from '../domain/conversation.ts'
import type { Json, StoredEvent } from '../domain/event.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Door, Ref } from '../door/door.ts'
import { nextCommit, UNSERVED_MS } from './baseline.ts'
import { type CallState, type Learnt, resumeCall } from './calls.ts'
import type { ToolContext } from './context.ts'
import { toolsets } from './index.ts'

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
  const ref = { tenant, conversation }
  const leave = new AbortController()
  const ends = signal ? AbortSignal.any([signal, leave.signal]) : leave.signal
  let isUnserved = false
  const timer = setInterval(() => void lookForServer(), UNSERVED_MS)
  timer.unref()
  async function lookForServer(): Promise<void> {
    const state = await door.read(ref)
    const waiting = openOnes(state, claim_ids)
    if (waiting.length === 0 || (await isServed(context, state, waiting))) return
    isUnserved = true
    leave.abort()
  }
  try {
    for (;;) {
      const state = await door.read(ref)
      const open = openOnes(state, claim_ids)
      if (open.length === 0) return await answerIn(context, call_id)
      if (isUnserved) return await endUnserved(context, call_id, open)
      await nextCommit(context, state.seq, ends).catch((error: unknown) => {
        if (!isUnserved) throw error
      })
    }
  } finally {
    clearInterval(timer)
  }
}

/** Makes the call of these claims again, with its arguments from the log. */
export async function settleCall(context: ToolContext, claim: OpenClaim, learnt: Learnt = {}): Promise<CallState> {
  const { door, tenant, conversation } = context
  const ref = { tenant, conversation }
  const called = await callOf(context, claim)
  const { policy } = await door.read(ref)
  const toolset = toolsets[policy?.toolset ?? 'runsheet']
  const { tool, arguments: args } = called.data
  return resumeCall(toolset, tool, args, claim.tool_call_id, { ...context, turn: claim.turn_id }, learnt)
}

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

/** Whether some process makes the runs, or waits for a person. */
async function isServed({ door }: ToolContext, state: Conversation, [claim]: readonly OpenClaim[]): Promise<boolean> {
  if (claim?.judge && settleable(state, claim.turn_id).includes(claim)) return door.turns.served(JUDGE)
  const task = claim && state.tasks.get(claim.task_id)
  const workspace = task && workspaceOf(state, task)
  if (!workspace) return true
  const isBegun = [...state.runs.values()].some(({ started }) => started?.claim_id === claim.claim_id)
  return isBegun || Object.keys(claim.results).length > 0 || (await door.turns.served(checkIn(workspaceKey(workspace))))
}

async function endUnserved(context: ToolContext, callId: string, open: readonly OpenClaim[]): Promise<ClaimAnswer> {
  const [claim] = open
  if (!claim) return answerIn(context, callId)
  const state = await settleCall(context, claim, { ended: claim.judge ? 'no_judge' : 'no_workspace' })
  if (state.status === 'answered') return { result: state.result, ok: state.ok }
  return answerIn(context, callId)
}

async function answerIn(context: ToolContext, callId: string): Promise<ClaimAnswer> {
  const { door, tenant, conversation, turn } = context
  const answers = await door.conversations.events(
    { tenant, conversation },
    { types: ['tool_answered'], last: MAX_CALLS },
  )
  const answer = answers.findLast(
    (event): event is StoredEvent<'tool_answered'> =>
      event.type === 'tool_answered' && event.data.tool_call_id === callId,
  )
  if (!answer) throw new Refusal('turn_finished', { turn_id: turn, status: 'stopped' })
  return { result: answer.data.result, ok: answer.data.ok }
}

async function callOf(
  { door, tenant, conversation }: ToolContext,
  claim: OpenClaim,
): Promise<StoredEvent<'tool_called'>> {
  const calls = await door.conversations.events({ tenant, conversation }, { types: ['tool_called'], last: MAX_CALLS })
  const called = calls.findLast(
    (event): event is StoredEvent<'tool_called'> =>
      event.type === 'tool_called' && event.turn_id === claim.turn_id && event.data.tool_call_id === claim.tool_call_id,
  )
  if (!called) throw new TypeError(`The log has no call ${claim.tool_call_id}.`)
  return called
}
