import type { Json } from '../domain/event.ts'
import { toolsets } from '../toolsets/index.ts'
import type { ToolContext } from '../toolsets/context.ts'
import { awaitCall, takeCall } from '../toolsets/perform.ts'
import { judge } from './assessor.ts'
import type { Circumstances } from './drive.ts'
import { answerOf, type OutsideTool } from './outside.ts'
import { unlessAborted } from './patience.ts'
import type { Call, Run, Step } from './run.ts'
import type { ActiveTurn } from './turn.ts'

/** Makes one call of a step: of the plan's own tools, or of one that lives elsewhere. It ends in an answer, or parks. */
export async function callTool(
  turn: ActiveTurn,
  with_: Circumstances,
  step: Step,
  call: Call,
  signal: AbortSignal,
): Promise<void> {
  const toolset = toolsets[turn.run.policy.toolset]
  if (call.problem !== undefined && call.problem !== UNKNOWN)
    return answered(turn, with_, call, `Error: ${call.problem}`)
  const isOffered = call.problem === undefined
  const isOwn = toolset.tools.some(({ name }) => name === call.tool)
  if (isOwn && isOffered) return callOwn(turn, with_, step, call, signal)
  const outside = await unlessAborted(with_.outside.list(), signal)
  const tool = outside.find(({ name }) => name === call.tool)
  if (tool && isOffered) return callOutside(turn, with_, call, tool, signal)
  const name = call.tool.slice(0, 64).toWellFormed()
  // The last call of a budget is asked for an answer: what is called all the same is not made.
  if (isOwn || tool) return answered(turn, with_, call, `Error: ${name} was not offered in this step; it was not made.`)
  const there = [...toolset.tools, ...outside].map(each => each.name).join(', ')
  return answered(turn, with_, call, `Error: There is no tool ${name}. There are: ${there}.`)
}

const UNKNOWN = 'unknown tool'

async function callOwn(
  turn: ActiveTurn,
  with_: Circumstances,
  step: Step,
  call: Call,
  signal: AbortSignal,
): Promise<void> {
  const { run, lease } = turn
  const { runsheet, models } = with_
  const toolset = toolsets[run.policy.toolset]
  const context: ToolContext = {
    runsheet,
    tenant: lease.tenant,
    conversation: lease.conversation,
    turn: run.turn,
    toolCallId: call.id,
    model: run.request.model,
    run: { lease, basis: step.digest_seq, said: lastSaid(turn.run) },
    source_user_message_id: run.request.message_id,
    source_assistant_message_id: step.message_id,
  }
  if (call.review?.decided) {
    await awaitCall(toolset, call.tool, call.review.id, context, signal)
    return
  }
  let taken = await takeCall(toolset, call.tool, call.arguments, context)
  if (taken.status === 'claimed') {
    const assessor = { ...models.assessorFor(run.request.model), retryMs: with_.retryMs }
    const judged = []
    for (const claim of taken.claims) judged.push(await judge(assessor, claim, run, '', signal, turn.before))
    const asJudged = { ...context, run: { lease, basis: step.digest_seq, said: lastSaid(run), judged } }
    taken = await takeCall(toolset, call.tool, call.arguments, asJudged)
  }
  if (taken.status === 'claimed')
    return answered(turn, with_, call, 'Error: The plan changed meanwhile. Look at it again.')
  if (taken.status === 'answered' && !taken.written) await answered(turn, with_, call, taken.result, taken.ok)
}

/** It is written down before it is made: after a crash we know that it may have run. */
async function callOutside(
  turn: ActiveTurn,
  with_: Circumstances,
  call: Call,
  tool: OutsideTool,
  signal: AbortSignal,
): Promise<void> {
  const { id: tool_call_id, tool: name, arguments: args } = call
  if (call.called && !tool.isRepeatable) {
    const message = 'The call was interrupted, and nobody knows whether it ran. Find out before you make it again.'
    return answered(turn, with_, call, `Error: ${message}`)
  }
  if (!call.called) {
    const data = { tool_call_id, tool: name, arguments: args }
    await with_.runsheet.run(turn.at(`called:${tool_call_id}`), turn.fact({ type: 'tool_called', data }))
  }
  const started = performance.now()
  const { result, ok } = await answerOf(tool, args, signal, with_.limits)
  await answered(turn, with_, call, result, ok, Math.round(performance.now() - started))
}

async function answered(
  turn: ActiveTurn,
  { runsheet }: Circumstances,
  { id: tool_call_id, tool }: Call,
  result: Json,
  ok = false,
  duration_ms = 0,
): Promise<void> {
  const data = { tool_call_id, tool, result, duration_ms, ok }
  await runsheet.run(turn.at(`answered:${tool_call_id}`), turn.fact({ type: 'tool_answered', data }))
}

/** The newest text of the turn, as much of it as an outcome may hold. */
function lastSaid({ steps }: Run): string | undefined {
  const said = steps.findLast(({ text }) => text.trim() !== '')?.text.trim()
  return said === undefined ? undefined : Array.from(said).slice(0, 8_000).join('')
}
