import type { Command, CommandOf, Learnt, ModelEdit, Sources } from '../domain/command.ts'
import type { AskedClaim } from '../domain/decide/claims.ts'
import { attempt, claimRepeatedBy, type Settled, settled, type Wait } from '../domain/decide/settle.ts'
import { toolsetMismatch } from '../domain/decide/turns.ts'
import type { Conversation } from '../domain/conversation.ts'
import type { EventData, Json } from '../domain/event.ts'
import { awaitsBaseline } from '../domain/check-runs.ts'
import { claimOn, claimsOf, closedCalls, heldBy } from '../domain/open-claims.ts'
import { reopenedBy } from '../domain/plan-checks.ts'
import type { OpenClaim } from '../domain/proof.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Review } from '../domain/review.ts'
import {
  type At,
  type CallChecks,
  type ObservedCall,
  type ReviewRecord,
  StoreError,
  type Transaction,
} from '../door/door.ts'
import type { ToolContext } from './context.ts'
import { callHash, reviewOfEqualCall } from './equal-call.ts'
import { explain } from './explain.ts'
import { available, toolNamed } from './guidance.ts'
import { toolsets } from './index.ts'
import { parseInput } from './input.ts'
import { countItems, edgeOf, elapsed, observe } from './observe.ts'
import { awaitBaseline } from './baseline.ts'
import { type AnswerWithOutcome, unheardOutcome, withFailing, withOutcome, withReopened } from './reopened.ts'
import { askedBy, reviewAnswer, reviewOfRepeatedCall, UNCHECKED } from './review-answer.ts'
import { sealOf } from './seal.ts'
import { servedUntil } from './serving.ts'
import type { Tool, Toolset } from './toolset.ts'
import { Translation } from './translation.ts'
import type { View } from './view.ts'

/** The state of a call. */
export type CallState =
  /** `stored`: the answer is in the log. */
  | {
      readonly status: 'answered'
      readonly result: Json
      readonly ok: boolean
      readonly stored: boolean
      /** It was refused because of this claim. */
      readonly claim?: OpenClaim
    }
  /** Waits for a review: go on with `awaitCall`. */
  | { readonly status: 'pending_review'; readonly call_id: string; readonly review_id: string }
  /**
   * Its claims are stored and wait until they are settled: go on with `awaitClaims`, in a run with `settleCall`. Without
   * claims: it made a plan, whose checks run as things are before the work.
   */
  | { readonly status: 'checking'; readonly call_id: string; readonly claim_ids: readonly string[] }

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
    if (call.status === 'answered' && call.claim) watch(call.claim, context)
    const isPlan = toolNamed(toolset, name)?.created !== undefined && !context.run
    if (!isPlan || callId === undefined || call.status !== 'answered' || !call.stored) return call
    return (await isBaselineTaken(context)) ? call : { status: 'checking', call_id: callId, claim_ids: [] }
  } catch (error) {
    report(error instanceof Refusal ? 'refused' : 'failed')
    throw error
  }
}

/** How long it takes until a claim that no process serves is ended. */
const ENDED_MS = 15_000

/** Sees to it that the claim which a call was refused for ends, also if nobody serves it. */
function watch({ claim_id, turn_id }: OpenClaim, context: ToolContext): void {
  const isOver = ({ claims }: Conversation): boolean => !claims.has(claim_id)
  const signal = AbortSignal.timeout(ENDED_MS)
  void servedUntil(context, turn_id, isOver, { signal, isEnded: true }).catch(() => {})
}

/** A plan without a review is answered once its checks have run, so before the work. */
async function isBaselineTaken({ door, tenant, conversation, turn }: ToolContext): Promise<boolean> {
  return !awaitsBaseline(await door.read({ tenant, conversation }), turn)
}

