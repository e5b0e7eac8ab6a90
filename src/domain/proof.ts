import { type Check, type CheckResult, COST, type Workspace } from './check.ts'
import { labelOf } from './check-label.ts'
import type { VerdictBasis } from './claim.ts'
import type { Instant } from './instant.ts'
import { homeOf, lineage, openInPlan, planHistory, planTurnOf } from './lineage.ts'
import { type Keyed, valueIn, valuesIn } from './table.ts'
import { SEALED, type Task } from './task.ts'
import type { Turn } from './turn.ts'

/** Why a check runs: at confirmation, for a claim, before the plan ends, or because a person asked. */
export type RunReason = 'baseline' | 'claim' | 'final' | 'person'

/** A run that has ended. */
export interface CheckRun {
  readonly run_id: string
  readonly why: RunReason
  readonly result: CheckResult
  readonly duration_ms: number
  readonly exit?: number
  /** Why it is inconclusive. */
  readonly reason?: string
  /** What it runs is not what was approved any more. */
  readonly changed?: true
  /** The end of the output of a run that did not pass. */
  readonly tail?: string
  /** The workspace as the run left it. Without one, the run is out of date. */
  readonly fingerprint?: string
  /** The guarded files that differ from those at confirmation, and a digest of how. */
  readonly guarded?: readonly string[]
  readonly guard?: string
  readonly turn_id: string
  readonly at: Instant
  readonly seq: number
}

/** A run under way. After a crash the next one replaces it. */
export interface StartedRun {
  readonly run_id: string
  readonly task_id?: string
  readonly check_id: string
  readonly why: RunReason
  readonly claim_id?: string
  readonly at: Instant
  /** How often a run was started without one that ended. */
  readonly tries: number
}

/** What is known of one distinct check. Tasks with the same check in the same workspace share its runs. */
export interface CheckRecord {
  readonly last?: CheckRun
  readonly started?: StartedRun
  /** It failed, and no claim has seen it pass since. */
  readonly red: boolean
  /** The task whose claim first saw it pass after its last failure. For every other task it only guards. */
  readonly proves?: string
}

/** What people and runs have said about the checks of one task. */
export interface TaskProof {
  /** The hashes that a person, or the configuration, approved. */
  readonly approved: readonly string[]
  /** Hash to the result at confirmation. */
  readonly baseline: Readonly<Record<string, CheckResult>>
  /** The ids of the checks that a person ticked. */
  readonly ticked: readonly string[]
  /** The digests of changes to guarded files that a person accepted. */
  readonly accepted: readonly string[]
  /** Claims that a red check refused, since a person last changed the task. */
  readonly reds: number
  /** The newest ok of the judge. */
  readonly verdict?: {
    readonly seq: number
    readonly rests?: VerdictBasis
    /** The worker's own model gave it. */
    readonly own?: true
  }
}

export const NO_PROOF: TaskProof = { approved: [], baseline: {}, ticked: [], accepted: [], reds: 0 }

/** Before the id of a run: the live text of its output. */
export const CHECK_OUTPUT = 'check:'

/** Red claims after which a task is blocked, and after which further claims are refused unchecked. */
export const MAX_REDS = 5
export const MAX_RED_CLAIMS = MAX_REDS + 1

/** A run that died with its process is tried this often. One that a process handed back is not counted. */
export const MAX_TRIES = 2

/** A model's word that a task is settled. */
export interface MadeClaim {
  readonly claim_id: string
  readonly task_id: string
  readonly tool_call_id: string
  readonly status: 'completed' | 'cancelled'
  readonly outcome: string
  /** A hash of the title, details, criteria and outcome that are claimed. */
  readonly seal: string
  /** The seq that the call was based on. */
  readonly basis: number
  /** A judge of ours rules on it, although the agent is elsewhere. */
  readonly judge?: true
}

/** The same while it is checked and judged. */
export interface OpenClaim extends MadeClaim {
  readonly turn_id: string
  /** The seq of its call, whose arguments are in the log. */
  readonly seq: number
  readonly at: Instant
  /** Hash to the result of this claim's own run. */
  readonly results: Readonly<Record<string, CheckResult>>
  /** Why no further check of it is run. */
  readonly ended?: string
}

