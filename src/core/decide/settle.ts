import type { Check } from '../proof/check.ts'
import { describeCheck, labelOf } from '../proof/check-text.ts'
import { checkedBy, claimsOf, heldBy, reasonIn, type Checked } from '../proof/claims.ts'
import type { CommandOf, Learnt, NewClaim, Rules } from '../model/command.ts'
import { fold, stamped, type Conversation } from '../model/conversation.ts'
import type { ClaimEnd, NewEvent, Verdict } from '../model/event.ts'
import type { Instant } from '../model/instant.ts'
import { planById } from '../model/plan.ts'
import { unpassedChecks } from '../proof/check-state.ts'
import {
  MAX_REDS,
  countingRun,
  isChecked,
  planRuns,
  proofOf,
  tailOf,
  workspaceOf,
  type CheckRun,
  type HeldCall,
  type OpenClaim,
} from '../proof/proof.ts'
import { Refusal, inRow } from '../model/refusal.ts'
import { planChanges } from '../proof/scope.ts'
import { isOpen, type Task } from '../model/task.ts'
import { asProse } from '../model/text.ts'
import { finalRunsAfter, missingRuns } from './requests.ts'
import { ListEditor } from './list-editor.ts'
import { claimSettled, runsEndedWith } from './proof.ts'
import { edited, findTask, type Edited } from './tasks.ts'

export type ClaimCommand = {
  /** Stores the claims of a call, which waits until they are settled. */
  readonly type: 'make_claims'
  readonly turn_id: string
  readonly tool_call_id: string
  readonly basis: number
  readonly claims: readonly NewClaim[]
  readonly held: HeldCall
}

export const CLAIM_RULES: Rules<ClaimCommand> = { make_claims: makeClaims }

type Edit = CommandOf<'edit_tasks'>

function makeClaims(_: Conversation, command: CommandOf<'make_claims'>): NewEvent[] {
  const { turn_id, tool_call_id, basis, claims } = command
  // Drops undefined fields, as the log does.
  const held = JSON.parse(JSON.stringify(command.held)) as HeldCall
  return claims.map((claim, index) => ({
    type: 'claim_made',
    turn_id,
    data: { ...claim, tool_call_id, basis, ...(index === 0 ? { held } : {}) },
  }))
}

/** An edit and its refusals: by element if each element stands on its own, else of the whole edit. */
type Attempt = { readonly made: Edited; readonly edit: Edit; readonly refusals: ReadonlyMap<number, Refusal> }

export function attempt(
  state: Conversation,
  edit: Edit,
  now: Instant,
  ruled?: readonly OpenClaim[],
  known: ReadonlyMap<number, Refusal> = new Map(),
): Attempt | Refusal {
  const refusals = new Map(known)
  for (;;) {
    const left = [...(edit.change ?? []).entries()].filter(([row]) => !refusals.has(row))
    const kept = edit.change ? { ...edit, change: left.map(([, change]) => change) } : edit
    const made = edited(state, kept, now, ruled)
    if (!(made instanceof Refusal)) return { made, edit: kept, refusals }
    const [row] = left[made.row ?? -1] ?? []
    if (row === undefined) return made
    if (!edit.each) return made.at(row)
    refusals.set(row, made.at(row))
  }
}

/** The state of a call's claims: what they wait for, or the refused ones; all others are granted. */
type Settlement = Wait | Ended

interface Ended {
  readonly needs: null
  readonly refused: ReadonlyMap<string, Ruling>
  /** The call, as if nothing more had been refused. */
  readonly made?: Attempt | Refusal
}

export type Wait =
  | { readonly needs: 'checks' | 'look' | 'runs' }
  | { readonly needs: 'judge'; readonly claim: OpenClaim }

interface Ruling {
  readonly because: ClaimEnd
  /** The check that failed; such claims are counted. */
  readonly failed?: Check
  readonly why: (state: Conversation, task: Task, row?: number) => Refusal
}

/**
 * The next need of a call's claims, in this order: their checks; if the plan has nothing left open, a fingerprint of
 * the files and the final runs; the judge.
 */
