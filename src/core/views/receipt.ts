import { specOf, type Check, type CheckResult, type CheckSpec, type Workspace } from '../proof/check.ts'
import { labelOf } from '../proof/check-text.ts'
import type { Conversation } from '../model/conversation.ts'
import { disputesIn, type DisputeReceipt } from '../proof/dispute.ts'
import type { EventData, EventType, StoredEvent, Verdict } from '../model/event.ts'
import { mostTelling, type EvidenceSource, type Shown, type ToolFact } from '../proof/evidence.ts'
import { forAgent, isHidden } from '../proof/held-out.ts'
import type { Instant } from '../model/instant.ts'
import type { Origin } from '../model/origin.ts'
import { planOf, tasksOf, type Plan } from '../model/plan.ts'
import { checkState, type CheckState } from '../proof/check-state.ts'
import type { FileChange } from '../proof/file-change.ts'
import { planChanges, waitingChanges } from '../proof/scope.ts'
import { isApproved, planRuns, proofOf, type RunReason } from '../proof/proof.ts'
import { standingOf, type Standing } from '../proof/standing.ts'
import type { Changes } from '../model/review.ts'
import { planCount, type PlanCount } from './tally.ts'
import { EDITABLE } from '../model/row.ts'
import type { Task, TaskStatus } from '../model/task.ts'
import type { TurnStatus } from '../model/turn.ts'

/** A plan, its decisions, and how far each "done" can be trusted: as JSON, its documented form. */
export interface Receipt {
  readonly format: 'runsheet-receipt'
  readonly version: 1
  readonly session_id: string
  readonly turn_id: string
  /** The person's request; null in a turn of an agent elsewhere. */
  readonly request: string | null
  /** The model that drove the turn, or the program elsewhere; null if neither is known. */
  readonly worker: string | null
  readonly workspace: Workspace | null
  readonly status: TurnStatus
  readonly started_at: Instant
  /** Null while it is not over. */
  readonly finished_at: Instant | null
  /** Oldest first. Empty: the plan was written without a review. */
  readonly reviews: readonly ReviewReceipt[]
  readonly steps: readonly StepReceipt[]
  /** The checks of the plan as a whole. */
  readonly checks: readonly CheckReceipt[]
  /** Calls of outside tools while no step was current. */
  readonly calls: CallCounts
  readonly tally: PlanCount
}

/** A decision on the plan, and the person's changes to it. */
export interface ReviewReceipt {
  readonly action: 'confirm' | 'cancel'
  readonly at: Instant
  /** Null if the log does not say. */
  readonly by: Origin | null
  readonly reason: string | null
  readonly comment: string | null
  readonly changes: {
    readonly kept: number
    readonly edited: readonly { readonly from: string; readonly to: string; readonly fields: readonly string[] }[]
    readonly added: readonly string[]
    readonly removed: readonly string[]
    readonly reordered: boolean
  } | null
}

export interface StepReceipt {
  readonly number: number
  readonly title: string
  readonly status: TaskStatus
  readonly outcome: string | null
  /** Null unless it is completed. */
  readonly standing: Standing | null
  readonly reasons: readonly string[]
  readonly checks: readonly CheckReceipt[]
  readonly verdicts: readonly {
    readonly verdict: Verdict
    readonly reason: string
    readonly model: string
    readonly at: Instant
    /** A person changed the step meanwhile, so it had no effect. */
    readonly fenced: boolean
  }[]
  /** A person's changes to it since the review. */
  readonly edits: readonly { readonly fields: readonly string[]; readonly at: Instant; readonly by: Origin | null }[]
  /** The times that an agent disputed it, and how each ended. */
  readonly disputes: readonly DisputeReceipt[]
  /** The files that it may change; null: the work folders. */
  readonly scope: readonly string[] | null
  /** Files whose changes a person accepted. */
  readonly accepted: readonly { readonly paths: readonly string[]; readonly at: Instant; readonly by: Origin | null }[]
  readonly calls: CallCounts
  /** The most telling calls of their own tools that a host or an agent reported, newest last. */
  readonly reported: readonly (ToolFact & { readonly source: EvidenceSource; readonly at: Instant })[]
  /** The number of reported calls. */
  readonly reports: Readonly<Partial<Record<EvidenceSource, CallCounts>>>
}

export interface CheckReceipt {
  /** Its label: a command line, or the condition. */
  readonly check: string
  readonly spec: CheckSpec
  readonly hash: string
  /** Null: not approved, so it never runs. */
  readonly approved: { readonly via: string; readonly at: Instant | null; readonly by: Origin | null } | null
  readonly state: CheckState
  /** The result at confirmation. */
  readonly baseline: CheckResult | 'not_run'
  readonly runs: readonly {
    readonly why: RunReason
    readonly result: CheckResult
    readonly exit: number | null
    readonly duration_ms: number
    readonly at: Instant
    /** The reason it did not pass, or why the result is unknown. */
    readonly reason: string | null
  }[]
  /** Changes outside its scope that a person has not accepted. */
  readonly changes: readonly FileChange[]
}

