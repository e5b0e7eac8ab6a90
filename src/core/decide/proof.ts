import type { Check } from '../proof/check.ts'
import { labelOf } from '../proof/check-text.ts'
import type { CheckTarget, CommandOf, Rules, RunOutcome } from '../model/command.ts'
import { taskInProgress, type Conversation } from '../model/conversation.ts'
import type { ClaimEnd, EventData, NewEvent } from '../model/event.ts'
import type { Instant } from '../model/instant.ts'
import { nextRun } from '../proof/check-runs.ts'
import { claimedPlans, claimsOf } from '../proof/claims.ts'
import { checkedOf, lastTurnOf, planById, planOf, planOfRecord } from '../model/plan.ts'
import {
  isApproved,
  proofOf,
  recordOf,
  workspaceOf,
  type OpenClaim,
  type RunReason,
  type StartedRun,
} from '../proof/proof.ts'
import { Refusal, invalidField } from '../model/refusal.ts'
import { planChanges, waitingChanges } from '../proof/scope.ts'
import type { Task } from '../model/task.ts'
import { beforePasses, missingRuns, refOf } from './requests.ts'
import { ListEditor } from './list-editor.ts'
import { findTask, openIn, turnRunning } from './tasks.ts'
import { MAX_REPORTS, boundedFact, plainJson, type ToolFact } from '../proof/evidence.ts'
import { LIMITS, Problem, line } from '../model/text.ts'

export type CheckCommand =
  | {
      readonly type: 'start_check'
      readonly turn_id: string
      readonly run_id: string
      readonly hash: string
      readonly why: RunReason
    }
  | {
      readonly type: 'end_check'
      readonly turn_id: string
      readonly run_id: string
      readonly hash: string
      readonly outcome: RunOutcome
    }
  | { readonly type: 'hand_back_check'; readonly turn_id: string; readonly run_id: string; readonly hash: string }
  | {
      readonly type: 'request_final'
      readonly turn_id: string
      readonly fingerprint?: string | undefined
      /** Runs of an earlier end of the plan do not count for this one. */
      readonly isNewEnd?: boolean | undefined
    }
  | ({ readonly type: 'take_baseline'; readonly turn_id: string } & EventData['baseline_taken'])
  | ({ readonly type: 'request_check' | 'stop_check' | 'tick_check' } & CheckTarget)
  | (ToolFact & {
      readonly type: 'add_evidence'
      readonly evidence_id: string
      readonly source: EventData['evidence_added']['source']
      /** Default: the task in progress. */
      readonly task?: string | number | undefined
    })
  | { readonly type: 'accept_changes'; readonly task: string | number; readonly paths: readonly string[] }

export const CHECK_RULES: Rules<CheckCommand> = {
  start_check: startCheck,
  end_check: endCheck,
  hand_back_check: handBackCheck,
  request_final: requestFinal,
  take_baseline: takeBaseline,
  request_check: requestCheck,
  stop_check: stopCheck,
  tick_check: tickCheck,
  accept_changes: acceptChanges,
  add_evidence: addEvidence,
}

export function stopClaimsOf(state: Conversation, turnId: string, now: Instant, reason: string): NewEvent[] {
  const claims = claimsOf(state, turnId)
  const ids = new Set(claims.map(({ claim_id }) => claim_id))
  const runs = endedRuns(state, turnId, now, reason, (started, hash) => {
    const { why, claim_id = '' } = started
    return ids.has(claim_id) || (why !== 'person' && isAskedIn(state, turnId, hash, why))
  })
  return [...runs, ...claims.map(claim => claimSettled(claim, 'refused', 'stopped'))]
}

export function runsEndedWith(
  state: Conversation,
  refused: readonly OpenClaim[],
  isUnserved: boolean,
  now: Instant,
): NewEvent[] {
  const turnId = refused[0]?.turn_id ?? ''
  const ids = new Set(refused.map(({ claim_id }) => claim_id))
  const isAlone = claimsOf(state, turnId).every(({ claim_id }) => ids.has(claim_id))
  const isFinal = (hash: string, { why }: StartedRun): boolean =>
    why === 'final' && isAlone && isAskedIn(state, turnId, hash, why)
  const reason = isUnserved ? RUN_LOST : 'The claim that it was made for ended.'
  const ends = (started: StartedRun, hash: string): boolean => ids.has(started.claim_id ?? '') || isFinal(hash, started)
  return endedRuns(state, turnId, now, reason, ends)
}

const isAskedIn = ({ requests }: Conversation, turnId: string, hash: string, why: StartedRun['why']): boolean =>
  requests.some(each => each.turn_id === turnId && each.hash === hash && each.why === why)

const endedRuns = (
  state: Conversation,
  turnId: string,
  now: Instant,
  reason: string,
  ends: (started: StartedRun, hash: string) => boolean,
): NewEvent[] =>
  [...state.runs.entries()].flatMap(([hash, { started }]) =>
    started && ends(started, hash) ? endedRun(turnId, hash, started, now, reason) : [],
  )