/** A run that was asked for, other than by a claim. */
export interface CheckRequest {
  readonly turn_id: string
  readonly task_id?: string
  readonly check_id: string
  readonly hash: string
  readonly why: Exclude<RunReason, 'claim'>
  readonly at: Instant
}

/** What these functions read: a state or its snapshot. */
export interface Proofs {
  readonly tasks: Keyed<Task>
  readonly turns: Keyed<Turn>
  readonly adopted: Keyed<string>
  readonly proof: Keyed<TaskProof>
  readonly runs: Keyed<CheckRecord>
  readonly claims: Keyed<OpenClaim>
  readonly requests: readonly CheckRequest[]
  readonly edits: Keyed<Readonly<Record<string, number>>>
}

export const proofOf = (state: Pick<Proofs, 'proof'>, taskId: string): TaskProof =>
  valueIn(state.proof, taskId) ?? NO_PROOF

export const NO_RUNS: CheckRecord = { red: false }

export const recordOf = (state: Pick<Proofs, 'runs'>, hash: string): CheckRecord => valueIn(state.runs, hash) ?? NO_RUNS

/** A person's check needs no approval: it runs nothing. */
export const isApproved = (state: Pick<Proofs, 'proof'>, taskId: string, check: Check): boolean =>
  check.kind === 'person' || proofOf(state, taskId).approved.includes(check.hash)

/** The checks of a task that count, cheapest first: an unapproved one never runs and is in nobody's way. */
export function countingChecks(state: Pick<Proofs, 'proof' | 'runs'>, task: Task): readonly Check[] {
  const cost = (check: Check): number => COST[check.kind] * 1e9 + (recordOf(state, check.hash).last?.duration_ms ?? 0)
  return (task.checks ?? []).filter(check => isApproved(state, task.id, check)).toSorted((a, b) => cost(a) - cost(b))
}

/** The workspace that a task's checks run in. */
export const workspaceOf = (state: Pick<Proofs, 'turns' | 'adopted'>, task: Task): Workspace | undefined =>
  valueIn(state.turns, task.conversation_turn_id)?.workspace ?? valueIn(state.turns, planTurnOf(state, task))?.workspace

/** Whether a claim of this task has something to wait for. */
export const isChecked = (state: Pick<Proofs, 'proof' | 'runs' | 'turns' | 'adopted'>, task: Task): boolean =>
  workspaceOf(state, task) !== undefined && countingChecks(state, task).length > 0

/** How the checks of a claim stand. */
export type Resolution =
  | { readonly result: 'waiting' }
  | { readonly result: 'passed' }
  | { readonly result: 'failed' | 'inconclusive'; readonly check: Check; readonly run?: CheckRun }
  /** The checks do not matter any more. */
  | { readonly result: 'ended'; readonly because: string }

/** A claim of a call that is made again, and how its checks ended. */
export interface ResolvedClaim {
  readonly claim: OpenClaim
  readonly resolution: Resolution
}

/** The claims of a call, once all are checked. */
export const resolvedClaims = (state: Proofs, turnId: string, callId: string): readonly ResolvedClaim[] =>
  claimsOf(state, turnId, callId).map(claim => ({ claim, resolution: resolutionOf(state, claim) }))

export function resolutionOf(state: Proofs, claim: OpenClaim): Resolution {
  if (claim.ended !== undefined) return { result: 'ended', because: claim.ended }
  const task = valueIn(state.tasks, claim.task_id)
  if (!task) return { result: 'ended', because: 'gone' }
  if (claim.status === 'cancelled') return { result: 'passed' }
  for (const check of countingChecks(state, task)) {
    const result = resultFor(state, claim, check)
    if (result === undefined) return { result: 'waiting' }
    const { last } = recordOf(state, check.hash)
    if (result !== 'passed') return { result, check, ...(last ? { run: last } : {}) }
  }
  return { result: 'passed' }
}

function resultFor(state: Proofs, claim: OpenClaim, check: Check): CheckResult | undefined {
  if (check.kind !== 'person') return claim.results[check.hash]
  return proofOf(state, claim.task_id).ticked.includes(check.id) ? 'passed' : undefined
}