function settle(
  state: Conversation,
  claims: readonly OpenClaim[],
  { seen, ended, isGone }: Learnt,
  now: Instant,
): Settlement {
  const refused = new Map<string, Ruling>()
  const left = (): readonly OpenClaim[] => claims.filter(({ task_id }) => !refused.has(task_id))
  const end = (which: readonly OpenClaim[]): void => {
    for (const { task_id } of which) refused.set(task_id, endedFor(ended ?? 'failed', isGone))
  }
  const { turn_id = '' } = claims[0] ?? {}
  if (ended === 'failed') {
    end(claims)
    return { needs: null, refused }
  }
  for (const claim of left()) {
    const checked = checkedBy(state, claim)
    if (checked.result === 'waiting') {
      // A person can tick a check without a workspace.
      if (ended !== 'no_workspace' || checked.check.kind === 'person') return { needs: 'checks' }
      end([claim])
    } else if (checked.result === 'failed' || checked.result === 'inconclusive')
      refused.set(claim.task_id, failedBy(checked))
    else if (claim.verdict && claim.verdict.verdict !== 'ok')
      refused.set(claim.task_id, turnedDown(claim.verdict.verdict, claim.verdict.reason))
  }
  const isUnjudged = (claim: OpenClaim): boolean =>
    claim.judge === true && !claim.verdict && checkedBy(state, claim).result !== 'closed'
  if (ended === 'no_judge') end(left().filter(isUnjudged))
  const made = applied(state, claims, refused, now)
  if (made instanceof Refusal) return { needs: null, refused, made }
  const last = made.made.last
  if (last.length > 0) {
    // The files may have changed while its own check ran, so they must be fingerprinted again.
    const isUnseen = !seen && last.some(task => task.status === 'completed' && isChecked(state, task))
    const isMissing = isUnseen || missingRuns(state, turn_id, seen).length > 0
    if (isMissing && !ended) return { needs: seen ? 'runs' : 'look' }
    if (isMissing) end(left())
    // The plan goes on while one of them is open.
    else
      for (const [task] of Map.groupBy(last, ({ plan_id }) => plan_id).values())
        if (task) refuseUnpassed(state, task, refused)
  }
  const unjudged = left().find(isUnjudged)
  return unjudged ? { needs: 'judge', claim: unjudged } : { needs: null, refused, made }
}

export interface Settled {
  readonly events: readonly NewEvent[]
  readonly refusals: ReadonlyMap<number, Refusal>
  readonly refusal?: Refusal
  readonly notDone: ReadonlyMap<string, string>
}

/** Settles a call in one commit: refused claims are counted and dropped, the rest is applied. */
export function settled(
  state: Conversation,
  { turn_id, tool_call_id }: Pick<OpenClaim, 'turn_id' | 'tool_call_id'>,
  learnt: Learnt,
  now: Instant,
): Settled | Wait {
  const claims = claimsOf(state, turn_id, tool_call_id)
  const settlement = settle(state, claims, learnt, now)
  if (settlement.needs !== null) return settlement
  const { refused } = settlement
  const counted = refusedEvents(state, claims, refused, now)
  const after = fold(state, stamped(state, counted, now))
  const again = (): Attempt | Refusal | undefined =>
    learnt.ended === 'failed' ? undefined : applied(after, claims, refused, now)
  const made = refused.size + counted.length > 0 ? again() : settlement.made
  const isRefused = made === undefined || made instanceof Refusal
  const granted = isRefused ? [] : [...made.made.events, ...completed(after, made.made.events, claims, refused, now)]
  const end = fold(after, stamped(after, granted, now))
  const closed = claims
    .filter(({ task_id }) => !refused.has(task_id))
    .map(claim => {
      const task = end.tasks.get(claim.task_id)
      const why = made instanceof Refusal ? made : made?.refusals.get(rowOf(state, claims, claim) ?? -1)
      if (!isRefused && !why && task?.status === claim.status)
        return claimSettled(claim, 'granted', task.judged_by === 'assessor' ? 'judge' : 'checks')
      return claimSettled(claim, 'refused', why?.is('edited_by_person') ? 'edited' : 'refused')
    })
  return {
    events: [...counted, ...granted, ...closed],
    refusals: isRefused ? new Map() : made.refusals,
    ...(made instanceof Refusal ? { refusal: made } : {}),
    notDone: new Map(claims.flatMap(({ task_id, verdict }) => (verdict ? [[task_id, reasonIn(verdict)]] : []))),
  }
}

