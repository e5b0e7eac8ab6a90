import type { Check } from '../check.ts'
import { labelOf } from '../check-label.ts'
import type { CommandOf } from '../command.ts'
import { type Conversation, fold, lineage, planHistory, planTurnOf, stamped } from '../conversation.ts'
import type { ClaimEnd, EventData, NewEvent } from '../event.ts'
import type { Instant } from '../instant.ts'
import { nextRun } from '../check-runs.ts'
import { waitingGuards } from '../check-state.ts'
import { claimsOf, type ResolvedClaim } from '../open-claims.ts'
import { isApproved, MAX_REDS, type OpenClaim, proofOf, recordOf, type StartedRun, workspaceOf } from '../proof.ts'
import { invalidField, Refusal } from '../refusal.ts'
import { isOpen, type Task } from '../task.ts'
import { asProse } from '../text.ts'
import { refOf } from './approvals.ts'
import { finalRuns } from './final-runs.ts'
import { ListEditor } from './list-editor.ts'
import { findTask, openIn } from './tasks.ts'

/** How often the checks of a finished plan are run again. */
const MAX_PASSES = 2

/** Stores what a call claims, one claim per task. */
export function makeClaims(_: Conversation, command: CommandOf<'make_claims'>): NewEvent[] {
  const { turn_id, tool_call_id, basis, judge } = command
  return command.claims.map(claim => ({
    type: 'claim_made',
    turn_id,
    data: { ...claim, tool_call_id, basis, ...(judge ? { judge } : {}) },
  }))
}

/** Ends the claims of a call that its checks did not pass: before the call is made, so that they stay if it is refused. */
export function refuseClaims(
  state: Conversation,
  { turn_id, claims }: CommandOf<'refuse_claims'>,
  now: Instant,
): NewEvent[] | Refusal {
  const editor = new ListEditor(state, now, 'system', turn_id)
  const settled: NewEvent[] = []
  for (const { claim, resolution } of claims) {
    if (resolution.result === 'passed' || resolution.result === 'waiting') continue
    settled.push(...endedRuns(state, turn_id, now, ({ claim_id }) => claim_id === claim.claim_id))
    const because = endOf(resolution)
    settled.push(claimSettled(claim, 'refused', because))
    if (resolution.result !== 'failed') continue
    const task = state.tasks.get(claim.task_id)
    const isLast = proofOf(state, claim.task_id).reds + 1 >= MAX_REDS
    // What a person blocked keeps their words.
    if (!isLast || !task || !(isOpen(task) || (task.status === 'blocked' && task.judged_by !== 'person'))) continue
    const outcome = asProse(`Its check failed ${MAX_REDS} times: ${labelOf(resolution.check)}.`)
    editor.change(task.id, { status: 'blocked', outcome })
  }
  const events = editor.finish()
  return events instanceof Refusal ? events : [...settled, ...events]
}

/** Ends the claims of a call that was made. */
export function settleClaims(state: Conversation, command: CommandOf<'settle_claims'>): NewEvent[] {
  return claimsOf(state, command.turn_id, command.tool_call_id).map(claim => {
    const task = state.tasks.get(claim.task_id)
    if (task?.status !== claim.status) return claimSettled(claim, 'refused', command.because ?? 'refused')
    return claimSettled(claim, 'granted', task.judged_by === 'assessor' ? 'judge' : 'checks')
  })
}

/** Ends the claims of a turn that is stopped, and all its runs but a person's. */
export function stopClaimsOf(state: Conversation, turnId: string, now: Instant): NewEvent[] {
  const claims = claimsOf(state, turnId)
  const ids = new Set(claims.map(({ claim_id }) => claim_id))
  const isAsked = (hash: string, { why }: StartedRun): boolean =>
    state.requests.some(each => each.turn_id === turnId && each.hash === hash && each.why === why && why !== 'person')
  const runs = endedRuns(
    state,
    turnId,
    now,
    (started, hash) => ids.has(started.claim_id ?? '') || isAsked(hash, started),
  )
  return [...runs, ...claims.map(claim => claimSettled(claim, 'refused', 'stopped'))]
}

/** Runs under way that nobody waits for any more. */
const endedRuns = (
  state: Conversation,
  turnId: string,
  now: Instant,
  ends: (started: StartedRun, hash: string) => boolean,
): NewEvent[] =>
  [...state.runs.entries()].flatMap(([hash, { started }]) =>
    started && ends(started, hash) ? stoppedRun(turnId, hash, started, now) : [],
  )

