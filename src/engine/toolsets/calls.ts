import { attempt } from '../../core/decide/settle.ts'
import type { AskedClaim } from '../../core/decide/claims.ts'
import { toolsetMismatch } from '../../core/decide/turns.ts'
import { awaitsBaseline } from '../../core/proof/check-runs.ts'
import type { CommandOf, ModelEdit, Sources } from '../../core/model/command.ts'
import type { Json } from '../../core/model/event.ts'
import { claimOn, claimsOf, closedCalls } from '../../core/proof/claims.ts'
import type { OpenClaim } from '../../core/proof/proof.ts'
import { Refusal } from '../../core/model/refusal.ts'
import { hashOf, type CallChecks, type ObservedCall, type Transaction } from '../door/door.ts'
import {
  answerTo,
  answered,
  askedBy,
  failureAnswer,
  reviewAnswer,
  unheardOutcome,
  type Answering,
  type Told,
} from './answer.ts'
import { leaseOf, viewOf, type ToolContext } from './view.ts'
import { explain } from './explain.ts'
import { available, toolNamed } from './guidance.ts'
import { parseInput } from './input.ts'
import { countItems, edgeOf, observe, observeAnswers } from './observe.ts'
import { LostTool, newClaims, settleIn } from './settle-call.ts'
import type { Tool, Toolset } from './toolset.ts'
import { Translation } from './translation.ts'
import { awaitBaseline, awaitClaims, watchClaim } from './waiting.ts'
import type { Conversation } from '../../core/model/conversation.ts'
import type { Instant } from '../../core/model/instant.ts'
import { statusAt, type Review } from '../../core/model/review.ts'

export interface AnsweredCall extends Told {
  readonly status: 'answered'
  /** The answer is in the log. */
  readonly stored: boolean
  readonly claim?: OpenClaim
}

/** A call that waits for a review: continue with `awaitCall`. */
export interface ReviewedCall {
  readonly status: 'pending_review'
  readonly call_id: string
  readonly review_id: string
}

/**
 * A call that waits until its claims are settled: continue with `awaitClaims`, in a run with `settleCall`. Without
 * claims it created a plan, whose checks first run before the work.
 */
export interface CheckingCall {
  readonly status: 'checking'
  readonly call_id: string
  readonly claim_ids: readonly string[]
}

export type WaitingCall = ReviewedCall | CheckingCall

export type CallState = AnsweredCall | WaitingCall

/**
 * Begins a call as one commit. A toolset's refusal is an answer to the model. Refusals about the turn or the policy are
 * thrown, so that an edge can map them to a status.
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
  const report = (outcome: ObservedCall['outcome'], stored = false): void => {
    const call = { callId: context.toolCallId, toolset: toolset.name, tool, items: countItems(input) }
    observe(context, { ...call, started, outcome, stored })
  }
  try {
    const call = await begin(toolset, name, input, context, started)
    // Stored answers are reported with their commit. A run of ours stores its refusals itself.
    if (call.status === 'answered' && !call.stored) report('refused', context.run !== undefined)
    return call
  } catch (error) {
    report(error instanceof Refusal ? 'refused' : 'failed')
    throw error
  }
}

/** Waits until a begun call is decided; returns the answer for the model. */
export async function awaitCall(callId: string, context: ToolContext, signal?: AbortSignal): Promise<Json> {
  const { door, tenant, conversation, turn, run } = context
  const { reviews } = await door.read({ tenant, conversation })
  const review = [...reviews.values()].findLast(
    ({ tool_call_id, conversation_turn_id }) => tool_call_id === callId && conversation_turn_id === turn,
  )
  if (!review) throw new Refusal('review_not_found', { review_id: callId })
  const asked = askedBy(review)
  const started = performance.now()
  const record = await door.reviews.await(tenant, review.review_id, signal)
  if (!run) await awaitBaseline(context, turn, signal)
  const ok = record.resolution?.action === 'confirm'
  const items = record.review.draft_tasks.length
  const reopened = await unheardOutcome(context, await door.read({ tenant, conversation }), review.review_id)
  // Stored once, however many callers wait.
  const once = { key: `answer:${turn}:${callId}`, bodyHash: '' }
  const committed = await door.transact({ tenant, conversation, once, ...leaseOf(context) }, transaction => {
    const { state } = transaction
    // Current tasks, including edits since the decision.
    const tasks = record.tasks.flatMap(({ id }) => state.tasks.get(id) ?? [])
    const told = { result: reviewAnswer(state, { ...record, tasks }), ok }
    const { result, command } = answered({ ...asked, context, transaction, callId, items, started, reopened }, told)
    // Refused if the turn has ended meanwhile.
    transaction.run(command)
    return result
  })
  observeAnswers(context, committed)
  if (!committed.replayed && committed.events.length === 0) {
    const call = { callId, toolset: asked.toolset.name, tool: asked.tool.name, items, started, stored: false }
    observe(context, { ...call, outcome: ok ? 'ok' : 'refused' })
  }
  return committed.value
}

