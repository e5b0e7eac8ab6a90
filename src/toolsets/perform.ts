import type { CommandOf, Sources } from '../domain/command.ts'
import { otherToolset } from '../domain/decide/turns.ts'
import { Refusal } from '../domain/errors.ts'
import type { Json } from '../domain/event.ts'
import { type At, hashOf, StoreError, type Transaction } from '../runsheet.ts'
import { PENDING, ToolCall } from './call.ts'
import type { Claim } from './claims.ts'
import { currentToolContext, type ToolContext } from './context.ts'
import { reviewAnswer, unheardReview, waitingCall } from './decided.ts'
import { countItems, type ObservedCall } from './observe.ts'
import { parseInput, teaching } from './teach.ts'
import type { Tool, Toolset } from './toolset.ts'
import type { View } from './view.ts'

export const NO_CONTEXT = 'Error: Task list is not available (no conversation context).'

/** A call that was taken: answered, or waiting for a person. */
export type Taken =
  /** `written`: the answer is in the log. */
  | { readonly status: 'answered'; readonly result: Json; readonly ok: boolean; readonly written: boolean }
  | { readonly status: 'pending_review'; readonly review_id: string }
  /** In a judged run: nothing is written until the assessor was asked. */
  | { readonly status: 'claimed'; readonly claims: readonly Claim[] }

/** Calls a tool and waits for whatever it waits for. Always an answer: what a model may not do, it is told. */
export async function callTool(
  toolset: Toolset,
  name: string,
  input: unknown,
  context: ToolContext | undefined = currentToolContext(),
  signal?: AbortSignal,
): Promise<Json> {
  if (!context) return NO_CONTEXT
  try {
    const taken = await attemptCall(toolset, name, input, context)
    if (taken.status === 'answered') return taken.result
    if (taken.status === 'claimed') throw new Refusal('assessment_required', 'Only the assessor settles a task here.')
    return await awaitCall(toolset, name, taken.review_id, context, signal)
  } catch (error) {
    return failure(toolset, error, context)
  }
}

/** Takes a call; whatever the rules or the store say against it is an answer in words. */
export async function attemptCall(
  toolset: Toolset,
  name: string,
  input: unknown,
  context: ToolContext,
): Promise<Taken> {
  try {
    return await takeCall(toolset, name, input, context)
  } catch (error) {
    return answered(await failure(toolset, error, context), false)
  }
}

/**
 * Takes a call as one commit. What the toolset's own words can answer is an answer; a refusal that is about the turn or
 * the policy is thrown, so that an edge can give it a status.
 */
export async function takeCall(toolset: Toolset, name: string, input: unknown, context: ToolContext): Promise<Taken> {
  const started = performance.now()
  let outcome: ObservedCall['outcome'] = 'failed'
  try {
    const taken = await take(toolset, name, input, context)
    outcome = taken.status === 'answered' ? (taken.ok ? 'ok' : 'refused') : taken.status
    return taken
  } catch (error) {
    if (error instanceof Refusal) outcome = 'refused'
    throw error
  } finally {
    observed(toolset, name, input, context, started, outcome)
  }
}

/** Tells whoever observes; what they do with it is no concern of the call's. */
function observed(
  toolset: Toolset,
  name: string,
  input: unknown,
  { observe, provider, model }: ToolContext,
  started: number,
  outcome: ObservedCall['outcome'],
): void {
  try {
    observe?.({
      toolset: toolset.name,
      // A name that a model made up is not one of ours to count by.
      tool: toolset.tools.some(each => each.name === name) ? name : 'unknown',
      items: countItems(input),
      duration_ms: elapsed(started),
      outcome,
      ...(provider === undefined ? {} : { provider }),
      ...(model === undefined ? {} : { model }),
    })
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error))
  }
}