/** Refused unless the run is still the next one. */
function startCheck(state: Conversation, { turn_id, run_id, hash, why }: CommandOf<'start_check'>): NewEvent[] {
  const next = nextRun(state, turn_id)
  if (!next || next.check.hash !== hash || next.why !== why) return []
  const { task_id, check, claim_id } = next
  const claim = claim_id === undefined ? {} : { claim_id }
  return [{ type: 'check_started', turn_id, data: { ...refOf(task_id, check), run_id, why, ...claim } }]
}

/** Ignores the result of a run that was ended before. A failed final run reopens the tasks of the check. */
function endCheck(state: Conversation, command: CommandOf<'end_check'>, now: Instant): NewEvent[] | Refusal {
  const { turn_id, run_id, hash, outcome } = command
  const { started } = recordOf(state, hash)
  if (started?.run_id !== run_id) return []
  const { record, ...result } = outcome
  const { id: plan_id, baseline } = planOfRecord(state, started.task_id, turn_id)
  const isUntaken = record === undefined || (record === null && baseline !== undefined)
  const ran: NewEvent[] = [
    ...(isUntaken ? [] : takeBaseline(state, { type: 'take_baseline', turn_id, plan_id, record })),
    { type: 'check_ran', turn_id, data: { ...identityOf(hash, started), ...result } },
  ]
  if (outcome.result !== 'failed' || !(started.why === 'final' || isSaidAgain(state, started))) return ran
  const reopened = reopen(state, turn_id, hash, now)
  return reopened instanceof Refusal ? reopened : [...ran, ...reopened]
}

const isSaidAgain = ({ claims, tasks }: Conversation, { why, claim_id = '' }: StartedRun): boolean =>
  why === 'claim' && tasks.get(claims.get(claim_id)?.task_id ?? '')?.status === 'completed'

/** Returns a run to the queue for the next lease holder. */
function handBackCheck(state: Conversation, { turn_id, run_id, hash }: CommandOf<'hand_back_check'>): NewEvent[] {
  const { started } = recordOf(state, hash)
  return started?.run_id === run_id ? [{ type: 'check_handed_back', turn_id, data: identityOf(hash, started) }] : []
}

function requestCheck(state: Conversation, command: CommandOf<'request_check'>): NewEvent[] | Refusal {
  const found = checkOf(state, command)
  if (found instanceof Refusal) return found
  const { task, check } = found
  if (check.kind === 'person') return notRunnable(task, check, 'person')
  if (!isApproved(state, task.id, check)) return notRunnable(task, check, 'unapproved')
  if (!workspaceOf(state, task)) return notRunnable(task, check, 'no_workspace')
  const isAsked = state.requests.some(({ hash, why }) => hash === check.hash && why === 'person')
  if (isAsked || recordOf(state, check.hash).started) return []
  return [{ type: 'check_requested', turn_id: turnFor(state, task), data: { ...refOf(task.id, check), why: 'person' } }]
}

/** Requests stale checks before a plan ends. No events: everything is fresh, or out of passes. */
function requestFinal(state: Conversation, command: CommandOf<'request_final'>): NewEvent[] {
  const { turn_id, fingerprint, isNewEnd } = command
  return missingRuns(isNewEnd ? beforePasses(state, planOf(state, turn_id)) : state, turn_id, { fingerprint })
}

/** The process that executes the run sees the event and stops it. */
function stopCheck(state: Conversation, command: CommandOf<'stop_check'>, now: Instant): NewEvent[] | Refusal {
  const found = checkOf(state, command)
  if (found instanceof Refusal) return found
  const { task, check } = found
  const { started } = recordOf(state, check.hash)
  return started ? endedRun(turnFor(state, task), check.hash, started, now, RUN_STOPPED) : []
}

function tickCheck(state: Conversation, command: CommandOf<'tick_check'>): NewEvent[] | Refusal {
  const found = checkOf(state, command)
  if (found instanceof Refusal) return found
  const { task, check } = found
  if (check.kind !== 'person')
    return invalidField('check_id', { rule: 'invalid', expected: 'a check that a person ticks' })
  if (proofOf(state, task.id).ticked.includes(check.id)) return []
  const data = { task_id: task.id, check_id: check.id }
  return [{ type: 'check_ticked', turn_id: turnFor(state, task), data }]
}

/** A person accepts changes that the checks of a task, or of its plan, wait for: the files as the newest runs saw them. */
function acceptChanges(state: Conversation, command: CommandOf<'accept_changes'>): NewEvent[] | Refusal {
  const task = findTask(state, command.task)
  if (!task) return new Refusal('task_not_found', { ref: command.task, ...openIn(state) })
  const plan = planById(state, task.plan_id)
  const waiting = new Map(
    [
      ...(task.checks ?? []).flatMap(check => waitingChanges(state, task, check)),
      ...(plan.done_checks ?? []).flatMap(check => planChanges(plan, check)),
    ].map(({ path, hash }) => [path, { path, ...(hash === undefined ? {} : { hash }) }]),
  )
  const unknown = command.paths.find(path => !waiting.has(path))
  if (unknown !== undefined || command.paths.length === 0) {
    const expected = `files whose changes wait to be accepted${unknown === undefined ? '' : `; ${unknown} is none`}`
    return invalidField('paths', { rule: 'invalid', expected })
  }
  const files = [...new Set(command.paths)].flatMap(path => waiting.get(path) ?? [])
  const data = { task_id: task.id, plan_id: plan.id, files }
  return [{ type: 'changes_accepted', turn_id: lastTurnOf(plan), data }]
}