/** The call without its refused parts; tasks that it creates as done are still pending. */
function applied(
  state: Conversation,
  claims: readonly OpenClaim[],
  refused: ReadonlyMap<string, Ruling>,
  now: Instant,
): Attempt | Refusal {
  const [first] = claims
  const held = heldBy(claims)
  if (!first || !held) throw new TypeError('The log has no call of these claims.')
  const { turn_id, basis } = first
  const known = new Map<number, Refusal>()
  for (const [row, { task: ref }] of (held.edit.change ?? []).entries()) {
    const task = findTask(state, ref)
    const ruling = task && refused.get(task.id)
    if (ruling) known.set(row, ruling.why(state, task, row))
  }
  return attempt(state, { ...held.edit, type: 'edit_tasks', by: 'model', turn_id, basis }, now, claims, known)
}

function completed(
  state: Conversation,
  created: readonly NewEvent[],
  claims: readonly OpenClaim[],
  refused: ReadonlyMap<string, Ruling>,
  now: Instant,
): readonly NewEvent[] {
  const passed = claims.filter(({ task_id }) => !refused.has(task_id) && !state.tasks.has(task_id))
  const [first] = passed
  if (!first) return []
  const editor = new ListEditor(fold(state, stamped(state, created, now)), now, 'assessor', first.turn_id)
  for (const { task_id, status, outcome } of passed)
    editor.change(task_id, { status, ...(outcome === '' ? {} : { outcome }) })
  const events = editor.finish()
  return events instanceof Refusal ? [] : events
}

/**
 * Ends the refused claims, and the runs that only refused and closed claims wait for. The last of too many failed
 * claims blocks its task.
 */
function refusedEvents(
  state: Conversation,
  claims: readonly OpenClaim[],
  rulings: ReadonlyMap<string, Ruling>,
  now: Instant,
): NewEvent[] {
  const refused = claims.flatMap(claim => {
    const ruling = rulings.get(claim.task_id)
    return ruling ? [{ claim, ruling }] : []
  })
  const closed = claims.filter(claim => checkedBy(state, claim).result === 'closed')
  const ended = [...refused.map(({ claim }) => claim), ...closed]
  const [first] = ended
  if (!first) return []
  const { turn_id } = first
  const editor = new ListEditor(state, now, 'system', turn_id)
  const blocked: Task[] = []
  for (const { claim, ruling } of refused) {
    const task = state.tasks.get(claim.task_id)
    const isLast = ruling.failed !== undefined && proofOf(state, claim.task_id).reds + 1 >= MAX_REDS
    // A task that a person blocked keeps their words.
    if (!isLast || !task || !(isOpen(task) || (task.status === 'blocked' && task.judged_by !== 'person'))) continue
    const outcome = asProse(`Its check failed ${MAX_REDS} times: ${labelOf(ruling.failed)}.`)
    editor.change(task.id, { status: 'blocked', outcome })
    blocked.push(task)
  }
  const edits = editor.finish()
  const events = [
    ...runsEndedWith(
      state,
      ended,
      refused.some(({ ruling }) => ruling.because === 'no_workspace'),
      now,
    ),
    ...refused.map(({ claim, ruling }) => claimSettled(claim, 'refused', ruling.because)),
    ...(edits instanceof Refusal ? [] : edits),
  ]
  return [...events, ...finalRunsAfter(state, events, blocked, now)]
}