export const RECEIPT_TYPES = [
  'turn_started',
  'turn_finished',
  'task_create_review_resolved',
  'task_changed',
  'task_assessed',
  'step_finished',
  'tool_answered',
  'check_approved',
  'check_ran',
  'check_ticked',
  'changes_accepted',
  'evidence_added',
] as const satisfies readonly EventType[]

/** The receipt of a turn's plan; undefined if there is no such turn, or it has no plan. */
export function receiptOf(state: Conversation, events: readonly StoredEvent[], turnId: string): Receipt | undefined {
  const turn = state.turns.get(turnId)
  const plan = planOf(state, turnId)
  const tasks = tasksOf(state, plan)
  if (!turn || tasks.length === 0) return undefined
  // A receipt is made to be shared, also with agents.
  const log = new PlanLog(events.filter(belongsTo(plan, tasks)).map(forAgent))
  return {
    format: 'runsheet-receipt',
    version: 1,
    session_id: state.session_id,
    turn_id: turnId,
    // A continued plan's own request, not that of the latest turn.
    request: log.of('turn_started')[0]?.data.message ?? null,
    worker: turn.model ?? turn.client ?? null,
    workspace: turn.workspace ?? null,
    status: turn.status,
    started_at: turn.started_at,
    finished_at: log.of('turn_finished').findLast(({ data }) => data.turn_id === turnId)?.timestamp ?? null,
    reviews: log.of('task_create_review_resolved').map(reviewOf),
    steps: tasks.map(task => stepOf(state, log, task)),
    checks: (plan.done_checks ?? []).map(check => planCheckOf(log, plan, check)),
    calls: log.callsOf(undefined),
    tally: planCount(state, tasks),
  }
}

/** All events of the plan's own turns count; of other turns only those about its tasks and their checks. */
function belongsTo(plan: Plan, listed: readonly Task[]): (event: StoredEvent) => boolean {
  const turns = new Set(plan.turns)
  const tasks = new Set(listed.map(({ id }) => id))
  const hashes = new Set(listed.flatMap(({ checks = [] }) => checks.map(({ hash }) => hash)))
  return ({ turn_id, data }) => {
    if (turn_id === null || turns.has(turn_id)) return true
    if ('hash' in data && hashes.has(data.hash)) return true
    const task = 'task_id' in data ? data.task_id : 'task' in data ? data.task.id : undefined
    return task !== undefined && tasks.has(task)
  }
}

function reviewOf({ timestamp, data }: StoredEvent<'task_create_review_resolved'>): ReviewReceipt {
  const { action, origin, reason, comment, changes } = data
  return {
    action,
    at: timestamp,
    by: origin ?? null,
    reason: reason ?? null,
    comment: comment ?? null,
    changes: changes ? changesOf(changes) : null,
  }
}

const changesOf = ({ kept, edited, added, removed, reordered }: Changes): ReviewReceipt['changes'] => ({
  kept: kept.length,
  edited: edited.map(({ from, to }) => ({ from: from.title, to: to.title, fields: differing(from, to) })),
  added: added.map(({ title }) => title),
  removed: removed.map(({ title }) => title),
  reordered,
})

const differing = <T extends object>(from: T, to: T): string[] =>
  [...new Set([...Object.keys(from), ...Object.keys(to)])].filter(
    field => JSON.stringify(from[field as keyof T]) !== JSON.stringify(to[field as keyof T]),
  )

function stepOf(state: Conversation, log: PlanLog, task: Task): StepReceipt {
  const { number, title, status, outcome, scope, checks = [] } = task
  const stood = standingOf(state, task)
  const changes = log.of('task_changed').filter(({ data }) => data.task.id === task.id)
  const isOwn = ({ data }: { readonly data: { readonly task_id?: string } }): boolean => data.task_id === task.id
  return {
    number,
    title,
    status,
    outcome: outcome ?? null,
    scope: scope ?? null,
    standing: stood?.standing ?? null,
    reasons: stood?.reasons ?? [],
    checks: checks.map(check => checkOf(state, log, task, check)),
    verdicts: log
      .of('task_assessed')
      .filter(isOwn)
      .map(({ timestamp, data: { verdict, reason, model, fenced = false } }) => ({
        verdict,
        reason,
        model,
        at: timestamp,
        fenced,
      })),
    disputes: disputesIn(changes),
    edits: changes
      .filter(({ data }) => data.by === 'person' || data.by === 'file')
      .map(({ timestamp, data }) => ({
        fields: EDITABLE.filter(field => Object.hasOwn(data.from, field)),
        at: timestamp,
        by: data.origin ?? null,
      })),
    accepted: log
      .of('changes_accepted')
      .filter(isOwn)
      .map(({ timestamp, data }) => ({
        paths: data.files.map(({ path }) => path),
        at: timestamp,
        by: data.origin ?? null,
      })),
    calls: log.callsOf(task.id),
    ...reportsOf(log.of('evidence_added').filter(isOwn)),
  }
}

