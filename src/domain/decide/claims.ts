import type { Check } from '../check.ts'
import { describeCheck } from '../check-label.ts'
import { type Claim, isSameClaim, judgedOn, MAX_REJECTED_CLAIMS, objectionTo } from '../claim.ts'
import type { CommandOf } from '../command.ts'
import type { Conversation } from '../conversation.ts'
import type { TaskFields } from '../fields.ts'
import { planById, planOf } from '../plan.ts'
import { planGuards, unpassedChecks } from '../plan-checks.ts'
import { claimOn, type ResolvedClaim } from '../open-claims.ts'
import {
  type CheckRun,
  countingRun,
  isChecked,
  MAX_RED_CLAIMS,
  planRuns,
  proofOf,
  tailOf,
  workspaceOf,
} from '../proof.ts'
import { inRow, Refusal, type RefusalData } from '../refusal.ts'
import { NEXT, REQUIRES, type Task, type TaskStatus } from '../task.ts'
import { hasFinalRuns, missingRuns } from './final-runs.ts'
import type { Draft, ListEditor } from './list-editor.ts'

type Edit = CommandOf<'edit_tasks'>

/**
 * What a model's edit claims, one claim per task. The edit is made as if every claim were granted; then a claim is granted
 * by its checks and its verdict, or left open. Where neither is asked, the model's word is taken.
 */
export class Claims {
  /** Those that nobody has checked or ruled on yet. */
  readonly open: Claim[] = []
  readonly #state: Conversation
  readonly #edit: Edit
  /** Whether a judge rules on them. */
  readonly #isJudged: boolean
  /** Whether the turn is of an agent elsewhere: its plan ends with the claim that leaves nothing open. */
  readonly #endsPlan: boolean
  /** Task id to the element that claims it. */
  readonly #rows = new Map<string, number>()
  /** Those of them whose claims wait for a check or the judge. */
  readonly #asked = new Set<string>()

  constructor(state: Conversation, edit: Edit, isJudged: boolean, endsPlan: boolean) {
    this.#state = state
    this.#edit = edit
    this.#isJudged = isJudged
    this.#endsPlan = endsPlan
  }