async function take(toolset: Toolset, name: string, input: unknown, context: ToolContext): Promise<Taken> {
  const { runsheet, turn, run } = context
  const view = await viewOf(context)
  const tool = toolset.tools.find(each => each.name === name)
  if (!tool) {
    const known = toolset.tools.map(each => each.name).join(', ')
    return answered(
      toolset.refused(`There is no tool ${name.slice(0, 64).toWellFormed()}. There are: ${known}.`, view),
      false,
    )
  }
  const parsed = parseInput(tool, input)
  if (typeof parsed === 'string') return answered(toolset.refused(parsed, view), false)
  const bodyHash = hashOf([name, parsed.value])
  const print = `call_${bodyHash.slice(0, 16)}_`
  const toolCallId = context.toolCallId ?? `${print}${runsheet.newId()}`
  const basis = run?.basis ?? view.state.answered_seq
  const isNameless = context.toolCallId === undefined && !run
  const unheard = isNameless && tool.created && (await unheardReview(context, view, print))
  if (unheard) return { status: 'pending_review', review_id: unheard }
  const started = performance.now()
  const at: At = {
    tenant: context.tenant,
    conversation: context.conversation,
    // Of what the tool takes, not of what was sent: keys that nobody reads may hold anything, to any depth.
    once: { key: `call:${turn}:${toolCallId}`, bodyHash, isFresh: context.toolCallId === undefined },
    ...(run ? { lease: run.lease } : {}),
  }
  try {
    const { value } = await runsheet.transact(at, transaction => {
      const other = otherToolset(transaction.state, toolset.name)
      if (other) throw other
      const host = context.host ?? {}
      if (!run) transaction.mustRun({ type: 'open_turn', turn_id: turn, toolset: toolset.name, host })
      // A host without ids of its own that asks again, while a person is being asked, means the same call.
      const waiting = context.toolCallId === undefined && waitingCall(transaction, turn, print)
      if (waiting) return { status: 'pending_review', review_id: waiting }
      return decided(toolset, tool, parsed.value, { context, transaction, toolCallId, basis, started })
    })
    return value as Taken
  } catch (error) {
    // Nothing was written; what the model did wrong it is told, with the right form.
    if (error instanceof Told) return answered(error.answer, false)
    if (error instanceof Claimed) return { status: 'claimed', claims: error.claims }
    throw error
  }
}

/** Waits for the decision on a call's review, and gives the answer that the model gets. */
export async function awaitCall(
  toolset: Toolset,
  name: string,
  reviewId: string,
  context: ToolContext,
  signal?: AbortSignal,
): Promise<Json> {
  const { runsheet, tenant, conversation, turn, run } = context
  const { review } = (await runsheet.review(tenant, reviewId)).record
  if (review.session_id !== conversation || review.conversation_turn_id !== turn) {
    throw new Refusal('review_not_found', `There is no review ${reviewId} in this turn.`)
  }
  const started = performance.now()
  const record = await runsheet.awaitReview(tenant, reviewId, signal)
  const ok = record.resolution?.action === 'confirm'
  const { tool_call_id } = review
  const at: At = {
    tenant,
    conversation,
    once: { key: `answer:${turn}:${tool_call_id}`, bodyHash: '' },
    ...(run ? { lease: run.lease } : {}),
  }
  const { value } = await runsheet.transact(at, transaction => {
    // As the tasks are now: what a person has changed since the decision, this answer tells.
    const tasks = record.tasks.flatMap(({ id }) => transaction.state.tasks.get(id) ?? [])
    const result = reviewAnswer(toolset, name, transaction.state, { ...record, tasks })
    const data = { tool_call_id, tool: name, result, duration_ms: elapsed(started), ok }
    transaction.run({ type: 'record', turn_id: turn, fact: { type: 'tool_answered', data } })
    return result
  })
  observed(toolset, name, {}, context, started, ok ? 'ok' : 'refused')
  return value
}

interface Circumstances {
  readonly context: ToolContext
  readonly transaction: Transaction
  readonly toolCallId: string
  readonly basis: number
  readonly started: number
}