async function begin(
  toolset: Toolset,
  name: string,
  input: unknown,
  context: ToolContext,
  started: number,
): Promise<CallState> {
  const { door, tenant, conversation, turn, run } = context
  const view = await viewOf(context, 'list')
  const tool = toolNamed(toolset, name)
  if (!tool) return refused(toolset.refused(unknownTool(toolset, name), view))
  const parsed = parseInput(tool, input)
  if (parsed instanceof Refusal) return refused(toolset.refused(explain(parsed, toolset, tool), view))
  // Hashes the parsed input, so that unknown keys do not make a repeated call look different.
  const hash = callHash(tool.name, parsed.value)
  const callId = context.toolCallId ?? `call_${door.newId()}`
  const isNamed = context.toolCallId !== undefined && !context.isHostCallId
  const basis = run?.basis ?? view.state.answered_seq
  const reopened = await unheardOutcome(context, view.state)
  const once = { key: `call:${turn}:${callId}`, bodyHash: hash }
  const committed = await door.transact(
    { tenant, conversation, once, ...leaseOf(context) },
    (transaction): CallState => {
      const other = toolsetMismatch(transaction.state, toolset.name)
      if (other) throw other
      if (!run) {
        transaction.mustRun(openTurn(context, toolset, tool))
        for (const closed of closedCalls(transaction.state)) endClosed({ context, transaction, started }, closed)
        const earlier = earlierCall(transaction.state, { turn, hash, isNamed }, transaction.now)
        // Without an id the call cannot be recognized later.
        if (earlier) return context.toolCallId === undefined ? transaction.discard(earlier) : earlier
      }
      const items = countItems(parsed.value)
      return make({ toolset, tool, context, transaction, callId, hash, basis, started, reopened, items }, parsed.value)
    },
  )
  observeAnswers(context, committed)
  const call = committed.value
  if (call.status !== 'answered') return call
  if (call.claim) watchClaim(call.claim, context)
  // A plan without a review is answered once its checks have run before the work.
  const isPlan = tool.created !== undefined && call.stored && !run
  const isChecking = isPlan && awaitsBaseline(await door.read({ tenant, conversation }), turn)
  return isChecking ? { status: 'checking', call_id: callId, claim_ids: [] } : call
}

/** Answers a call whose claims a person's edit has closed. */
function endClosed(deps: Pick<Making, 'context' | 'transaction' | 'started'>, closed: OpenClaim): void {
  const settling = { ...deps, reopened: undefined }
  try {
    settleIn(settling, closed)
  } catch (error) {
    if (!(error instanceof LostTool)) throw error
    settleIn(settling, closed, { ended: 'failed' })
  }
}

function openTurn(
  { door, turn, host = {}, client }: ToolContext,
  { name }: Toolset,
  { created, reads = false }: Tool,
): CommandOf<'open_turn'> {
  const { workspace, done: done_checks } = door.checks.offered?.() ?? {}
  const plans = created !== undefined
  return { type: 'open_turn', turn_id: turn, toolset: name, host, client, plans, reads, workspace, done_checks }
}