  /**
   * The drafts, with those that the model calls done as pending ones where checks or a judge come first. What has checks to
   * run is claimed with a call of its own, and all that an agent elsewhere claims; in a run of ours the rest is judged in the
   * same call.
   */
  asPending(drafts: readonly Draft[]): readonly Draft[] {
    return drafts.map((draft, row) => {
      const hasChecks = this.#hasChecks(draft)
      if (draft.status !== 'completed' || !(this.#isJudged || hasChecks)) return draft
      const { outcome = '', ...rest } = draft
      const { title, details = '', criteria = '' } = rest
      const claim: Claim = { task: row, title, details, criteria, status: 'completed', outcome }
      const judged = judgedOn(this.#edit.judged ?? [], row)
      const isJudgedHere = !this.#endsPlan && !hasChecks
      if (isJudgedHere && !(judged && isSameClaim(judged.claim, claim))) this.open.push(claim)
      return { ...rest, status: 'pending' }
    })
  }

  /** Notes that an element settles a task, unless that was turned down or is not asked any more. */
  add(task: Task, fields: Partial<TaskFields>, row: number): Refusal | undefined {
    const { status = task.status } = fields
    const isClaimed = isClaim(task, status) || this.#isSaidAgain(task, fields)
    const resolved = this.#edit.resolved?.find(({ claim }) => claim.task_id === task.id)
    const other = resolved ? undefined : claimOn(this.#state, task.id)
    if (other) {
      const { claim_id, tool_call_id, turn_id } = other
      return new Refusal('claim_open', { row, task, claim_id, tool_call_id, turn_id, joins: isClaimed })
    }
    if (!isClaimed) return undefined
    const red = resolved && whyNotGranted(this.#state, resolved, task, row)
    if (red) return red
    this.#rows.set(task.id, row)
    if (!this.#isAsked(task, status)) return undefined
    const judged = judgedOn(this.#edit.judged ?? [], task.id)
    const objection = judged && objectionTo(judged)
    if (objection) return new Refusal('not_accepted', { row, task, ...objection })
    const spent = judged || resolved ? undefined : this.#spent(task)
    if (spent) return new Refusal('claims_spent', { row, task, ...spent })
    this.#asked.add(task.id)
    return undefined
  }

  /** Grants what passed its checks and the judge, if it is still what the judge saw, and if the plan may end with it. */
  settle(editor: ListEditor): Refusal | undefined {
    for (const id of this.#asked) {
      const task = editor.get(id)
      const claim = task && claimIn(task)
      // Reopened by a later element of the same call: nothing is claimed any more.
      if (!claim) continue
      const judged = judgedOn(this.#edit.judged ?? [], id)
      const isPassed = this.#edit.resolved?.some(each => each.claim.task_id === id) ?? false
      // The judge never grants before the checks.
      const hasChecks = claim.status === 'completed' && isChecked(this.#state, task)
      if (judged ? hasChecks && !isPassed : this.#isJudged || !isPassed) this.open.push(claim)
      else if (judged && !isSameClaim(judged.claim, claim)) {
        return new Refusal('not_accepted', {
          ...inRow(this.#rows.get(id)),
          task,
          verdict: 'unknown',
          reason: CHANGED,
        })
      } else if (judged) editor.sign(id)
    }
    return this.#endsPlan ? this.#endPlan(editor) : undefined
  }

  /** What leaves nothing open waits, as a claim, for the runs that the plan needs before it ends, and for its own checks. */
  #endPlan(editor: ListEditor): Refusal | undefined {
    const last = [...this.#rows.keys()].flatMap(id => {
      const task = editor.get(id)
      return task && claimIn(task) && !editor.hasOpen(task.plan_id) ? task : []
    })
    if (!this.#edit.resolved) {
      const unasked = last.filter(
        task => !this.#asked.has(task.id) && hasFinalRuns(this.#state, planById(this.#state, task.plan_id)),
      )
      this.open.push(...unasked.flatMap(task => claimIn(task) ?? []))
      return undefined
    }
    if (last.length === 0) return undefined
    // The files may have changed while its own check ran: that takes a look.
    const isRun = last.some(task => task.status === 'completed' && isChecked(this.#state, task))
    if (isRun && !this.#edit.seen) return new Refusal('final_runs_required', {})
    const missing = missingRuns(this.#state, this.#edit.turn_id ?? '', this.#edit.seen)
    if (missing.length > 0) return new Refusal('final_runs_required', {})
    for (const task of last) {
      const plan = planById(this.#state, task.plan_id)
      const [check] = unpassedChecks(this.#state, plan)
      if (check) {
        const run = countingRun(planRuns(plan, check.hash))
        const result = run?.result
        const guarded = result === 'passed' ? planGuards(this.#state, plan, check) : []
        return new Refusal('plan_check_failed', {
          ...inRow(this.#rows.get(task.id)),
          task,
          ...redRun(this.#state, check, run),
          ...(result === 'inconclusive' ? { isUnclear: true } : {}),
          ...(guarded.length > 0 ? { guarded } : {}),
        })
      }
    }
    return undefined
  }

  /** Whether the checks of a new task may run. */
  #hasChecks({ allowed = [] }: Draft): boolean {
    return allowed.length > 0 && planOf(this.#state, this.#edit.turn_id ?? '').workspace !== undefined
  }

  /** Whether a task that is done gets another outcome in a plan that is over: the plan ends anew with it. */
  #isSaidAgain(task: Task, { status = task.status, outcome }: Partial<TaskFields>): boolean {
    const isOther = outcome !== undefined && outcome !== task.outcome
    const isAgain = task.status === 'completed' && status === 'completed' && isOther
    return isAgain && this.#endsPlan && planById(this.#state, task.plan_id).open.length === 0
  }

  #isAsked(task: Task, status: TaskStatus): boolean {
    return (this.#isJudged && task.status !== 'completed') || (status === 'completed' && isChecked(this.#state, task))
  }

  /** Who turned down claims on a task too often. */
  #spent({ id }: Task): Pick<RefusalData['claims_spent'], 'by' | 'times'> | undefined {
    const { reds } = proofOf(this.#state, id)
    if (reds >= MAX_RED_CLAIMS) return { by: 'checks', times: reds }
    const rejections = this.#state.rejections.get(id) ?? 0
    return rejections >= MAX_REJECTED_CLAIMS ? { by: 'assessor', times: rejections } : undefined
  }
}

const CHANGED = 'It changed after the assessor was asked.'

/** Whether a model needs consent for this status. */
const isClaim = (task: Task, status: TaskStatus): boolean =>
  REQUIRES[status].judge && NEXT[task.status].includes(status)

function claimIn({ id, title, details, criteria, status, outcome = '' }: Task): Claim | undefined {
  if (status !== 'completed' && status !== 'cancelled') return undefined
  return { task: id, title, details, criteria, status, outcome }
}

/** Why a claim whose checks are over is not granted. */
export function whyNotGranted(
  state: Conversation,
  { resolution }: ResolvedClaim,
  task: Task,
  row?: number,
): Refusal | undefined {
  if (resolution.result === 'passed') return undefined
  if (resolution.result === 'waiting')
    return new Refusal('not_checked', { ...inRow(row), task, reason: 'Its checks did not end.' })
  if (resolution.result === 'ended') {
    const reason =
      resolution.because === 'no_workspace' ? unserved(state, task, resolution.isGone) : ENDED[resolution.because]
    return new Refusal('not_checked', { ...inRow(row), task, reason: reason ?? 'It was ended.' })
  }
  const { result, run } = resolution
  if (result === 'inconclusive') {
    const reason = run?.reason ?? 'It could not be run.'
    return new Refusal('not_checked', { ...inRow(row), task, check: describeCheck(resolution.check), reason })
  }
  const { reds } = proofOf(state, task.id)
  return new Refusal('check_failed', { ...inRow(row), task, ...redRun(state, resolution.check, run), reds })
}

/** A check that failed, with what its run said. */
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

/** Whether a command failed with its exit code, where 0 was expected: the code says it all. */
const isCodeAlone = (check: Check, { exit }: CheckRun): boolean =>
  check.kind === 'command' && check.exit === undefined && exit !== undefined && exit !== 0

/** That no process has the workspace, which one that is, and what can be done. */
function unserved(state: Conversation, task: Task, isGone: boolean | undefined): string {
  const path = workspaceOf(state, task)?.path
  const folder = path === undefined ? '' : ` (${path})`
  const person =
    'leave it to a person, who can remove the checks of the plan or settle the task in the plan panel of the page'
  return isGone
    ? `The folder of its workspace${folder} does not exist any more, so the checks of its plan cannot run. Put it back, then claim it again; or ${person}, or write one check again, which moves those of the whole plan to the folder that Runsheet runs in.`
    : `No process with its workspace${folder} is running, so the checks of its plan cannot run. Start Runsheet there, then claim it again; or ${person}.`
}

const ENDED: Readonly<Record<string, string>> = {
  edited: 'A person changed its checks meanwhile.',
  stopped: 'It was stopped.',
  no_judge: 'The server with the judge is not running. Start it, then claim it again.',
  gone: 'The task was removed.',
}