/** Waits until a begun call is decided, and returns what the model is told. */
export async function awaitCall(callId: string, context: ToolContext, signal?: AbortSignal): Promise<Json> {
  const { door, tenant, turn, run } = context
  const ref = { tenant, conversation: context.conversation }
  const { reviews } = await door.read(ref)
  const review = [...reviews.values()].findLast(
    ({ tool_call_id, conversation_turn_id }) => tool_call_id === callId && conversation_turn_id === turn,
  )
  if (!review) throw new Refusal('review_not_found', { review_id: callId })
  const { toolset, tool } = askedBy(review)
  const started = performance.now()
  const record = await door.reviews.await(tenant, review.review_id, signal)
  if (!run) await awaitBaseline(context, review.conversation_turn_id, signal)
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
  const view = await viewOf(context, 'list')
  const tool = toolNamed(toolset, name)
  if (!tool) return { call: refused(toolset.refused(unknownTool(toolset, name), view)), repeated: false }
  const parsed = parseInput(tool, input)
  if (parsed instanceof Refusal) {
    return { call: refused(toolset.refused(explain(parsed, toolset, tool), view)), repeated: false }
  }
  // Hash the parsed input, so that unknown keys do not make a repeated call look different.
  const bodyHash = callHash(tool.name, parsed.value)
  const prefix = `call_${bodyHash.slice(0, 16)}_`
  const toolCallId = context.toolCallId ?? `${prefix}${door.newId()}`
  const basis = run?.basis ?? view.state.answered_seq
  const at: At = {
    tenant: context.tenant,
    conversation: context.conversation,
    once: { key: `call:${turn}:${toolCallId}`, bodyHash },
    ...leaseOf(context),
  }
  const again = tool.created && !run ? await reviewOfEqualCall(context, bodyHash, joinable(context)) : undefined
  const reopened = await unheardOutcome(context)
  const { value, replayed } = await door.transact(at, (transaction): CallState => {
    const other = toolsetMismatch(transaction.state, toolset.name)
    if (other) throw other
    const { client } = context
    const plans = tool.created !== undefined
    const reads = tool.reads === true
    if (!run) {
      const { workspace, done: done_checks } = door.checks.offered?.() ?? {}
      const opened = { turn_id: turn, toolset: toolset.name, host, client, plans, reads, workspace, done_checks }
      transaction.mustRun({ type: 'open_turn', ...opened })
    }
    // A call joins the review of an equal one: without an id the one that waits, in any case the one a person reopened.
    const repeats = context.toolCallId === undefined && tool.created
    const review = again ?? (repeats && reviewOfRepeatedCall(transaction.state, turn, prefix, transaction.now))
    if (review) {
      const { review_id, tool_call_id: call_id } = review
      const joined = { status: 'pending_review', call_id, review_id } as const
      if (repeats) return transaction.discard(joined)
      // Its id must find the same review once that is decided.
      recordCalled(transaction, turn, { tool_call_id: toolCallId, tool: tool.name, arguments: parsed.value })
      return joined
    }
    if (!run) {
      for (const closed of closedCalls(transaction.state))
        settleIn(transaction, context, closed, {}, { started, reopened: undefined })
    }
    const items = countItems(parsed.value)
    return make({ toolset, tool, context, transaction, toolCallId, started, reopened, items }, parsed.value, basis)
  })
  return { call: value, callId: toolCallId, repeated: replayed }
}

/** What has come of the claims of a call since the last look, to be written in the same commit. */
export interface Facts extends Learnt {
  readonly facts?: readonly Command[] | undefined
}

/** What is written with the end of a call that no tool made: an answer in text. */
export type TextAnswer = (transaction: Transaction, settled: Settled) => void

/**
 * Writes what has come of the claims of a call, and settles the call if they need nothing more: then its effects and its answer
 * are in the same commit. Otherwise it says what comes next; runs before the end of a plan are asked for.
 */
export async function settleCall(
  context: ToolContext,
  { turn_id: turn, tool_call_id: callId }: Pick<OpenClaim, 'turn_id' | 'tool_call_id'>,
  { facts = [], ...learnt }: Facts = {},
  onText?: TextAnswer,
): Promise<Wait | null> {
  const started = performance.now()
  const { door, tenant, conversation } = context
  const reopened = await unheardOutcome(context)
  const at = { tenant, conversation, ...leaseOf(context) }
  const { value } = await door.transact(at, transaction => {
    // A verdict on a claim that was stopped meanwhile is refused.
    for (const fact of facts) transaction.run(fact)
    return settleIn(transaction, context, { turn_id: turn, tool_call_id: callId }, learnt, {
      started,
      reopened,
      onText,
    })
  })
  if (value.answered) {
    const { ok, toolset, tool, items } = value.answered
    observe(
      { ...context, turn },
      { callId, toolset, tool, items, started, stored: true, outcome: ok ? 'ok' : 'refused' },
    )
  }
  return value.wait
}

interface SettlingDeps extends Pick<CallDeps, 'started' | 'reopened'> {
  readonly onText?: TextAnswer | undefined
}