interface Making extends Answering {
  readonly tool: Tool
  readonly hash: string
  readonly basis: number
}

/** Makes a call, or stores it if its claims must be settled first. */
function make(call: Making, input: never): CallState {
  const { toolset, tool, context, transaction, callId, basis } = call
  const { run, turn, door } = context
  const view = { state: transaction.state, turnId: turn, reads: tool.reads ?? false }
  if (tool.read) return answer(call, { result: tool.read(view, input), ok: true })
  // A call that may wait is logged before its review.
  if (tool.created && transaction.state.policy?.review) logCall(call, input)
  const translation = new Translation({
    state: transaction.state,
    turnId: turn,
    toolset,
    newId: door.newId,
    sources: sourcesOf(context),
    judges: () => judgesOf(context, transaction),
    checks: checksIn(transaction, context),
    lastText: run?.lastText,
  })
  try {
    const asked = tool.edit?.(translation, input) ?? {}
    if ('unchanged' in asked) return answer(call, { result: asked.unchanged, ok: true })
    const edit = translation.edit(asked)
    const command = { ...edit, type: 'edit_tasks', by: 'model', turn_id: turn, basis, ...reviewIn(call, edit) } as const
    const tried = attempt(transaction.state, command, transaction.now)
    if (tried instanceof Refusal) throw tried.row === undefined ? tried : tried.at(asked.sent?.[tried.row] ?? tried.row)
    const { made, refusals } = tried
    if (made.open.length > 0) return hold(call, input, edit, made.open)
    const events = transaction.take(made.events)
    const review = events.find(event => event.type === 'task_create_review_required')
    if (review) return { status: 'pending_review', call_id: callId, review_id: review.data.review_id }
    const after = { state: transaction.state, turnId: turn }
    return answer(call, answerTo(toolset, tool, after, edit, { events, refusals, notDone: new Map() }))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { state } = transaction
    const result = toolset.refused(explain(error, toolset, tool), { state, turnId: turn })
    // A run resumes from its stored answers. Elsewhere only a fenced write is stored: its refusal counts as an answer.
    if (run || error.is('edited_by_person')) return answer(call, { result, ok: false })
    const claim = error.is('claim_open') ? claimOn(state, error.data.task.id) : undefined
    return transaction.discard({ ...refused(result), ...(claim ? { claim } : {}) })
  }
}

/** Stores a call with its claims; it is made once they are settled. */
function hold(call: Making, input: never, edit: ModelEdit, asked: readonly AskedClaim[]): CallState {
  const { context, transaction, toolset, tool, callId, hash, basis, items } = call
  if (!context.run) logCall(call, input)
  const held = { toolset: toolset.name, tool: tool.name, call_hash: hash, edit, edge: edgeOf(context), items }
  const claims = newClaims(context.door.newId, asked)
  transaction.mustRun({ type: 'make_claims', turn_id: context.turn, tool_call_id: callId, basis, claims, held })
  return { status: 'checking', call_id: callId, claim_ids: claims.map(({ claim_id }) => claim_id) }
}

function answer(call: Making, told: Told): AnsweredCall {
  const { command, ...known } = answered(call, told)
  call.transaction.mustRun(command)
  return { status: 'answered', ...known, stored: true }
}

function logCall({ context, transaction, tool, callId }: Making, input: Json): void {
  const data = { tool_call_id: callId, tool: tool.name, arguments: input }
  transaction.mustRun({ type: 'record', turn_id: context.turn, fact: { type: 'tool_called', data } })
}

function reviewIn(
  { tool, toolset, callId, hash, context, transaction }: Making,
  { create, unchecked }: ModelEdit,
): Pick<CommandOf<'edit_tasks'>, 'review'> {
  if (!create) return {}
  const commands = checksIn(transaction, context)?.commands
  const asked = { tool_call_id: callId, toolset: toolset.name, tool: tool.name, call_hash: hash }
  return { review: { review_id: `rev_${context.door.newId()}`, ...asked, commands, unchecked: unchecked ?? false } }
}

