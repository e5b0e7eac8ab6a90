import type { Claim, Judged } from '../domain/claim.ts'
import type { CommandOf, SeenWorkspace, Sources } from '../domain/command.ts'
import { toolsetMismatch } from '../domain/decide/turns.ts'
import type { ClaimEnd, EventData, Json } from '../domain/event.ts'
import { awaitsBaseline } from '../domain/check-runs.ts'
import { type ResolvedClaim, resolvedClaims, withEnd } from '../domain/open-claims.ts'
import { reopenedBy } from '../domain/plan-checks.ts'
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
import { parseInput } from './input.ts'
import { countItems, edgeOf, elapsed, observe } from './observe.ts'
import { awaitBaseline } from './baseline.ts'
import { type AnswerWithOutcome, unheardOutcome, withFailing, withOutcome, withReopened } from './reopened.ts'
import { askedBy, reviewAnswer, reviewOfRepeatedCall, UNCHECKED } from './review-answer.ts'
import { PENDING, ToolCall } from './tool-call.ts'
import type { JsonObject, Tool, Toolset } from './toolset.ts'
import { sealOf } from './verdicts.ts'
import type { View } from './view.ts'

/** The state of a call. */
export type CallState =
  /** `stored`: the answer is in the log. */
  | { readonly status: 'answered'; readonly result: Json; readonly ok: boolean; readonly stored: boolean }
  /** Waits for a review: go on with `awaitCall`. */
  | { readonly status: 'pending_review'; readonly call_id: string; readonly review_id: string }
  /**
   * Its claims are stored and wait for their checks: go on with `awaitClaims`, in a run with `resumeCall`. Without claims: it
   * made a plan, whose checks run as things are before the work.
   */
  | { readonly status: 'checking'; readonly call_id: string; readonly claim_ids: readonly string[] }
  /** Nothing more is stored. Make the call again with the judge's verdicts. */
  | { readonly status: 'claimed'; readonly claims: readonly Claim[] }

/**
 * `ending`: nothing more is stored, because a plan would be over before its last runs. Make the call again with a look at
 * its workspace; if that was given, the runs are asked for.
 */
export type ResumedCall = CallState | { readonly status: 'ending' }

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
    const isPlan = toolNamed(toolset, name)?.created !== undefined && !context.run
    if (!isPlan || callId === undefined || call.status !== 'answered' || !call.stored) return call
    return (await isBaselineTaken(context)) ? call : { status: 'checking', call_id: callId, claim_ids: [] }
  } catch (error) {
    report(error instanceof Refusal ? 'refused' : 'failed')
    throw error
  }
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
    return perform({ toolset, tool, input: parsed.value, context, transaction, toolCallId, basis, started, reopened })
  })
  return { call: value, callId: toolCallId, repeated: replayed }
}

/** What a call that is made again has learnt since. */
export interface Learnt {
  readonly judged?: readonly Judged[]
  /** How the last run ended that it waits for: written in the same commit, or not at all. */
  readonly ran?: CommandOf<'end_check'>
  /** The workspace of the plan that it would end. */
  readonly seen?: SeenWorkspace
  /** Why its checks are not waited for any more. */
  readonly ended?: 'no_workspace' | 'no_judge'
  /** The workspace does not exist any more. */
  readonly isGone?: boolean
}

/**
 * Makes a call again whose claims are checked, as one commit with their end. `claimed`: a judge has to rule on them first.
 * `checking`: they are not over yet. `ending`: they wait for the runs before the end of their plan.
 */
export async function resumeCall(
  toolset: Toolset,
  name: string,
  input: unknown,
  callId: string,
  context: ToolContext,
  { judged, ran, seen, ended, isGone }: Learnt = {},
): Promise<ResumedCall> {
  const started = performance.now()
  const tool = toolNamed(toolset, name)
  const parsed = tool && parseInput(tool, input)
  if (!tool || !parsed || parsed instanceof Refusal) throw new TypeError(`${name} was not called like this`)
  const { door, turn, tenant, conversation } = context
  const reopened = await unheardOutcome(context)
  const once = { key: `answer:${turn}:${callId}`, bodyHash: '' }
  const at = { tenant, conversation, once, ...leaseOf(context) }
  const { value, replayed } = await door.transact(at, (transaction): ResumedCall => {
    if (ran) transaction.mustRun(ran)
    const resolved = resolvedClaims(transaction.state, turn, callId)
    const [first] = resolved
    // A stop has settled them: there is no answer any more.
    if (!first) return transaction.discard(STOPPED)
    const { basis } = first.claim
    const base = { toolset, tool, input: parsed.value, context, transaction, toolCallId: callId, started, reopened }
    const make = (claims: readonly ResolvedClaim[]): ResumedCall => {
      try {
        return perform({ ...base, basis, resolved: claims, seen, ...(judged ? { judged } : {}) })
      } catch (error) {
        if (!(error instanceof Refusal) || !error.is('final_runs_required')) throw error
        transaction.reset()
        return { status: 'ending' }
      }
    }
    const awaited = ended ? withEnd(resolved, 'waiting', ended, isGone) : resolved
    if (awaited.some(({ resolution }) => resolution.result === 'waiting')) {
      const claim_ids = awaited.map(({ claim }) => claim.claim_id)
      return transaction.discard({ status: 'checking', call_id: callId, claim_ids })
    }
    // Its checks passed, but nobody judges it.
    const made: ResumedCall = ended === 'no_judge' ? { status: 'ending' } : make(awaited)
    if (made.status !== 'ending') return made
    return ended ? make(withEnd(awaited, 'passed', ended, isGone)) : transaction.discard(made)
  })
  if (value.status === 'ending' && seen) {
    // A commit of its own: the key of this one is for the answer. Until then the claims stay open.
    await door.run({ tenant, conversation, ...leaseOf(context) }, { type: 'request_final', turn_id: turn, ...seen })
  }
  if (value.status === 'answered' && value.stored && !replayed) {
    const call = { callId, toolset: toolset.name, tool: tool.name, items: countItems(input), started, stored: true }
    observe(context, { ...call, outcome: value.ok ? 'ok' : 'refused' })
  }
  return value
}

