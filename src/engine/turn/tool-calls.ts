import type { Command } from '../../core/model/command.ts'
import type { Json } from '../../core/model/event.ts'
import type { OpenClaim } from '../../core/proof/proof.ts'
import { asProse, isBlank } from '../../core/model/text.ts'
import {
  offeredOf,
  rulingOf,
  savedRule,
  type RuledTool,
  type Ruling,
  type SavedRules,
} from '../../core/model/tool-approval.ts'
import { hashOf } from '../door/door.ts'
import { toolsets } from '../toolsets/index.ts'
import type { ToolContext } from '../toolsets/view.ts'
import { awaitCall, beginCall } from '../toolsets/calls.ts'
import { observe } from '../toolsets/observe.ts'
import { withChecks, type Toolset } from '../toolsets/toolset.ts'
import { UNKNOWN_TOOL } from './ask.ts'
import type { TurnDeps } from './drive.ts'
import { verdictsOn, type Judge } from '../worker/judge.ts'
import { modelJudge } from '../worker/model-judge.ts'
import type { Move } from './move.ts'
import { answerOf, type OutsideTool } from '../worker/outside.ts'
import { untilAborted } from '../worker/silence.ts'
import { isAlwaysAllowed, type Call, type Run, type Step } from './run.ts'
import { settleThrough } from '../toolsets/settle-call.ts'
import { afterText } from '../worker/text-claims.ts'
import { isUnreadable, type ActiveTurn } from './turn.ts'

export function toolsetOf({ policy, state, turn }: Run, { door }: Pick<TurnDeps, 'door'>): Toolset {
  const toolset = ownPart(toolsets[policy.toolset])
  const workspace = state.turns.get(turn)?.workspace
  return workspace && door.checks.offered?.(workspace) ? withChecks(toolset) : toolset
}

const ownPart = (toolset: Toolset): Toolset =>
  toolset.tools.some(({ isOutside }) => isOutside)
    ? { ...toolset, tools: toolset.tools.filter(({ isOutside }) => !isOutside) }
    : toolset

/** Makes a tool call: afterwards it is answered, or waits. */
export async function makeCall(
  turn: ActiveTurn,
  deps: TurnDeps,
  step: Step,
  call: Call,
  signal: AbortSignal,
): Promise<void> {
  const toolset = toolsetOf(turn.run, deps)
  if (call.problem !== undefined && call.problem !== UNKNOWN_TOOL)
    return refuse(turn, deps, call, `Error: ${call.problem}`)
  const isOffered = call.problem === undefined
  const isOwn = toolset.tools.some(({ name }) => name === call.tool)
  if (isOwn && isOffered) return callOwn(turn, deps, step, call, signal)
  const outside = await untilAborted(deps.outside.list(turn.run.request.model), signal)
  const tool = outside.find(({ name }) => name === call.tool)
  if (tool && isOffered && (await isAllowed(turn, deps, call, tool))) return callOutside(turn, deps, call, tool, signal)
  if (tool && isOffered) return
  const name = call.tool.slice(0, 64).toWellFormed()
  // The last model call of a budget gets no tools.
  if (isOwn || tool)
    return refuse(turn, deps, call, `Error: ${name} was not offered in this step; the call was not made.`)
  const available = [...toolset.tools, ...offeredTools(outside, deps)].map(each => each.name).join(', ')
  return refuse(turn, deps, call, `Error: There is no tool ${name}. Available: ${available}.`)
}

async function callOwn(turn: ActiveTurn, deps: TurnDeps, step: Step, call: Call, signal: AbortSignal): Promise<void> {
  const context = contextOf(turn, deps, step, call.id)
  if (call.review?.decided) {
    await awaitCall(call.id, context, signal)
    return
  }
  try {
    const state = await beginCall(toolsetOf(turn.run, deps), call.tool, call.arguments, context)
    if (state.status === 'answered' && !state.stored) await recordAnswer(turn, deps, call, state.result, state.ok)
  } catch (error) {
    if (!isUnreadable(error)) throw error
    await recordAnswer(turn, deps, call, `Error: ${error.message}`)
  }
}

function contextOf({ run, lease }: ActiveTurn, { door, models }: TurnDeps, step: Step, callId: string): ToolContext {
  return {
    door,
    tenant: lease.tenant,
    conversation: lease.conversation,
    turn: run.turn,
    toolCallId: callId,
    provider: models.providerOf(run.request.model),
    model: run.request.model,
    run: { lease, basis: step.digest_seq, lastText: lastText(run) },
    source_user_message_id: run.request.message_id,
    source_assistant_message_id: step.message_id,
  }
}