/** The open claims of a turn, or of one of its calls, oldest first. */
export function claimsOf({ claims }: Pick<Proofs, 'claims'>, turnId: string, callId?: string): OpenClaim[] {
  return [...valuesIn(claims)]
    .filter(claim => claim.turn_id === turnId && (callId === undefined || claim.tool_call_id === callId))
    .sort((a, b) => a.seq - b.seq || (a.claim_id < b.claim_id ? -1 : 1))
}

export const claimOn = ({ claims }: Pick<Proofs, 'claims'>, taskId: string): OpenClaim | undefined =>
  [...valuesIn(claims)].find(claim => claim.task_id === taskId)

/** A run to make now. */
export interface RunToMake {
  readonly turn_id: string
  readonly task_id?: string
  readonly check: Check
  readonly why: RunReason
  readonly claim_id?: string
  /** When it was asked for. */
  readonly at: Instant
}

/** The next run in a turn's plan. Follows from the log alone, so that any process with the workspace goes on in the same way. */
export function nextRun(state: Proofs, turnId: string): RunToMake | undefined {
  const asked = state.requests.filter(request => request.turn_id === turnId)
  const baseline = asked.find(({ why }) => why === 'baseline')
  return (baseline && requested(state, baseline)) ?? claimed(state, turnId) ?? (asked[0] && requested(state, asked[0]))
}

function claimed(state: Proofs, turnId: string): RunToMake | undefined {
  for (const claim of claimsOf(state, turnId)) {
    const task = valueIn(state.tasks, claim.task_id)
    if (!task || resolutionOf(state, claim).result !== 'waiting') continue
    const check = countingChecks(state, task).find(each => each.kind !== 'person' && !claim.results[each.hash])
    const { claim_id, at } = claim
    if (check) return { turn_id: turnId, task_id: task.id, check, why: 'claim', claim_id, at }
  }
  return undefined
}

function requested(state: Proofs, { turn_id, task_id, hash, why, at }: CheckRequest): RunToMake | undefined {
  const check = findCheck(state, turn_id, task_id, hash)
  return check && { turn_id, ...(task_id === undefined ? {} : { task_id }), check, why, at }
}

/** Whether a run under way still matters: nobody ended it, nor the claim that it is made for. */
export function isWanted(state: Pick<Proofs, 'runs' | 'claims'>, hash: string, runId: string): boolean {
  const { started } = recordOf(state, hash)
  if (started?.run_id !== runId) return false
  if (started.claim_id === undefined) return true
  const claim = valueIn(state.claims, started.claim_id)
  return claim !== undefined && claim.ended === undefined
}

/** A check of a task by its hash, or without a task one of the plan's own. */
export function findCheck(
  state: Pick<Proofs, 'tasks' | 'turns'>,
  turnId: string,
  taskId: string | undefined,
  hash: string,
): Check | undefined {
  const checks = taskId === undefined ? homeOf(state, turnId)?.done_checks : valueIn(state.tasks, taskId)?.checks
  return checks?.find(check => check.hash === hash)
}

/** Whether the checks of a plan have still to be run as they are at the start. */
export const awaitsBaseline = ({ requests }: Pick<Proofs, 'requests'>, turnId: string): boolean =>
  requests.some(({ turn_id, why }) => turn_id === turnId && why === 'baseline')

/** Whether checks of a plan have still to be run before it ends. */
export const awaitsFinal = ({ requests }: Pick<Proofs, 'requests'>, turnId: string): boolean =>
  requests.some(({ turn_id, why }) => turn_id === turnId && why === 'final')

/** Whether all claims of a call are checked: then it is performed. */
export const isResolved = (state: Proofs, claims: readonly OpenClaim[]): boolean =>
  claims.every(claim => resolutionOf(state, claim).result !== 'waiting')

/** The claims of the oldest call of a turn that is checked, and can be made again. */
export function settleable(state: Proofs, turnId: string): readonly OpenClaim[] {
  const claims = claimsOf(state, turnId)
  for (const { tool_call_id } of claims) {
    const together = claims.filter(claim => claim.tool_call_id === tool_call_id)
    if (isResolved(state, together)) return together
  }
  return []
}

/**
 * The plans, by their turns, of which nothing is left open if a call's claims are granted, unless one of them is known to be
 * refused.
 */