/** Begins a run, if it is still the next one. */
export function startCheck(state: Conversation, { turn_id, run_id, hash, why }: CommandOf<'start_check'>): NewEvent[] {
  const next = nextRun(state, turn_id)
  if (!next || next.check.hash !== hash || next.why !== why) return []
  const { task_id, check, claim_id } = next
  const claim = claim_id === undefined ? {} : { claim_id }
  return [{ type: 'check_started', turn_id, data: { ...refOf(task_id, check), run_id, why, ...claim } }]
}

/** Records how a run ended, unless it was ended otherwise. A task that its check fails before the plan ends is reopened. */
export function endCheck(state: Conversation, command: CommandOf<'end_check'>, now: Instant): NewEvent[] | Refusal {
  const { turn_id, run_id, hash, outcome } = command
  const { started } = recordOf(state, hash)
  if (started?.run_id !== run_id) return []
  const ran: NewEvent = { type: 'check_ran', turn_id, data: { ...identityOf(hash, started), ...outcome } }
  if (started.why !== 'final' || outcome.result !== 'failed') return [ran]
  const reopened = reopen(state, turn_id, hash, now)
  return reopened instanceof Refusal ? reopened : [ran, ...reopened]
}

/** Leaves a run to whoever comes next. */
export function handBackCheck(
  state: Conversation,
  { turn_id, run_id, hash }: CommandOf<'hand_back_check'>,
): NewEvent[] {
  const { started } = recordOf(state, hash)
  return started?.run_id === run_id ? [{ type: 'check_handed_back', turn_id, data: identityOf(hash, started) }] : []
}

/** A person asks for a run. */
export function requestCheck(state: Conversation, command: CommandOf<'request_check'>): NewEvent[] | Refusal {
  const found = checkOf(state, command)
  if (found instanceof Refusal) return found
  const { task, check } = found
  if (check.kind === 'person') return notRunnable(task, check, 'person')
  if (!isApproved(state, task.id, check)) return notRunnable(task, check, 'unapproved')
  if (!workspaceOf(state, task)) return notRunnable(task, check, 'no_workspace')
  const isAsked = state.requests.some(({ hash, why }) => hash === check.hash && why === 'person')
  if (isAsked || recordOf(state, check.hash).started) return []
  return [
    { type: 'check_requested', turn_id: planTurnOf(state, task), data: { ...refOf(task.id, check), why: 'person' } },
  ]
}

/** Asks for what is out of date before a plan ends. No events: everything is fresh, or was run often enough. */
export function requestFinal(state: Conversation, { turn_id, fingerprint }: CommandOf<'request_final'>): NewEvent[] {
  const pass = (state.turns.get(turn_id)?.passes ?? 0) + 1
  return pass > MAX_PASSES ? [] : finalRuns(state, turn_id, pass, fingerprint)
}

/** A person stops a run. The process that makes it hears of it. */
export function stopCheck(state: Conversation, command: CommandOf<'stop_check'>, now: Instant): NewEvent[] | Refusal {
  const found = checkOf(state, command)
  if (found instanceof Refusal) return found
  const { task, check } = found
  const { started } = recordOf(state, check.hash)
  return started ? stoppedRun(planTurnOf(state, task), check.hash, started, now) : []
}

export function tickCheck(state: Conversation, command: CommandOf<'tick_check'>): NewEvent[] | Refusal {
  const found = checkOf(state, command)
  if (found instanceof Refusal) return found
  const { task, check } = found
  if (check.kind !== 'person')
    return invalidField('check_id', { rule: 'invalid', expected: 'a check that a person ticks' })
  if (proofOf(state, task.id).ticked.includes(check.id)) return []
  const data = { task_id: task.id, check_id: check.id }
  return [{ type: 'check_ticked', turn_id: planTurnOf(state, task), data }]
}