const rowOf = (state: Conversation, claims: readonly OpenClaim[], { task_id }: OpenClaim): number | undefined =>
  heldBy(claims)?.edit.change?.findIndex(({ task }) => findTask(state, task)?.id === task_id)

function failedBy(checked: Extract<Checked, { readonly result: 'failed' | 'inconclusive' }>): Ruling {
  const { result, check, run } = checked
  if (result === 'inconclusive') {
    const reason = run?.reason ?? 'It could not be run.'
    const why = (_: Conversation, task: Task, row?: number): Refusal =>
      new Refusal('not_checked', { ...inRow(row), task, check: describeCheck(check), reason })
    return { because: 'inconclusive', why }
  }
  return {
    because: 'check_failed',
    failed: check,
    why: (state, task, row) =>
      new Refusal('check_failed', {
        ...inRow(row),
        task,
        ...redRun(state, check, run),
        reds: proofOf(state, task.id).reds,
      }),
  }
}

/** A plan check that does not pass refuses the claim that would end the plan. */
function refuseUnpassed(state: Conversation, { id, plan_id }: Task, refused: Map<string, Ruling>): void {
  const plan = planById(state, plan_id)
  const [check] = unpassedChecks(plan)
  if (!check) return
  const run = countingRun(planRuns(plan, check.hash))
  const changes = run?.result === 'passed' ? planChanges(plan, check) : []
  const told = {
    ...redRun(state, check, run),
    ...(run?.result === 'inconclusive' ? { isUnclear: true } : {}),
    ...(changes.length > 0 ? { changes } : {}),
  }
  refused.set(id, {
    because: 'refused',
    why: (_, task, row) => new Refusal('plan_check_failed', { ...inRow(row), task, ...told }),
  })
}

function turnedDown(verdict: Exclude<Verdict, 'ok'>, said: string): Ruling {
  const reason = reasonIn({ verdict, reason: said })
  const why = (_: Conversation, task: Task, row?: number): Refusal =>
    new Refusal('not_accepted', { ...inRow(row), task, verdict, reason })
  return { because: verdict, why }
}

function endedFor(ended: NonNullable<Learnt['ended']>, isGone: boolean | undefined): Ruling {
  const because = ended === 'no_workspace' ? ended : 'refused'
  const reason = ENDED[ended]
  return {
    because,
    why: (state, task, row) =>
      new Refusal('not_checked', {
        ...inRow(row),
        task,
        reason: ended === 'no_workspace' ? unserved(state, task, isGone) : reason,
      }),
  }
}

const ENDED = {
  no_workspace: 'No process with its workspace is running.',
  no_judge: 'The server with the judge is not running. Start it, then claim it again.',
  failed: 'The server failed unexpectedly.',
} as const

function redRun(
  state: Conversation,
  check: Check,
  run: CheckRun | undefined,
): { check: string; exit?: number; reason?: string; tail?: string } {
  const tail = tailOf(state, check.hash, run)
  return {
    check: describeCheck(check),
    ...(run?.exit === undefined ? {} : { exit: run.exit }),
    ...(run?.reason === undefined || isCodeAlone(check, run) ? {} : { reason: run.reason }),
    ...(tail ? { tail } : {}),
  }
}

/** A command that exits with a code other than 0 where 0 was expected: the code alone is the reason. */
const isCodeAlone = (check: Check, { exit }: CheckRun): boolean =>
  check.kind === 'command' && check.exit === undefined && exit !== undefined && exit !== 0

function unserved(state: Conversation, task: Task, isGone: boolean | undefined): string {
  const path = workspaceOf(state, task)?.path
  const folder = path === undefined ? '' : ` (${path})`
  const person =
    'leave it to a person, who can remove the checks of the plan or settle the task in the plan panel of the page'
  return isGone
    ? `The folder of its workspace${folder} does not exist any more, so the checks of its plan cannot run. Put it back, then claim it again; or ${person}, or write one check again, which moves those of the whole plan to the folder that Runsheet runs in.`
    : `No process with its workspace${folder} is running, so the checks of its plan cannot run. Start Runsheet there, then claim it again; or ${person}.`
}