export function plansEndedBy(state: Proofs, { turn_id, tool_call_id }: OpenClaim): readonly string[] {
  const together = claimsOf(state, turn_id, tool_call_id)
  if (together.some(each => !GRANTABLE.has(resolutionOf(state, each).result))) return []
  const claimed = new Set(together.map(({ task_id }) => task_id))
  return claimedPlans(state, together).filter(plan => openInPlan(state, plan).every(({ id }) => claimed.has(id)))
}

const GRANTABLE: ReadonlySet<string> = new Set(['passed', 'waiting'])

const claimedPlans = (state: Proofs, claims: readonly OpenClaim[]): readonly string[] => [
  ...new Set(claims.flatMap(({ task_id }) => valueIn(state.tasks, task_id) ?? []).map(task => planTurnOf(state, task))),
]

/**
 * The distinct checks of a plan's completed tasks, and of the plan itself, that have not passed on this fingerprint: also of
 * a plan that a claim in this turn is about.
 */
export function staleChecks(state: Proofs, turnId: string, fingerprint: string | undefined): CheckRequest[] {
  const found = new Map<string, Omit<CheckRequest, 'at' | 'why'>>()
  const moved = new Set<string>()
  for (const plan of new Set([turnId, ...claimedPlans(state, claimsOf(state, turnId))])) {
    const home = homeOf(state, plan)
    for (const task of planHistory(state, plan)) {
      if (task.status !== 'completed' || !isSamePlace(workspaceOf(state, task), home?.workspace)) continue
      for (const check of countingChecks(state, task)) {
        const { hash, id, kind } = check
        if (kind !== 'person' && !found.has(hash))
          found.set(hash, { turn_id: turnId, task_id: task.id, check_id: id, hash })
        if (hasMoved(state, task, check)) moved.add(hash)
      }
    }
    for (const { hash, id } of home?.done_checks ?? []) {
      if (!found.has(hash)) found.set(hash, { turn_id: turnId, check_id: id, hash })
    }
  }
  const isInPass = (valueIn(state.turns, turnId)?.passes ?? 0) > 0
  const isFresh = ({ hash }: Pick<CheckRequest, 'hash'>): boolean => {
    const { last } = recordOf(state, hash)
    if (!last || last.result === 'inconclusive' || last.fingerprint !== fingerprint || moved.has(hash)) return false
    // What a final pass has seen is known, whatever it was. Otherwise a failure may have been mended since.
    return isInPass && last.why === 'final' ? true : last.result === 'passed' && fingerprint !== undefined
  }
  return [...found.values()].filter(each => !isFresh(each)).map(each => ({ ...each, why: 'final', at: '' }))
}

const isSamePlace = (a: Workspace | undefined, b: Workspace | undefined): boolean =>
  a !== undefined && a.path === b?.path && a.machine === b.machine

/** The files that checks name, which count in a fingerprint even if git ignores them. */
export function namedFiles({ tasks }: Pick<Proofs, 'tasks'>): readonly string[] {
  const checks = [...valuesIn(tasks)].flatMap(task => task.checks ?? [])
  return [...new Set(checks.flatMap(check => (check.kind === 'file' ? check.path : [])))].sort()
}

/** The plan's own checks that failed when they last ran. */
export const failingDoneChecks = (state: Pick<Proofs, 'runs' | 'turns'>, turnId: string): readonly Check[] =>
  (homeOf(state, turnId)?.done_checks ?? []).filter(({ hash }) => recordOf(state, hash).last?.result === 'failed')

/** How a check stands; `stale`: it passed before the workspace changed. */
export type CheckState = 'waiting' | 'running' | 'passed' | 'failed' | 'inconclusive' | 'stale'

/** How a check of a task stands, for people. */
export function checkState(state: Proofs, task: Task, check: Check): CheckState {
  return check.kind !== 'person' && isRunning(state, check) ? 'running' : lastState(state, task, check)
}

/** How a check that runs stands, whichever task or plan has it. */
export function runState(state: Pick<Proofs, 'runs' | 'turns'>, check: Check): CheckState {
  return isRunning(state, check) ? 'running' : lastRunState(state, check)
}

const isRunning = (state: Pick<Proofs, 'runs'>, { hash }: Check): boolean => recordOf(state, hash).started !== undefined