/** Settles a call within a transaction, and records its answer. */
function settleIn(
  transaction: Transaction,
  context: ToolContext,
  { turn_id: turn, tool_call_id: callId }: Pick<OpenClaim, 'turn_id' | 'tool_call_id'>,
  learnt: Learnt,
  { started, reopened, onText }: SettlingDeps,
) {
  const claims = claimsOf(transaction.state, turn, callId)
  if (claims.length === 0) return { wait: null }
  const command = { type: 'settle_call', turn_id: turn, tool_call_id: callId, ...learnt } as const
  const done = settled(transaction.state, command, transaction.now)
  if ('needs' in done) {
    if (done.needs === 'runs') transaction.mustRun({ type: 'request_final', turn_id: turn, ...learnt.seen })
    return { wait: done }
  }
  transaction.take(done.events)
  const held = heldBy(claims)
  if (held?.tool === undefined) {
    onText?.(transaction, done)
    return { wait: null }
  }
  const toolset = toolsets[held.toolset]
  const tool = toolset.tools.find(({ name }) => name === held.tool)
  if (!tool && learnt.ended !== 'failed') throw new TypeError(`${toolset.name} has no tool ${held.tool}`)
  const called = { toolset, tool: tool ?? { name: held.tool }, items: held.items, toolCallId: callId, claims }
  const view = { state: transaction.state, turnId: turn }
  const told = tool && learnt.ended !== 'failed' ? answerTo(toolset, tool, view, held.edit, done) : ABANDONED
  record({ ...called, context: { ...context, turn }, transaction, started, reopened }, told)
  return { wait: null, answered: { ...told, toolset: toolset.name, tool: held.tool, items: held.items } }
}

/** Whether a judge of ours rules on what an agent elsewhere claims. A run of ours asks its own. */
const judgesOf = ({ run, door }: ToolContext, { state }: Transaction): boolean =>
  !run && state.policy?.assessor === true && (door.checks.judges?.() ?? false)

/** What the call can do about checks, where its turn has a workspace of this process. */
function checksIn({ state }: Transaction, { door, turn }: ToolContext): CallChecks | undefined {
  const workspace = state.turns.get(turn)?.workspace
  return workspace && door.checks.offered?.(workspace)
}

/** The lease that a commit of this call needs, if any. */
const leaseOf = ({ run, lease = run?.lease }: ToolContext): Pick<At, 'lease'> => (lease ? { lease } : {})

interface CallDeps {
  readonly toolset: Toolset
  readonly tool: Pick<Tool, 'name' | 'created'>
  readonly context: ToolContext
  readonly transaction: Transaction
  readonly toolCallId: string
  readonly started: number
  readonly reopened: ReviewRecord | undefined
  readonly items: number
  /** The claims that it has waited for. */
  readonly claims?: readonly OpenClaim[]
}

interface Told {
  readonly result: Json
  readonly ok: boolean
}

/** Makes a call, or stores it with its claims if these have to be settled first. */
function make(deps: CallDeps & { readonly tool: Tool }, input: never, basis: number): CallState {
  const { toolset, tool, context, transaction, toolCallId } = deps
  const { run, turn, door } = context
  const view = { state: transaction.state, turnId: turn, reads: tool.reads ?? false }
  if (tool.read) return record(deps, { result: tool.read(view, input), ok: true })
  // A call that may wait is logged before its review.
  if (tool.created && transaction.state.policy?.review) {
    recordCalled(transaction, turn, { tool_call_id: toolCallId, tool: tool.name, arguments: input })
  }
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
    if ('unchanged' in asked) return record(deps, { result: asked.unchanged, ok: true })
    const edit = translation.edit(asked)
    const command = { ...edit, type: 'edit_tasks', by: 'model', turn_id: turn, basis, ...reviewIn(deps, edit) } as const
    const repeated = run ? undefined : claimRepeatedBy(transaction.state, command)
    if (repeated) return join(deps, input, repeated)
    const tried = attempt(transaction.state, command, transaction.now)
    if (tried instanceof Refusal) throw tried.row === undefined ? tried : tried.at(asked.sent?.[tried.row] ?? tried.row)
    const { made, refusals } = tried
    if (made.open.length > 0) return hold(deps, input, basis, edit, made.open)
    const events = transaction.take(made.events)
    const review = events.find(event => event.type === 'task_create_review_required')
    if (review) return { status: 'pending_review', call_id: toolCallId, review_id: review.data.review_id }
    const after = { state: transaction.state, turnId: turn }
    return record(deps, answerTo(toolset, tool, after, edit, { events, refusals, notDone: new Map() }))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const view = { state: transaction.state, turnId: turn }
    const result = toolset.refused(explain(error, toolset, tool), view)
    // A run resumes from its stored answers. Elsewhere only a fenced write is stored: its refusal counts as an answer.
    const isStored = run !== undefined || error.is('edited_by_person')
    const claim = error.is('claim_open') ? claimOn(view.state, error.data.task.id) : undefined
    const answered = { ...refused(result), ...(claim ? { claim } : {}) }
    return isStored ? record(deps, { result, ok: false }) : transaction.discard(answered)
  }
}