/** A person accepts changes to guarded files: exactly those that the newest runs of the task's checks found. */
export function acceptGuards(state: Conversation, command: CommandOf<'accept_guards'>): NewEvent[] | Refusal {
  const task = findTask(state, command.task)
  if (!task) return new Refusal('task_not_found', { ref: command.task, ...openIn(state) })
  const waiting = (task.checks ?? []).flatMap(check => {
    const paths = waitingGuards(state, task, check)
    const { last } = recordOf(state, check.hash)
    return paths.length > 0 && last?.guard !== undefined ? [{ paths, guard: last.guard }] : []
  })
  const given = new Set(command.paths)
  const missing = waiting.flatMap(({ paths }) => paths).find(path => !given.has(path))
  if (missing !== undefined) {
    return invalidField('paths', { rule: 'invalid', expected: `all files that changed, ${missing} included` })
  }
  const distinct = new Map(waiting.map(each => [each.guard, each]))
  return [...distinct.values()].map(({ paths, guard }) => ({
    type: 'guard_accepted',
    turn_id: planTurnOf(state, task),
    data: { task_id: task.id, paths, guard },
  }))
}

export function takeBaseline(_: Conversation, { turn_id, ...data }: CommandOf<'take_baseline'>): NewEvent[] {
  const { type: _type, ...rest } = data
  return [{ type: 'baseline_taken', turn_id, data: { turn_id, ...rest } }]
}

/** How a claim ends whose checks did not pass. */
function endOf(resolution: ResolvedClaim['resolution']): ClaimEnd {
  if (resolution.result === 'failed') return 'check_failed'
  if (resolution.result !== 'ended') return 'inconclusive'
  const { because } = resolution
  return because === 'edited' || because === 'stopped' || because === 'no_workspace' ? because : 'refused'
}

/**
 * The completed tasks of a plan that have this check are open again, unless a person settled them. The turn that found out
 * goes on with them.
 */
function reopen(state: Conversation, turnId: string, hash: string, now: Instant): NewEvent[] | Refusal {
  const plans = new Set([turnId, ...claimsOf(state, turnId).flatMap(({ task_id }) => planIdOf(state, task_id))])
  const tasks = new Set([...plans].flatMap(plan => planHistory(state, plan)))
  const failing = [...tasks].flatMap(task => {
    const check = task.checks?.find(each => each.hash === hash)
    const isReopened = check && task.status === 'completed' && task.judged_by !== 'person'
    return isReopened && isApproved(state, task.id, check) ? [{ task, check }] : []
  })
  const adopted = adoptedBy(
    state,
    turnId,
    failing.map(({ task }) => task),
  )
  const editor = new ListEditor(fold(state, stamped(state, adopted, now)), now, 'system', turnId)
  const reasons = new Map<string, string>()
  for (const { task, check } of failing) {
    editor.change(task.id, { status: 'pending' })
    reasons.set(task.id, `${labelOf(check)} fails now.`)
  }
  const events = editor.finish()
  if (events instanceof Refusal) return events
  const changed = events.map(event => {
    const reason = event.type === 'task_changed' ? reasons.get(event.data.task.id) : undefined
    return event.type === 'task_changed' && reason !== undefined ? { ...event, data: { ...event.data, reason } } : event
  })
  return [...adopted, ...changed]
}

const planIdOf = (state: Conversation, taskId: string): readonly string[] => {
  const task = state.tasks.get(taskId)
  return task ? [planTurnOf(state, task)] : []
}

/** The event by which a turn takes over those of the tasks that an earlier turn of its plan still has. */
function adoptedBy(state: Conversation, turn_id: string, tasks: readonly Task[]): NewEvent[] {
  const earlier = new Set(lineage(state, turn_id))
  const task_ids = tasks
    .filter(task => planTurnOf(state, task) !== turn_id && earlier.has(planTurnOf(state, task)))
    .map(({ id }) => id)
  return task_ids.length > 0 ? [{ type: 'tasks_adopted', turn_id, data: { turn_id, task_ids } }] : []
}

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

/** What the events of a run say of it. */
function identityOf(hash: string, { tries: _tries, at: _at, ...run }: StartedRun): EventData['check_started'] {
  return { ...run, hash }
}

function stoppedRun(turn_id: string, hash: string, started: StartedRun, now: Instant): NewEvent[] {
  const duration_ms = Math.max(0, Date.parse(now) - Date.parse(started.at))
  const data = { ...identityOf(hash, started), result: 'inconclusive' as const, duration_ms, reason: 'It was stopped.' }
  return [{ type: 'check_ran', turn_id, data }]
}

function claimSettled(
  { claim_id, task_id, turn_id }: OpenClaim,
  result: 'granted' | 'refused',
  because: ClaimEnd,
): NewEvent {
  return { type: 'claim_settled', turn_id, data: { claim_id, task_id, result, because } }
}