const MAX_REPORTED: Shown = { usual: 20, max: 100 }

function reportsOf(events: readonly StoredEvent<'evidence_added'>[]): Pick<StepReceipt, 'reported' | 'reports'> {
  const calls = events.map(({ timestamp, data: { evidence_id: _id, task_id: _task, ...call } }) => ({
    ...call,
    at: timestamp,
  }))
  const bySource = [...Map.groupBy(calls, ({ source }) => source)].map(([source, made]) => [source, countCalls(made)])
  return {
    reported: mostTelling(calls, MAX_REPORTED),
    reports: Object.fromEntries(bySource) as StepReceipt['reports'],
  }
}

function checkOf(state: Conversation, log: PlanLog, task: Task, check: Check): CheckReceipt {
  return {
    ...describedCheck(check),
    approved: isApproved(state, task.id, check) ? approvalOf(log, task, check) : null,
    state: checkState(state, task, check),
    baseline: proofOf(state, task.id).baseline[check.hash] ?? 'not_run',
    runs: runsOf(log, check),
    changes: isHidden(check) ? [] : waitingChanges(state, task, check),
  }
}

/** The configuration approves the checks that it asks for. */
function planCheckOf(log: PlanLog, plan: Plan, check: Check): CheckReceipt {
  const runs = runsOf(log, check)
  return {
    ...describedCheck(check),
    approved: { via: 'configuration', at: null, by: null },
    state: planRuns(plan, check.hash)?.last.result ?? 'waiting',
    baseline: 'not_run',
    runs,
    changes: planChanges(plan, check),
  }
}

function describedCheck(check: Check): Pick<CheckReceipt, 'check' | 'spec' | 'hash'> {
  return { check: labelOf(check), spec: specOf(forAgent(check)), hash: check.hash }
}

/** The approval, or the person's tick. An approval may be older than the turns of this plan. */
function approvalOf(log: PlanLog, task: Task, check: Check): CheckReceipt['approved'] {
  if (check.kind === 'person') {
    const tick = log.of('check_ticked').findLast(({ data }) => data.task_id === task.id && data.check_id === check.id)
    return { via: 'tick', at: tick?.timestamp ?? null, by: tick?.data.origin ?? null }
  }
  const approval = log.of('check_approved').findLast(({ data }) => data.task_id === task.id && data.hash === check.hash)
  return { via: approval?.data.via ?? 'review', at: approval?.timestamp ?? null, by: approval?.data.origin ?? null }
}

const runsOf = (log: PlanLog, check: Check): CheckReceipt['runs'] =>
  log
    .of('check_ran')
    .filter(({ data }) => data.hash === check.hash)
    .map(({ timestamp, data: { why, result, exit, duration_ms, reason } }) => ({
      why,
      result,
      exit: exit ?? null,
      duration_ms,
      at: timestamp,
      reason: reason ?? null,
    }))

export interface CallCounts {
  readonly ok: number
  readonly failed: number
  readonly tools: Readonly<Record<string, { readonly ok: number; readonly failed: number }>>
}

class PlanLog {
  readonly #events: readonly StoredEvent[]
  /** Turn and call id to the id of the task that was current. */
  readonly #taskOf: ReadonlyMap<string, string | undefined>

  constructor(events: readonly StoredEvent[]) {
    this.#events = events
    this.#taskOf = new Map(
      this.of('step_finished').flatMap(({ turn_id, data: { tool_calls, task_id } }) =>
        tool_calls.map(({ tool_call_id }) => [callKey(turn_id, tool_call_id), task_id] as const),
      ),
    )
  }

  of<T extends EventType>(type: T): readonly Extract<StoredEvent, { readonly type: T }>[] {
    return this.#events.filter((event): event is Extract<StoredEvent, { readonly type: T }> => event.type === type)
  }

  callsOf(taskId: string | undefined): CallCounts {
    const made = this.of('tool_answered').filter(
      ({ turn_id, data }) => isOutside(data) && this.#taskOf.get(callKey(turn_id, data.tool_call_id)) === taskId,
    )
    return countCalls(made.map(({ data }) => data))
  }
}

function countCalls(calls: readonly Pick<ToolFact, 'tool' | 'ok'>[]): CallCounts {
  const counted = (made: typeof calls): { ok: number; failed: number } => {
    const ok = made.filter(call => call.ok).length
    return { ok, failed: made.length - ok }
  }
  const byTool = [...Map.groupBy(calls, ({ tool }) => tool)].map(([tool, made]) => [tool, counted(made)])
  return { ...counted(calls), tools: Object.fromEntries(byTool) as CallCounts['tools'] }
}

/** Calls of the plan's own tools prove nothing. */
const isOutside = ({ edge }: EventData['tool_answered']): boolean => edge === undefined

const callKey = (turn: string | null, call: string): string => JSON.stringify([turn, call])