const STOPPED: CallState = { status: 'answered', result: 'Error: The turn was stopped.', ok: false, stored: false }

/** Whether a judge of ours rules on what an agent elsewhere claims. A run of ours asks its own. */
function judgesOf({ run, door, judges }: ToolContext, { state }: Transaction): boolean {
  if (run || !state.policy?.assessor) return false
  return judges ?? door.checks.judges?.() ?? false
}

/** What the call can do about checks, where its turn has a workspace of this process. */
function checksIn({ state }: Transaction, { door, turn }: ToolContext): CallChecks | undefined {
  const workspace = state.turns.get(turn)?.workspace
  return workspace && door.checks.offered?.(workspace)
}

/** The lease that a commit of this call needs, if any. */
const leaseOf = ({ run, lease = run?.lease }: ToolContext): Pick<At, 'lease'> => (lease ? { lease } : {})

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
  /** Its claims, if it is made again after their checks. */
  readonly resolved?: readonly ResolvedClaim[]
  readonly judged?: readonly Judged[]
  readonly seen?: SeenWorkspace | undefined
}

/** Runs the tool inside the transaction and records the call. */
function perform(deps: PerformDeps): CallState {
  const { toolset, tool, input, context, transaction, toolCallId, basis, started, reopened, resolved } = deps
  const { run, turn, door } = context
  const judged = deps.judged ?? run?.judged
  const record = (own: Json, ok: boolean, because?: ClaimEnd): CallState => {
    const items = countItems(input)
    const claims = resolved?.map(({ claim }) => claim) ?? []
    if (resolved) transaction.mustRun({ type: 'settle_claims', turn_id: turn, tool_call_id: toolCallId, because })
    const others = reopenedBy(transaction.state, claims).filter(
      ({ task }) => !claims.some(({ task_id }) => task_id === task.id),
    )
    const told = resolved ? withReopened(own, others, toolset) : own
    const known = tool.created ? told : withFailing(told, transaction.state, turn)
    const answer = withOutcome(transaction.state, known, reopened)
    transaction.mustRun(
      answeredFact(context, { tool_call_id: toolCallId, tool: tool.name, ...answer, ok, items, started }),
    )
    return { status: 'answered', result: answer.result, ok, stored: true }
  }
  // A call that may wait is logged before its review.
  if (tool.created && transaction.state.policy?.review) {
    recordCalled(transaction, turn, { tool_call_id: toolCallId, tool: tool.name, arguments: input })
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
    judged: judged ?? [],
    resolved,
    seen: deps.seen,
    judges: () => judgesOf(context, transaction),
    checks: checksIn(transaction, context),
    lastText: run?.lastText,
  })
  try {
    const result = tool.run(call, input)
    call.end()
    if (result !== PENDING) return record(call.isUnchecked ? { ...(result as JsonObject), ...UNCHECKED } : result, true)
    const review_id = transaction.state.pending_reviews.at(-1) ?? ''
    return { status: 'pending_review', call_id: toolCallId, review_id }
  } catch (error) {
    if (!(error instanceof Refusal) || error.is('final_runs_required')) throw error
    if (error.is('assessment_required') && !judged) {
      const { claims } = error.data
      if (resolved || claims.some(({ task }) => typeof task === 'number')) {
        return transaction.discard({ status: 'claimed', claims })
      }
      return claim(deps, claims)
    }
    if (error.is('claim_open') && error.data.joins && !run) {
      const { claim_id, tool_call_id } = error.data
      const joined = { status: 'checking', call_id: tool_call_id, claim_ids: [claim_id] } as const
      if (context.toolCallId === undefined) return transaction.discard(joined)
      // Its id must find the same answer once the claim is settled.
      recordCalled(transaction, turn, { tool_call_id: toolCallId, tool: tool.name, arguments: input })
      return joined
    }
    call.end()
    const result = toolset.refused(explain(error, toolset, tool), call)
    // A run resumes from its stored answers, and stored claims need an end. Elsewhere only a fenced write is stored: its
    // refusal counts as an answer.
    if (run || resolved || error.is('edited_by_person')) return record(result, false, endOf(error))
    return transaction.discard(refused(result))
  }
}

/** Stores what a call claims. It is made again once the checks are over. */
function claim(
  { context, transaction, tool, input, toolCallId, basis }: PerformDeps,
  claims: readonly Claim[],
): CallState {
  const { run, turn, door } = context
  if (!run) recordCalled(transaction, turn, { tool_call_id: toolCallId, tool: tool.name, arguments: input })
  const made = claims.map(each => {
    const { task, status, outcome } = each
    return { claim_id: `clm_${door.newId()}`, task_id: String(task), status, outcome, seal: sealOf(each) }
  })
  const judge = judgesOf(context, transaction) ? true : undefined
  transaction.mustRun({ type: 'make_claims', turn_id: turn, tool_call_id: toolCallId, basis, judge, claims: made })
  return { status: 'checking', call_id: toolCallId, claim_ids: made.map(({ claim_id }) => claim_id) }
}

/** Why the claims of a refused call were not granted. */
function endOf(refusal: Refusal): ClaimEnd {
  if (refusal.is('not_accepted')) return refusal.data.verdict
  if (refusal.is('check_failed')) return 'check_failed'
  if (refusal.is('not_checked')) return 'inconclusive'
  return refusal.is('edited_by_person') ? 'edited' : 'refused'
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