/** A refusal that is the whole answer: it ends the transaction, so that nothing is written. */
class Told extends Error {
  readonly answer: Json
  constructor(answer: Json) {
    super('refused')
    this.answer = answer
  }
}

/** Ends the transaction before anything is written, because somebody else has to be asked first. */
class Claimed extends Error {
  readonly claims: readonly Claim[]
  constructor(claims: readonly Claim[]) {
    super('claimed')
    this.claims = claims
  }
}

function decided(toolset: Toolset, tool: Tool, input: never, circumstances: Circumstances): Json {
  const { context, transaction, toolCallId, basis, started } = circumstances
  const call = new ToolCall({
    transaction,
    turnId: context.turn,
    toolCallId,
    basis,
    newId: context.runsheet.newId,
    sources: sourcesOf(context),
    judged: context.run?.judged,
    said: context.run?.said,
  })
  for (const judged of context.run?.judged ?? []) {
    if (typeof judged.claim.task === 'string') call.assess(judged.claim.task, judged)
  }
  const record = (fact: CommandOf<'record'>['fact']) =>
    transaction.mustRun({ type: 'record', turn_id: context.turn, fact })
  // A call that may wait for a person is in the log before what it waits for.
  if (tool.created && transaction.state.policy?.review) {
    record({ type: 'tool_called', data: { tool_call_id: toolCallId, tool: tool.name, arguments: input } })
  }
  let result: Json | typeof PENDING
  try {
    result = tool.run(call, input)
    if (call.claims.length > 0) throw new Claimed(call.claims)
  } catch (error) {
    if (call.claims.length > 0 && !(error instanceof Claimed)) throw new Claimed(call.claims)
    if (!(error instanceof Refusal)) throw error
    result = toolset.refused(teaching(error, toolset, tool, call), call)
    // That a person changed a task is news to the model, and counts as an answer it got; so is a verdict. In a run every
    // answer is kept, so that it goes on from there. Any other refusal leaves no trace.
    if (error.code !== 'edited_by_person' && !context.run) throw new Told(result)
    record({
      type: 'tool_answered',
      data: { tool_call_id: toolCallId, tool: tool.name, result, duration_ms: elapsed(started), ok: false },
    })
    return { status: 'answered', result, ok: false, written: true }
  }
  if (result === PENDING) {
    const [review_id = ''] = transaction.state.pending_reviews.slice(-1)
    return { status: 'pending_review', review_id }
  }
  record({
    type: 'tool_answered',
    data: { tool_call_id: toolCallId, tool: tool.name, result, duration_ms: elapsed(started), ok: true },
  })
  return { status: 'answered', result, ok: true, written: true }
}

async function viewOf({ runsheet, tenant, conversation, turn }: ToolContext): Promise<View> {
  return { state: await runsheet.read({ tenant, conversation }), turnId: turn }
}

/** Anything that went wrong, in words for a model: no stack, no path, no SQL. */
async function failure(toolset: Toolset, error: unknown, context: ToolContext): Promise<Json> {
  if (error instanceof StoreError) {
    // The key is ours: what the caller knows of it is the id of the call.
    const conflict = 'This tool call id was used already, with other arguments.'
    return `Error: ${error.code === 'key_conflict' ? conflict : error.message}`
  }
  if (!(error instanceof Refusal)) throw error
  // Where no conversation can be named, there is none to show.
  if (error.code === 'invalid_id') return `Error: ${error.message}`
  return viewOf(context).then(
    view => toolset.refused(error.message, view),
    unread => failure(toolset, unread, context),
  )
}

function sourcesOf({ source_user_message_id, source_assistant_message_id }: Sources): Sources {
  return { source_user_message_id, source_assistant_message_id }
}

const answered = (result: Json, ok: boolean): Taken => ({ status: 'answered', result, ok, written: false })

const elapsed = (started: number): number => Math.round(performance.now() - started)
