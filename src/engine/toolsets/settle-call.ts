import type { Command, CommandOf, Learnt } from '../../core/model/command.ts'
import type { AskedClaim } from '../../core/decide/claims.ts'
import { settled, type Settled, type Wait } from '../../core/decide/settle.ts'
import { claimsOf, heldBy, type Claim } from '../../core/proof/claims.ts'
import type { OpenClaim } from '../../core/proof/proof.ts'
import { hashOf, type Transaction } from '../door/door.ts'
import { answerTo, answered, unheardOutcome, type Answering, type Told } from './answer.ts'
import { leaseOf, type ToolContext } from './view.ts'
import { toolsets } from './index.ts'
import { observeAnswers } from './observe.ts'
import { SEALED } from '../../core/model/task.ts'

/** New results for a call's claims, to be written in the same commit. */
export interface Facts extends Learnt {
  readonly facts?: readonly Command[] | undefined
}

/** Written with the end of a claim that a text made, not a tool. */
export type TextAnswer = (transaction: Transaction, settled: Settled) => void

/**
 * Writes new results for a call's claims, and settles the call if they need nothing more, with its effects and its
 * answer in the same commit. Otherwise returns the next need; final runs of a plan are requested.
 */
export async function settleCall(
  context: ToolContext,
  claim: Pick<OpenClaim, 'turn_id' | 'tool_call_id'>,
  { facts = [], ...learnt }: Facts = {},
  onText?: TextAnswer,
): Promise<Wait | null> {
  const started = performance.now()
  const { door, tenant, conversation } = context
  const reopened = await unheardOutcome(context, await door.read({ tenant, conversation }))
  const committed = await door.transact({ tenant, conversation, ...leaseOf(context) }, transaction => {
    // A verdict on a claim that was stopped meanwhile is refused.
    for (const fact of facts) transaction.run(fact)
    return settleIn({ context, transaction, started, reopened }, claim, learnt, onText)
  })
  observeAnswers(context, committed)
  return committed.value
}

export function settleIn(
  deps: Pick<Answering, 'context' | 'transaction' | 'started' | 'reopened'>,
  { turn_id: turn, tool_call_id: callId }: Pick<OpenClaim, 'turn_id' | 'tool_call_id'>,
  learnt: Learnt = {},
  onText?: TextAnswer,
): Wait | null {
  const { transaction } = deps
  const claims = claimsOf(transaction.state, turn, callId)
  if (claims.length === 0) return null
  const held = heldBy(claims)
  const toolset = held && toolsets[held.toolset]
  const tool = toolset?.tools.find(({ name }) => name === held?.tool)
  if (held?.tool !== undefined && !tool && learnt.ended !== 'failed') throw new LostTool(held.tool)
  const done = settled(transaction.state, { turn_id: turn, tool_call_id: callId }, learnt, transaction.now)
  if ('needs' in done) {
    if (done.needs === 'runs') transaction.mustRun({ type: 'request_final', turn_id: turn, ...learnt.seen })
    return done
  }
  transaction.take(done.events)
  if (held?.tool === undefined || !toolset) {
    onText?.(transaction, done)
    return null
  }
  const view = { state: transaction.state, turnId: turn }
  const told = tool && learnt.ended !== 'failed' ? answerTo(toolset, tool, view, held.edit, done) : ABANDONED
  const call = { toolset, tool: tool ?? { name: held.tool }, callId, items: held.items, claims }
  const context = { ...deps.context, turn, ...(held.edge ? { edge: held.edge } : {}) }
  transaction.mustRun(answered({ ...deps, ...call, context, started: beganAt(claims, transaction) }, told).command)
  return null
}

/** A held call's tool is unknown: another version made the call. */
export class LostTool extends TypeError {
  constructor(tool: string) {
    super(`There is no tool ${tool}.`)
  }
}

/** When a held call began, on the clock of `performance.now()`. */
const beganAt = ([first]: readonly OpenClaim[], { now }: Transaction): number =>
  performance.now() - Math.max(0, Date.parse(now) - Date.parse(first?.at ?? now))

const ABANDONED: Told = {
  result: 'Error: The server failed unexpectedly; nothing was changed. Its log has the details.',
  ok: false,
}

export const newClaims = (newId: () => string, asked: readonly AskedClaim[]): CommandOf<'make_claims'>['claims'] =>
  asked.map(claim => {
    const { task, status, outcome, judge } = claim
    return {
      claim_id: `clm_${newId()}`,
      task_id: task,
      status,
      outcome,
      seal: sealOf(claim),
      ...(judge ? { judge } : {}),
    }
  })

/** SHA-256 of the text that a verdict is about. A task's seal stays the same until it is reworded. */
export const sealOf = (text: Pick<Claim, (typeof SEALED)[number]>): string =>
  Buffer.from(hashOf(SEALED.map(field => text[field])), 'base64url').toString('hex')

interface Ways {
  readonly learnt?: Learnt
  readonly look?: () => Promise<Learnt>
  readonly judge?: ((claim: OpenClaim) => Promise<readonly Command[]>) | undefined
  readonly onText?: TextAnswer
}

/** Settles the call of a claim as far as this process can; returns what it still waits for. */
export async function settleThrough(
  context: ToolContext,
  claim: OpenClaim,
  { learnt = {}, look, judge, onText }: Ways,
): Promise<Wait | null> {
  let facts: Facts = learnt
  for (;;) {
    const wait = await settleCall(context, claim, facts, onText)
    if (wait?.needs === 'look' && look) facts = await look()
    // Files may change while the judge thinks, so the workspace is surveyed again.
    else if (wait?.needs === 'judge' && judge) facts = { ...learnt, facts: await judge(wait.claim) }
    else return wait
  }
}