/** Settles the checked claims of a call or a text; the judge rules on them one by one. */
export async function settleOwn(
  turn: ActiveTurn,
  deps: TurnDeps,
  { step, claim }: Extract<Move, { type: 'settle' }>,
  signal: AbortSignal,
): Promise<void> {
  const context = contextOf(turn, deps, step, claim.tool_call_id)
  const learnt = deps.isUnserved ? { ended: 'no_workspace' as const } : {}
  const keep = async (facts: readonly Command[]): Promise<void> => {
    const { turns } = await deps.door.read(turn.lease)
    // Kept only after a stop; otherwise the claim is judged again.
    if (turns.get(turn.run.turn)?.stop_requested) await deps.door.run({ ...turn.lease, lease: turn.lease }, ...facts)
  }
  const judgeOfTurn = async (): Promise<Judge> => {
    const { model, endpoint } = turn.run.request
    return modelJudge(await deps.models.assessorFor(model, endpoint), deps)
  }
  const judge = async (each: OpenClaim): Promise<readonly Command[]> => {
    await turn.catchUp()
    return verdictsOn(turn, { ...deps, judge: judgeOfTurn }, each, signal, keep)
  }
  await settleThrough(context, claim, { learnt, judge, onText: afterText(turn, claim.task_id) })
}

/** Outside tools for the model, without forbidden ones and up to its limit. */
export const offeredTools = (
  tools: readonly OutsideTool[],
  { rules }: Pick<TurnDeps, 'rules'>,
): readonly OutsideTool[] => {
  const saved = rules()
  const allowed = tools.filter(({ from }) => !from || rulingOf(from, saved).rule !== 'never')
  return offeredOf(allowed, ({ from }) => from?.server)
}

/** Whether a call may be made; if not, it is answered or waits for a person. */
async function isAllowed(turn: ActiveTurn, deps: TurnDeps, call: Call, { from }: OutsideTool): Promise<boolean> {
  // It was allowed before it began; whether it may be repeated is checked later.
  if (!from || call.called) return true
  const { rule, changed } = rulingFor(turn.run, from, deps.rules())
  const { approval } = call
  if (rule === 'never') return deny(turn, deps, call, 'A person has turned this tool off.')
  if (approval?.decision === 'deny') {
    const said = approval.comment === undefined ? '' : ` They said: ${approval.comment}`
    return deny(turn, deps, call, `A person did not allow this call; it was not made.${said}`)
  }
  // The tool must be exactly the one that the person was shown.
  const isShown = approval?.decision !== undefined && approval.fingerprint === from.fingerprint
  if (rule === 'always' || isShown) return true
  await askPerson(turn, deps, call, from, approval?.decision === undefined ? changed : 'tool')
  return false
}

/** A saved rule, else the person's answer in this turn. */
function rulingFor(run: Run, tool: RuledTool, saved: SavedRules): Pick<Ruling, 'rule' | 'changed'> {
  if (!savedRule(saved, tool) && isAlwaysAllowed(run, tool.fingerprint)) return { rule: 'always' }
  return rulingOf(tool, saved)
}

async function deny(turn: ActiveTurn, deps: TurnDeps, call: Call, why: string): Promise<false> {
  await recordAnswer(turn, deps, call, `Error: ${why} Go on without it, or say what you cannot do.`, false, 0, true)
  return false
}

/** The turn parks at its next move. */
async function askPerson(
  turn: ActiveTurn,
  { door }: TurnDeps,
  { id: tool_call_id, tool, arguments: args, approval }: Call,
  { server, tool: server_tool, fingerprint, isReadOnly }: RuledTool,
  changed: Ruling['changed'],
): Promise<void> {
  const asked = {
    approval_id: door.newId(),
    tool_call_id,
    tool,
    arguments: args,
    server,
    server_tool,
    fingerprint,
    ...(isReadOnly ? { read_only: true as const } : {}),
    ...(changed ? { changed } : {}),
  }
  const key = approval ? `asked:${tool_call_id}:${approval.id}` : `asked:${tool_call_id}`
  await door.run(turn.at(key), { type: 'ask_approval', turn_id: turn.run.turn, approval: asked })
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
  const ids = { toolCallId: tool_call_id, idempotencyKey: idempotencyKey(turn, tool_call_id) }
  await turn.confirmLease(signal)
  const started = performance.now()
  const { result, ok } = await answerOf(tool, args, { ...deps, ids, signal })
  await recordAnswer(turn, deps, call, result, ok, Math.round(performance.now() - started), true)
}

async function refuse(turn: ActiveTurn, deps: TurnDeps, call: Call, result: string): Promise<void> {
  const { run, lease } = turn
  const { name, tools } = toolsets[run.policy.toolset]
  const isOwn = tools.some(tool => tool.name === call.tool)
  const labels = isOwn ? { toolset: name, tool: call.tool } : { toolset: 'unknown', tool: 'unknown' }
  const started = performance.now()
  await recordAnswer(turn, deps, call, result)
  const model = { provider: deps.models.providerOf(run.request.model), model: run.request.model }
  const caller = { door: deps.door, edge: 'turn', conversation: lease.conversation, turn: run.turn, ...model } as const
  observe(caller, { ...labels, callId: call.id, items: 0, started, outcome: 'refused', stored: true })
}

/** Call ids repeat across turns and installations. */
function idempotencyKey({ lease, run }: ActiveTurn, callId: string): string {
  const { tenant, conversation, turn } = lease
  return hashOf([tenant, conversation, run.state.created_at, turn, callId])
}

async function recordAnswer(
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

function lastText({ steps }: Run): string | undefined {
  const text = steps.findLast(step => !isBlank(step.text))?.text
  return text === undefined ? undefined : asProse(text)
}
