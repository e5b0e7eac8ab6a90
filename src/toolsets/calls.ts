import type { Claim } from '../domain/claim.ts'
import type { CommandOf, Sources } from '../domain/command.ts'
import { toolsetMismatch } from '../domain/decide/turns.ts'
import type { Json } from '../domain/event.ts'
import { Refusal } from '../domain/refusal.ts'
import { type At, hashOf, type ObservedCall, type ReviewRecord, StoreError, type Transaction } from '../door/door.ts'
import { currentToolContext, type ToolContext } from './context.ts'
import { explain } from './explain.ts'
import { available, toolNamed } from './guidance.ts'
import { parseInput } from './input.ts'
import { countItems, edgeOf, elapsed, observe } from './observe.ts'
import { type AnswerWithOutcome, unheardOutcome, withOutcome } from './reopened.ts'
import { askedBy, reviewAnswer, reviewOfRepeatedCall } from './review-answer.ts'
import { PENDING, ToolCall } from './tool-call.ts'
import type { Tool, Toolset } from './toolset.ts'
import type { View } from './view.ts'

export const NO_CONTEXT = 'Error: Task list is not available (no conversation context).'

/** The state of a call. */
export type CallState =
  /** `stored`: the answer is in the log. */
  | { readonly status: 'answered'; readonly result: Json; readonly ok: boolean; readonly stored: boolean }
  /** Waits for a review: go on with `awaitCall`. */
  | { readonly status: 'pending_review'; readonly call_id: string; readonly review_id: string }
  /** Only in a judged run: nothing is stored. Begin the call again with the assessor's verdicts. */
  | { readonly status: 'claimed'; readonly claims: readonly Claim[] }

/**
 * Begins a call as one commit. What the toolset refuses is an answer to the model. Refusals about the turn or the policy
 * are thrown, so that an edge can map them to a status.
 */
export async function beginCall(
  toolset: Toolset,
  name: string,
  input: unknown,
  context: ToolContext,
): Promise<CallState> {
  const started = performance.now()
  // Invented names must not become metric labels.
  const tool = toolNamed(toolset, name)?.name ?? 'unknown'
  const report = (outcome: ObservedCall['outcome'], callId = context.toolCallId, stored = false): void =>
    observe(context, { callId, toolset: toolset.name, tool, items: countItems(input), started, outcome, stored })
  try {
    const { call, callId, repeated } = await begin(toolset, name, input, context, started)
    // A waiting call is reported once it is answered.
    // A run of ours stores every answer.
    const stored = call.status === 'answered' && (call.stored || context.run !== undefined)
    if (call.status === 'answered' && !repeated) report(call.ok ? 'ok' : 'refused', callId, stored)
    return call
  } catch (error) {
    report(error instanceof Refusal ? 'refused' : 'failed')
    throw error
  }
}

/** Waits until a begun call is decided, and returns what the model is told. */
export async function awaitCall(callId: string, context: ToolContext, signal?: AbortSignal): Promise<Json> {
  const { door, tenant, turn, run } = context
  const ref = { tenant, conversation: context.conversation }
  const { reviews, policy } = await door.read(ref)
  const review = [...reviews.values()].findLast(
    ({ tool_call_id, conversation_turn_id }) => tool_call_id === callId && conversation_turn_id === turn,
  )
  if (!review) throw new Refusal('review_not_found', { review_id: callId })
  const { toolset, tool } = askedBy(review, policy)
  const started = performance.now()
  const record = await door.reviews.await(tenant, review.review_id, signal)
  const ok = record.resolution?.action === 'confirm'
  const once = { key: `answer:${turn}:${callId}`, bodyHash: '' }
  const items = record.review.draft_tasks.length
  const reopened = await unheardOutcome(context, review.review_id)
  const at = { ...ref, once, ...(run ? { lease: run.lease } : {}) }
  const { value, replayed, events } = await door.transact(at, work => {
    // The tasks as they are now, with any edits since the decision.
    const tasks = record.tasks.flatMap(({ id }) => work.state.tasks.get(id) ?? [])
    const answer = withOutcome(work.state, reviewAnswer(work.state, { ...record, tasks }), reopened)
    work.run(answeredFact(context, { tool_call_id: callId, tool: tool.name, ...answer, ok, items, started }))
    return answer.result
  })
  if (!replayed) {
    const outcome = ok ? 'ok' : 'refused'
    // The turn may have ended meanwhile: then the answer is not stored.
    const stored = events.length > 0
    observe(context, { callId, toolset: toolset.name, tool: tool.name, items, started, outcome, stored })
  }
  return value
}

/** Begins a call and waits for its answer. Refusals and storage failures are answers, too. */
export async function callTool(
  toolset: Toolset,
  name: string,
  input: unknown,
  context: ToolContext | undefined = currentToolContext(),
  signal?: AbortSignal,
): Promise<Json> {
  if (!context) return NO_CONTEXT
  try {
    const call = await beginCall(toolset, name, input, context)
    if (call.status === 'answered') return call.result
    if (call.status === 'claimed') throw new Refusal('assessment_required', { claims: call.claims })
    return await awaitCall(call.call_id, context, signal)
  } catch (error) {
    return failureAnswer(toolset, error, context)
  }
}

/** A refusal or storage failure as an answer for the model: no stack, no path, no SQL. Other errors are rethrown. */
export async function failureAnswer(toolset: Toolset, error: unknown, context: ToolContext): Promise<Json> {
  if (error instanceof StoreError) {
    const conflict = 'This tool call id was already used with other arguments.'
    return `Error: ${error.code === 'key_conflict' ? conflict : error.message}`
  }
  if (!(error instanceof Refusal)) throw error
  // Without a valid conversation there is no state to show.
  if (error.code === 'invalid_id') return `Error: ${error.message}`
  return viewOf(context).then(
    view => toolset.refused(explain(error, toolset), view),
    unread => failureAnswer(toolset, unread, context),
  )
}