function takeBaseline(_: Conversation, { turn_id, ...data }: CommandOf<'take_baseline'>): NewEvent[] {
  const { type: _type, ...rest } = data
  return [{ type: 'baseline_taken', turn_id, data: rest }]
}

/** Tasks that a person settled stay as they are. */
function reopen(state: Conversation, turnId: string, hash: string, now: Instant): NewEvent[] | Refusal {
  const plans = new Set([planOf(state, turnId), ...claimedPlans(state, claimsOf(state, turnId))])
  const tasks = [...plans].flatMap(plan => checkedOf(state, plan))
  const failing = tasks.flatMap(task => {
    const check = task.checks?.find(each => each.hash === hash)
    const isReopened = check && task.status === 'completed' && task.judged_by !== 'person'
    return isReopened && isApproved(state, task.id, check) ? [{ task, check }] : []
  })
  const editor = new ListEditor(state, now, 'system', turnId)
  const reasons = new Map<string, string>()
  for (const { task, check } of failing) {
    editor.change(task.id, { status: 'pending' })
    reasons.set(task.id, `${labelOf(check)} fails now.`)
  }
  const events = editor.finish()
  if (events instanceof Refusal) return events
  return events.map(event => {
    const reason = event.type === 'task_changed' ? reasons.get(event.data.task.id) : undefined
    return event.type === 'task_changed' && reason !== undefined ? { ...event, data: { ...event.data, reason } } : event
  })
}

const turnFor = (state: Conversation, task: Task): string => lastTurnOf(planById(state, task.plan_id))

function checkOf(
  state: Conversation,
  { task: ref, check_id }: { readonly task: string | number; readonly check_id: string },
): { readonly task: Task; readonly check: Check } | Refusal {
  const task = findTask(state, ref)
  if (!task) return new Refusal('task_not_found', { ref, ...openIn(state) })
  const check = task.checks?.find(({ id }) => id === check_id)
  return check ? { task, check } : new Refusal('check_not_found', { task, check_id })
}

const notRunnable = (task: Task, check: Check, because: 'person' | 'unapproved' | 'no_workspace'): Refusal =>
  new Refusal('check_not_runnable', { task, check: labelOf(check), because })

function identityOf(hash: string, { tries: _tries, at: _at, ...run }: StartedRun): EventData['check_started'] {
  return { ...run, hash }
}

function endedRun(turn_id: string, hash: string, started: StartedRun, now: Instant, reason: string): NewEvent[] {
  const duration_ms = Math.max(0, Date.parse(now) - Date.parse(started.at))
  const data = { ...identityOf(hash, started), result: 'inconclusive' as const, duration_ms, reason }
  return [{ type: 'check_ran', turn_id, data }]
}

export const RUN_STOPPED = 'It was stopped.'
const RUN_LOST = 'The process that ran it ended.'

export function claimSettled(
  { claim_id, task_id, turn_id }: OpenClaim,
  result: 'granted' | 'refused',
  because: ClaimEnd,
): NewEvent {
  return { type: 'claim_settled', turn_id, data: { claim_id, task_id, result, because } }
}

/**
 * Stores a call reported by a host or an agent elsewhere, for the named task or the one in progress. No events: no task
 * is in progress, or the turn has reached its limit of reports.
 */
function addEvidence(state: Conversation, command: CommandOf<'add_evidence'>): NewEvent[] | Refusal {
  const { task: ref, evidence_id, source, ok } = command
  const tool = line(command.tool, LIMITS.reference)
  if (tool instanceof Problem) return invalidField('tool', tool.fact)
  if (typeof ok !== 'boolean') return invalidField('ok', { rule: 'not_a_boolean' })
  if (state.running_turn !== null) return turnRunning(state.running_turn)
  const current = taskInProgress(state)
  const task = ref === undefined ? current : findTask(state, ref)
  if (!task && ref !== undefined) return new Refusal('task_not_found', { ref, ...openIn(state) })
  const turn_id = task ? lastTurnOf(planById(state, task.plan_id)) : ''
  if (!current || !task || hasAllReports(state, turn_id)) return []
  const call = { tool, arguments: plainJson(command.arguments), answer: plainJson(command.answer), ok }
  const data = { evidence_id, task_id: task.id, source, ...boundedFact(call) }
  return [{ type: 'evidence_added', turn_id, data }]
}

const hasAllReports = ({ turns }: Conversation, turnId: string): boolean =>
  (turns.get(turnId)?.reports ?? 0) >= MAX_REPORTS
