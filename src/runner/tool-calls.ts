import type { Json } from '../domain/event.ts'
import type { Claim, Judged } from '../domain/claim.ts'
import { asProse, isBlank } from '../domain/text.ts'
import { hashOf, type Lease } from '../door/door.ts'
import { toolsets } from '../toolsets/index.ts'
import type { ToolContext } from '../toolsets/context.ts'
import { awaitCall, beginCall } from '../toolsets/calls.ts'
import { recordVerdicts } from '../toolsets/verdicts.ts'
import { UNKNOWN_TOOL } from './ask.ts'
import { judge } from './assessor.ts'
import type { TurnDeps } from './drive.ts'
import { answerOf, type OutsideTool } from './outside.ts'
import { untilAborted } from './retry.ts'
import type { Call, Run, Step } from './run.ts'
import type { ActiveTurn } from './turn.ts'

/** Makes one tool call of a step. Afterwards it is answered or waits for a review. */
export async function makeCall(
  turn: ActiveTurn,
  deps: TurnDeps,
  step: Step,
  call: Call,
  signal: AbortSignal,
): Promise<void> {
  const toolset = toolsets[turn.run.policy.toolset]
  if (call.problem !== undefined && call.problem !== UNKNOWN_TOOL)
    return recordAnswer(turn, deps, call, `Error: ${call.problem}`)
  const isOffered = call.problem === undefined
  const isOwn = toolset.tools.some(({ name }) => name === call.tool)
  if (isOwn && isOffered) return callOwn(turn, deps, step, call, signal)
  const outside = await untilAborted(deps.outside.list(), signal)
  const tool = outside.find(({ name }) => name === call.tool)
  if (tool && isOffered) return callOutside(turn, deps, call, tool, signal)
  const name = call.tool.slice(0, 64).toWellFormed()
  // The last model call of a budget gets no tools.
  if (isOwn || tool)
    return recordAnswer(turn, deps, call, `Error: ${name} was not offered in this step; the call was not made.`)
  const available = [...toolset.tools, ...outside].map(each => each.name).join(', ')
  return recordAnswer(turn, deps, call, `Error: There is no tool ${name}. Available: ${available}.`)
}

async function callOwn(turn: ActiveTurn, deps: TurnDeps, step: Step, call: Call, signal: AbortSignal): Promise<void> {
  const { run, lease } = turn
  const { door, models } = deps
  const toolset = toolsets[run.policy.toolset]
  const context = {
    door,
    tenant: lease.tenant,
    conversation: lease.conversation,
    turn: run.turn,
    toolCallId: call.id,
    provider: models.providerOf(run.request.model),
    model: run.request.model,
    run: { lease, basis: step.digest_seq, lastText: lastText(turn.run) },
    source_user_message_id: run.request.message_id,
    source_assistant_message_id: step.message_id,
  } satisfies ToolContext
  if (call.review?.decided) {
    await awaitCall(call.id, context, signal)
    return
  }
  let state = await beginCall(toolset, call.tool, call.arguments, context)
  if (state.status === 'claimed') {
    const judged = await judgeAll(turn, deps, step, call, state.claims, signal)
    state = await beginCall(toolset, call.tool, call.arguments, { ...context, run: { ...context.run, judged } })
  }
  if (state.status === 'answered' && !state.stored) await recordAnswer(turn, deps, call, state.result, state.ok)
}

/** Asks for a verdict on each claim of a call. */
async function judgeAll(
  turn: ActiveTurn,
  deps: TurnDeps,
  step: Step,
  call: Call,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<readonly Judged[]> {
  const judged: Judged[] = []
  try {
    for (const claim of claims) judged.push(await judge(turn, deps, claim, signal, judged))
  } catch (error) {
    await keepVerdicts(turn, deps, step, call, judged)
    throw error
  }
  return judged
}

/** Keeps the verdicts of a call that a stop interrupted. After any other interruption, the claims are judged anew. */
async function keepVerdicts(
  turn: ActiveTurn,
  { door }: TurnDeps,
  step: Step,
  call: Call,
  judged: readonly Judged[],
): Promise<void> {
  if (judged.length === 0) return
  await door.transact(turn.at(`verdicts:${call.id}`), transaction => {
    if (!transaction.state.turns.get(turn.run.turn)?.stop_requested) return transaction.discard(null)
    for (const one of judged) {
      const { task } = one.claim
      const id = typeof task === 'string' ? task : door.newId()
      recordVerdicts(transaction, id, one, { turnId: turn.run.turn, basis: step.digest_seq })
    }
    return null
  })
}

/** Logs the call before making it: after a crash, it may have run. */
async function callOutside(
  turn: ActiveTurn,
  deps: TurnDeps,
  call: Call,
  tool: OutsideTool,
  signal: AbortSignal,
): Promise<void> {
  const { id: tool_call_id, tool: name, arguments: args } = call
  if (call.called && !tool.isRepeatable) {
    const message = 'The call was interrupted and may have run. Check before you repeat it.'
    return recordAnswer(turn, deps, call, `Error: ${message}`, false, 0, true)
  }
  if (!call.called) {
    const data = { tool_call_id, tool: name, arguments: args }
    await deps.door.run(turn.at(`called:${tool_call_id}`), turn.fact({ type: 'tool_called', data }))
  }
  const ids = { toolCallId: tool_call_id, idempotencyKey: idempotencyKey(turn.lease, tool_call_id) }
  await turn.confirmLease(signal)
  const started = performance.now()
  const { result, ok } = await answerOf(tool, args, { ...deps, ids, signal })
  await recordAnswer(turn, deps, call, result, ok, Math.round(performance.now() - started), true)
}

/** Models number their calls anew in each turn, so that the call's own id is not enough. */
const idempotencyKey = ({ tenant, conversation, turn }: Lease, callId: string): string =>
  hashOf([tenant, conversation, turn, callId])

/** Stores what a call is answered. */
export async function recordAnswer(
  turn: ActiveTurn,
  { door }: TurnDeps,
  { id: tool_call_id, tool }: Call,
  result: Json,
  ok = false,
  duration_ms = 0,
  isOutside = false,
): Promise<void> {
  const edge = isOutside ? {} : ({ edge: 'turn' } as const)
  const data = { tool_call_id, tool, result, duration_ms, ok, ...edge }
  await door.run(turn.at(`answered:${tool_call_id}`), turn.fact({ type: 'tool_answered', data }))
}

/** The latest visible text of the turn, as an outcome. */
function lastText({ steps }: Run): string | undefined {
  const text = steps.findLast(step => !isBlank(step.text))?.text
  return text === undefined ? undefined : asProse(text)
}