/** The same as of the last run: one under way changes nothing before it ends. */
function lastState(state: Proofs, task: Task, check: Check): CheckState {
  if (check.kind === 'person') return proofOf(state, task.id).ticked.includes(check.id) ? 'passed' : 'waiting'
  const stands = lastRunState(state, check)
  return stands === 'passed' && hasMoved(state, task, check) ? 'stale' : stands
}

function lastRunState(state: Pick<Proofs, 'runs' | 'turns'>, check: Check): CheckState {
  const { last } = recordOf(state, check.hash)
  if (!last) return 'waiting'
  return last.result === 'passed' && isStale(state, last) ? 'stale' : last.result
}

/** Whether a check last ran before its plan went on in another workspace, where nothing of this one is checked. */
function hasMoved(state: Pick<Proofs, 'turns' | 'adopted' | 'runs'>, task: Task, { hash }: Check): boolean {
  const { last } = recordOf(state, hash)
  const place = workspaceOf(state, task)
  const elsewhere = [...valuesIn(state.turns)].filter(({ workspace }) => workspace && !isSamePlace(workspace, place))
  // Most often there is none.
  if (!last || elsewhere.length === 0) return false
  const own = new Set([task.conversation_turn_id, planTurnOf(state, task)])
  const before = new Set(lineage(state, last.turn_id))
  return elsewhere.some(
    ({ id, claimed = 0 }) =>
      (!before.has(id) || claimed > last.seq) && lineage(state, id).some(earlier => own.has(earlier)),
  )
}

/**
 * Whether a later run in the same workspace saw other files; without a fingerprint, whether there was one, or a claim. Runs
 * of a final pass are fresh whatever the others of it write.
 */
function isStale(state: Pick<Proofs, 'runs' | 'turns'>, { turn_id, why, fingerprint, seq }: CheckRun): boolean {
  const place = (turnId: string): string | undefined => valueIn(state.turns, turnId)?.workspace?.path
  const isLater = (turnId: string, at = 0): boolean => at > seq && place(turnId) === place(turn_id)
  // Without a fingerprint, the run for a claim is of the pass that belongs to it.
  const isOfPass = why === 'final' || (why === 'claim' && !fingerprint)
  for (const { last } of valuesIn(state.runs)) {
    if (!last || !isLater(last.turn_id, last.seq) || (fingerprint && last.fingerprint === fingerprint)) continue
    if (!isOfPass || last.why !== 'final' || last.turn_id !== turn_id) return true
  }
  return !fingerprint && [...valuesIn(state.turns)].some(({ id, claimed }) => isLater(id, claimed))
}

/** The guarded files that keep a check of a task from proving anything, until a person accepts them. */
export function waitingGuards(state: Pick<Proofs, 'runs' | 'proof'>, task: Task, check: Check): readonly string[] {
  const { last } = recordOf(state, check.hash)
  if (!last?.guarded?.length) return []
  return proofOf(state, task.id).accepted.includes(last.guard ?? '') ? [] : last.guarded
}

/** How a completed task got there, strongest first. */
export type Standing = 'proven' | 'confirmed' | 'judged' | 'reported'

/** A standing and its reasons. */
export interface Stood {
  readonly standing: Standing
  readonly reasons: readonly string[]
}

/** The standing of a completed task, derived from the log and never stored; undefined for any other task. */
export function standingOf(state: Proofs, task: Task): Stood | undefined {
  const standing = standingWordOf(state, task)
  if (!standing) return undefined
  const again = (check: Check): string => (isAskedAgain(state, check) ? '; it is being checked again' : '')
  const reasons = (task.checks ?? []).map(
    check => `${labelOf(check)}: ${reasonFor(state, task, check)}${again(check)}`,
  )
  return { standing, reasons: standing === 'proven' ? reasons : [wordFor(state, task), ...reasons] }
}

/** Whether a check that ran is running, or waits for its turn. */
const isAskedAgain = (state: Pick<Proofs, 'runs' | 'requests'>, { hash }: Check): boolean => {
  const { last, started } = recordOf(state, hash)
  return last !== undefined && (started !== undefined || state.requests.some(request => request.hash === hash))
}