interface Begun {
  readonly call: CallState
  /** Absent if the call was refused before it got an id. */
  readonly callId?: string
  /** The call id was known: this is its stored answer. */
  readonly repeated: boolean
}

async function begin(
  toolset: Toolset,
  name: string,
  input: unknown,
  context: ToolContext,
  started: number,
): Promise<Begun> {
  const { door, turn, run, host = {} } = context
  const view = await viewOf(context)
  const tool = toolNamed(toolset, name)
  if (!tool) return { call: refused(toolset.refused(unknownTool(toolset, name), view)), repeated: false }
  const parsed = parseInput(tool, input)
  if (parsed instanceof Refusal) {
    return { call: refused(toolset.refused(explain(parsed, toolset, tool), view)), repeated: false }
  }
  // Hash the parsed input, so that unknown keys do not make a repeated call look different.
  const bodyHash = hashOf([tool.name, parsed.value])
  const prefix = `call_${bodyHash.slice(0, 16)}_`
  const toolCallId = context.toolCallId ?? `${prefix}${door.newId()}`
  const basis = run?.basis ?? view.state.answered_seq
  const at: At = {
    tenant: context.tenant,
    conversation: context.conversation,
    once: { key: `call:${turn}:${toolCallId}`, bodyHash, isFresh: context.toolCallId === undefined },
    ...(run ? { lease: run.lease } : {}),
  }
  const reopened = await unheardOutcome(context)
  const { value, replayed } = await door.transact(at, (transaction): CallState => {
    const other = toolsetMismatch(transaction.state, toolset.name)
    if (other) throw other
    const { client } = context
    const plans = tool.created !== undefined
    if (!run) transaction.mustRun({ type: 'open_turn', turn_id: turn, toolset: toolset.name, host, client, plans })
    // Without an id, a call that equals a waiting one joins it.
    const repeats = context.toolCallId === undefined && tool.created
    const review = repeats && reviewOfRepeatedCall(transaction.state, turn, prefix, transaction.now)
    if (review) {
      const { review_id, tool_call_id: call_id } = review
      return transaction.discard({ status: 'pending_review', call_id, review_id })
    }
    return perform({ toolset, tool, input: parsed.value, context, transaction, toolCallId, basis, started, reopened })
  })
  return { call: value, callId: toolCallId, repeated: replayed }
}

interface PerformDeps {
  readonly toolset: Toolset
  readonly tool: Tool
  readonly input: never
  readonly context: ToolContext
  readonly transaction: Transaction
  readonly toolCallId: string
  readonly basis: number
  readonly started: number
  readonly reopened: ReviewRecord | undefined
}

/** Runs the tool inside the transaction and records the call. */
function perform(deps: PerformDeps): CallState {
  const { toolset, tool, input, context, transaction, toolCallId, basis, started, reopened } = deps
  const { run, turn, door } = context
  const record = (own: Json, ok: boolean): CallState => {
    const items = countItems(input)
    const answer = withOutcome(transaction.state, own, reopened)
    transaction.mustRun(
      answeredFact(context, { tool_call_id: toolCallId, tool: tool.name, ...answer, ok, items, started }),
    )
    return { status: 'answered', result: answer.result, ok, stored: true }
  }
  // A call that may wait is logged before its review.
  if (tool.created && transaction.state.policy?.review) {
    const data = { tool_call_id: toolCallId, tool: tool.name, arguments: input }
    transaction.mustRun({ type: 'record', turn_id: turn, fact: { type: 'tool_called', data } })
  }
  const call = new ToolCall({
    transaction,
    toolset,
    tool,
    turnId: turn,
    toolCallId,
    basis,
    newId: door.newId,
    sources: sourcesOf(context),
    judged: run?.judged ?? [],
    lastText: run?.lastText,
  })
  try {
    const result = tool.run(call, input)
    call.end()
    if (result !== PENDING) return record(result, true)
    const review_id = transaction.state.pending_reviews.at(-1) ?? ''
    return { status: 'pending_review', call_id: toolCallId, review_id }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    if (error.is('assessment_required') && !run?.judged) {
      return transaction.discard({ status: 'claimed', claims: error.data.claims })
    }
    call.end()
    const result = toolset.refused(explain(error, toolset, tool), call)
    // A run resumes from its stored answers. Elsewhere only a fenced write is stored: its refusal counts as an answer.
    if (run || error.is('edited_by_person')) return record(result, false)
    return transaction.discard(refused(result))
  }
}

interface Answered extends AnswerWithOutcome {
  readonly tool_call_id: string
  readonly tool: string
  readonly ok: boolean
  readonly items: number
  readonly started: number
}

function answeredFact(context: ToolContext, { started, ...answer }: Answered): CommandOf<'record'> {
  const data = { ...answer, duration_ms: elapsed(started), edge: edgeOf(context) }
  return { type: 'record', turn_id: context.turn, fact: { type: 'tool_answered', data } }
}

const unknownTool = (toolset: Toolset, name: string): string =>
  `There is no tool ${name.slice(0, 64).toWellFormed()}. Available: ${available(toolset)}.`

async function viewOf({ door, tenant, conversation, turn }: ToolContext): Promise<View> {
  return { state: await door.read({ tenant, conversation }), turnId: turn }
}

function sourcesOf({ source_user_message_id, source_assistant_message_id }: Sources): Sources {
  return { source_user_message_id, source_assistant_message_id }
}

const refused = (result: Json): CallState => ({ status: 'answered', result, ok: false, stored: false })