/** New tasks may need a review. */
function reviewIn({ tool, toolset, toolCallId, context, transaction }: CallDeps, { create, unchecked }: ModelEdit) {
  if (!create) return {}
  const commands = checksIn(transaction, context)?.commands
  const asked = { tool_call_id: toolCallId, toolset: toolset.name, tool: tool.name }
  return { review: { review_id: `rev_${context.door.newId()}`, ...asked, commands, unchecked: unchecked ?? false } }
}

/** What the model is told of a call that was made: one answer for every way in, at once or after its claims. */
function answerTo(
  toolset: Toolset,
  tool: Tool,
  view: View,
  edit: ModelEdit,
  { events, refusals, refusal = edit.each ? undefined : [...refusals.values()][0], notDone }: Settled,
): Told {
  if (refusal) return { result: toolset.refused(explain(refusal, toolset, tool), view), ok: false }
  const made = (edit.create ?? []).flatMap(({ id }) => view.state.tasks.get(id) ?? [])
  const unsettled = (edit.create ?? []).flatMap(({ id, status }) => {
    const isDone = view.state.tasks.get(id)?.status === status
    return status !== 'completed' || isDone ? [] : { id, reason: notDone.get(id) ?? (edit.judges ? UNJUDGED : UNRUN) }
  })
  const own = tool.answer?.(view, { edit, events, made, notDone: unsettled, refusals }) ?? {}
  return { result: edit.unchecked ? { ...own, ...UNCHECKED } : own, ok: true }
}

const UNRUN = 'Its check runs once you complete it with a call of its own.'
const UNJUDGED = 'The assessor rules on it once you settle it with a call of its own.'

const ABANDONED: Told = {
  result: 'Error: The server failed unexpectedly; nothing was changed. Its log has the details.',
  ok: false,
}

/** Stores what a call is answered. */
function record(deps: CallDeps, { result: own, ok }: Told): Extract<CallState, { status: 'answered' }> {
  const { toolset, tool, context, transaction, toolCallId, started, reopened, items, claims = [] } = deps
  const told = claims.length > 0 ? withReopened(own, reopenedBy(transaction.state, claims), toolset) : own
  const known = tool.created ? told : withFailing(told, transaction.state, context.turn)
  const answer = withOutcome(transaction.state, known, reopened)
  transaction.mustRun(
    answeredFact(context, { tool_call_id: toolCallId, tool: tool.name, ...answer, ok, items, started }),
  )
  return { status: 'answered', result: answer.result, ok, stored: true }
}

/** Stores a call with its claims: it is made once they are settled. */
function hold(
  { context, transaction, toolset, tool, toolCallId, items }: CallDeps,
  input: never,
  basis: number,
  edit: ModelEdit,
  asked: readonly AskedClaim[],
): CallState {
  const { run, turn, door } = context
  if (!run) recordCalled(transaction, turn, { tool_call_id: toolCallId, tool: tool.name, arguments: input })
  const held = { toolset: toolset.name, tool: tool.name, edit, items }
  const claims = newClaims(door.newId, asked)
  transaction.mustRun({ type: 'make_claims', turn_id: turn, tool_call_id: toolCallId, basis, claims, held })
  return { status: 'checking', call_id: toolCallId, claim_ids: claims.map(({ claim_id }) => claim_id) }
}

/** Claims with an id and a seal of the text that they are about. */
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

/** A call that repeats an open claim waits for the same answer. */
function join(
  { context, transaction, tool, toolCallId }: CallDeps,
  input: never,
  { claim_id, tool_call_id }: OpenClaim,
): CallState {
  const joined = { status: 'checking', call_id: tool_call_id, claim_ids: [claim_id] } as const
  if (context.toolCallId === undefined) return transaction.discard(joined)
  // Its id must find the same answer once the claim is settled.
  recordCalled(transaction, context.turn, { tool_call_id: toolCallId, tool: tool.name, arguments: input })
  return joined
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

async function viewOf({ door, tenant, conversation, turn }: ToolContext, need?: 'list'): Promise<View> {
  return { state: await door.read({ tenant, conversation }, need), turnId: turn }
}

function sourcesOf({ source_user_message_id, source_assistant_message_id }: Sources): Sources {
  return { source_user_message_id, source_assistant_message_id }
}

function recordCalled(transaction: Transaction, turn_id: string, data: EventData['tool_called']): void {
  transaction.mustRun({ type: 'record', turn_id, fact: { type: 'tool_called', data } })
}

/** A reopened review that waits. Without an id, a call may also have waited for one that is decided since. */
const joinable =
  ({ toolCallId }: ToolContext) =>
  ({ reopens, status, reason }: Review): boolean =>
    reopens !== undefined && (status === 'pending' || (toolCallId === undefined && reason !== 'superseded'))

const refused = (result: Json): CallState => ({ status: 'answered', result, ok: false, stored: false })