/** The same without the reasons. */
export function standingWordOf(state: Proofs, task: Task): Standing | undefined {
  if (task.status !== 'completed') return undefined
  const findings = (task.checks ?? []).map(check => findingOf(state, task, check))
  if (findings.includes('proves') && !findings.some(finding => IN_THE_WAY.has(finding))) return 'proven'
  return task.judged_by === 'person' ? 'confirmed' : task.judged_by === 'assessor' ? 'judged' : 'reported'
}

function wordFor(state: Proofs, { id, judged_by }: Task): string {
  if (judged_by === 'person') return 'a person settled it'
  return judged_by === 'assessor' ? verdictReason(state, id) : "the agent's word"
}

const RESTS: Record<VerdictBasis, string> = {
  cited: 'the judge said ok, and named its evidence',
  uncited: 'the judge said ok, without naming evidence',
  words: 'the judge said ok, on words alone',
}

function verdictReason(state: Proofs, taskId: string): string {
  const { verdict } = proofOf(state, taskId)
  const said = verdict?.rests ? RESTS[verdict.rests] : 'the judge said ok'
  const edited = Object.entries(valueIn(state.edits, taskId) ?? {}).some(
    ([field, seq]) => (SEALED as readonly string[]).includes(field) && seq > (verdict?.seq ?? seq),
  )
  return `${said}${verdict?.own ? ", as the worker's own model" : ''}${edited ? ', and a person edited it since' : ''}`
}

/** What one check says about its task. */
export type Finding =
  | 'unapproved'
  | 'failed'
  | 'stale'
  | 'not_passed'
  | 'guarded'
  | 'ticked'
  | 'proves'
  | 'passed_already'
  | 'proves_other'
  | 'never_failed'
  | 'not_seen'

/** Those that keep a task from being proven. */
const IN_THE_WAY: ReadonlySet<Finding> = new Set(['failed', 'stale', 'not_passed', 'guarded'])

/** What one check says about its task, for people. */
export function findingOf(state: Proofs, task: Task, check: Check): Finding {
  if (!isApproved(state, task.id, check)) return 'unapproved'
  const now = lastState(state, task, check)
  if (now === 'failed' || now === 'stale') return now
  if (now !== 'passed') return 'not_passed'
  if (waitingGuards(state, task, check).length > 0) return 'guarded'
  if (check.kind === 'person') return 'ticked'
  const { proves } = recordOf(state, check.hash)
  const baseline = proofOf(state, task.id).baseline[check.hash]
  // What passed at the start only guards: whoever breaks it first and restores it then has done nothing.
  if (baseline === 'passed') return 'passed_already'
  if (proves === task.id) return 'proves'
  if (proves !== undefined && valueIn(state.tasks, proves)) return 'proves_other'
  return baseline === 'failed' ? 'not_seen' : 'never_failed'
}

function reasonFor(state: Proofs, task: Task, check: Check): string {
  switch (findingOf(state, task, check)) {
    case 'unapproved':
      return 'not approved, so it never runs'
    case 'failed':
      return 'fails now'
    case 'stale':
      return hasMoved(state, task, check)
        ? `passed in ${workspaceOf(state, task)?.path}, and the plan goes on in another folder`
        : 'passed before the workspace changed'
    case 'not_passed':
      return 'has not passed'
    case 'guarded':
      return `proves nothing until a person accepts ${waitingGuards(state, task, check).join(', ')}`
    case 'ticked':
      return 'a person ticked it'
    case 'proves':
      return 'failed before, passes now'
    case 'passed_already':
      return 'passed already, so it only guards'
    case 'proves_other':
      return `proves task ${valueIn(state.tasks, recordOf(state, check.hash).proves ?? '')?.number}, so here it only guards`
    case 'never_failed':
      return 'never failed first, so it only guards'
    case 'not_seen':
      return 'no claim on this text saw it turn, so it only guards'
  }
}

/** How many completed tasks have each standing. */
export function standingsOf(state: Proofs, tasks: readonly Task[]): Readonly<Record<Standing, number>> {
  const counts = { proven: 0, confirmed: 0, judged: 0, reported: 0 }
  for (const task of tasks) {
    const standing = standingWordOf(state, task)
    if (standing) counts[standing] += 1
  }
  return counts
}