/** Whether our judge rules on the claims of an agent elsewhere. A run of ours asks its own judge. */
const judgesOf = ({ run, door }: ToolContext, { state }: Transaction): boolean =>
  !run && state.policy?.assessor === true && (door.checks.judges?.() ?? false)

function checksIn({ state }: Transaction, { door, turn }: ToolContext): CallChecks | undefined {
  const workspace = state.turns.get(turn)?.workspace
  return workspace && door.checks.offered?.(workspace)
}

const unknownTool = (toolset: Toolset, name: string): string =>
  `There is no tool ${name.slice(0, 64).toWellFormed()}. Available: ${available(toolset)}.`

const sourcesOf = ({ source_user_message_id, source_assistant_message_id }: Sources): Sources => ({
  source_user_message_id,
  source_assistant_message_id,
})

const refused = (result: Json): AnsweredCall => ({ status: 'answered', result, ok: false, stored: false })

/** Identifies the content of a call, whatever its id. */
export const callHash = (tool: string, input: unknown): string => hashOf([tool, input])

export interface ArrivingCall {
  readonly turn: string
  readonly hash: string
  /** The caller gave it an id, which tells it apart from equal calls. */
  readonly isNamed: boolean
}

/**
 * The equal call of this turn that the arriving one joins: it waits for a review or for claims, or its answer was not
 * delivered. A named call joins another only if that would block it: an open claim, or a plan that a person reopened.
 */
export function earlierCall(
  state: Conversation,
  { turn, hash, isNamed }: ArrivingCall,
  now: Instant,
): WaitingCall | undefined {
  const review = unheardReviews(state, now).find(
    each => each.conversation_turn_id === turn && each.call_hash === hash && isJoined(each, isNamed),
  )
  if (review) return { status: 'pending_review', call_id: review.tool_call_id, review_id: review.review_id }
  const claim = [...state.claims.values()].find(({ turn_id, held }) => turn_id === turn && held?.call_hash === hash)
  if (!claim) return undefined
  const claims = claimsOf(state, turn, claim.tool_call_id)
  return { status: 'checking', call_id: claim.tool_call_id, claim_ids: claims.map(({ claim_id }) => claim_id) }
}

/**
 * Reviews that wait or whose answer was not delivered. An expired one was never decided, so the person is asked again.
 */
const unheardReviews = ({ reviews, pending_reviews, unheard_reviews }: Conversation, now: Instant): Review[] =>
  [...pending_reviews, ...unheard_reviews]
    .flatMap(id => reviews.get(id) ?? [])
    .filter(review => review.status === statusAt(review, now) && review.status !== 'expired')

function isJoined({ reopens, status, reason }: Review, isNamed: boolean): boolean {
  if (reopens === undefined) return !isNamed
  // The call was already answered: the agent that superseded the reopened plan does not wait for it.
  return status === 'pending' || (!isNamed && reason !== 'superseded')
}

export const NO_CONTEXT = 'Error: Task list is not available (no conversation context).'

export interface CallToolOptions {
  readonly signal?: AbortSignal | undefined
  /** Runs the wait for a review, and may end it through the signal. */
  readonly during?: (reviewId: string, wait: (ending: AbortSignal) => Promise<Json>) => Promise<Json>
}

/** Begins a call and waits for its answer. Refusals and storage failures are answers, too. */
export async function callTool(
  toolset: Toolset,
  name: string,
  input: unknown,
  context: ToolContext,
  { signal, during }: CallToolOptions = {},
): Promise<Json> {
  try {
    const call = await beginCall(toolset, name, input, context)
    if (call.status === 'answered') return call.result
    if (call.status === 'checking') return (await awaitClaims(call, context, signal)).result
    if (!during) return await awaitCall(call.call_id, context, signal)
    return await during(call.review_id, ending =>
      awaitCall(call.call_id, context, signal ? AbortSignal.any([signal, ending]) : ending),
    )
  } catch (error) {
    return failureAnswer(toolset, error, context)
  }
}
