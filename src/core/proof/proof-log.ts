import type { Check } from './check.ts'
import type { Conversation } from '../model/conversation.ts'
import type { EventData, StoredEvent } from '../model/event.ts'
import { isSamePlace } from './check-state.ts'
import { checkedOf, planById, planIdOf, planOfRun, type Plan } from '../model/plan.ts'
import { claimsOf } from './claims.ts'
import {
  NO_PROOF,
  countingRun,
  isProvenBy,
  proofOf,
  recordOf,
  taskRuns,
  turnedInPlan,
  type CheckRequest,
  type CheckRun,
  type PlanRuns,
  type TaskProof,
} from './proof.ts'
import type { Handlers } from '../model/log.ts'
import { waitingIn } from './scope.ts'
import { valuesIn, type Change } from '../model/table.ts'
import { ASKED, type Actor, type Task } from '../model/task.ts'
import type { Turn } from '../model/turn.ts'

/** Limits the output kept in the state. The log keeps more. */
const MAX_TAIL = 2_000

export const PROOF_REDUCERS = {
  claim_made: (state, { data, turn_id, seq, timestamp }) => ({
    claims: state.claims.with(data.claim_id, { ...data, turn_id: turn_id ?? '', seq, at: timestamp, results: {} }),
    // Each claim gets all final passes: a model cannot spend them first.
    ...claimedIn(state, [planIdOf(state, turn_id ?? ''), state.tasks.get(data.task_id)?.plan_id], seq),
  }),
  claim_settled: (state, { data: { claim_id, task_id, result, because }, turn_id }) => ({
    claims: state.claims.without(claim_id),
    ...(result === 'refused' ? withoutFinal(state, claim_id, task_id, turn_id ?? '') : {}),
    ...(because === 'check_failed' && state.tasks.has(task_id)
      ? changeProof(state, task_id, ({ reds }) => ({ reds: reds + 1 }))
      : {}),
  }),

  check_approved: (state, { data: { task_id, hash } }) =>
    changeProof(state, task_id, proof => approvedAnew(proof, hash)),
  check_requested: (state, { data: { pass, origin: _origin, ...asked }, turn_id, timestamp }) => {
    const isSame = ({ hash, why }: CheckRequest): boolean => hash === asked.hash && why === asked.why
    return {
      requests: [
        ...state.requests.filter(other => !isSame(other)),
        { ...asked, turn_id: turn_id ?? '', at: timestamp },
      ],
      ...(pass === undefined ? {} : changePlan(state, planIdOf(state, turn_id ?? ''), { passes: pass })),
    }
  },
  check_started: (state, { data: { hash, ...run }, timestamp }) => {
    const record = recordOf(state, hash)
    const started = { ...run, at: timestamp, tries: (record.started?.tries ?? 0) + 1 }
    return { runs: state.runs.with(hash, { ...record, started }) }
  },
  check_handed_back: (state, { data: { hash, run_id } }) => {
    const { started, ...record } = recordOf(state, hash)
    if (started?.run_id !== run_id) return {}
    const tries = started.tries - 1
    return { runs: state.runs.with(hash, tries > 0 ? { ...record, started: { ...started, tries } } : record) }
  },
  check_ran: afterRun,
  baseline_taken: (state, { data: { plan_id, record }, timestamp }) => ({
    ...changePlan(state, plan_id, ({ baseline }) => ({ baseline: { record, at: baseline?.at ?? timestamp } })),
    // The plan's own checks run only when it ends.
    requests: state.requests.filter(
      ({ turn_id, why, task_id }) =>
        planIdOf(state, turn_id) !== plan_id || why !== 'baseline' || task_id !== undefined,
    ),
  }),
  changes_accepted: (state, { data: { plan_id, files } }) => {
    const { plans } = changePlan(state, plan_id, ({ accepted }) => ({
      accepted: { ...accepted, ...Object.fromEntries(files.map(({ path, hash = '' }) => [path, hash])) },
    }))
    return { plans, ...provenBy({ ...state, plans }, plan_id) }
  },
  check_ticked: (state, { data: { task_id, check_id } }) =>
    changeProof(state, task_id, ({ ticked }) => ({ ticked: [...ticked.filter(each => each !== check_id), check_id] })),
  // Evidence informs people and the judge, and settles nothing.
  evidence_added: (state, { turn_id }) =>
    changeTurn(state, turn_id ?? '', ({ reports = 0 }) => ({ reports: reports + 1 })),
} satisfies Handlers<Conversation, Partial<Conversation>>

/** A check that is approved again keeps its runs, unless it was removed from the task in between. */
function approvedAnew(
  { approved, reworded, baseline, runs = {}, spent = {} }: TaskProof,
  hash: string,
): Partial<TaskProof> {
  if (!approved.includes(hash)) return { approved: [...approved, hash] }
  if (reworded?.includes(hash)) return { reworded: reworded.filter(each => each !== hash) }
  return { baseline: without(baseline, hash), runs: without(runs, hash), spent: without(spent, hash) }
}

const without = <T>(record: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(record).filter(([each]) => each !== key))

/** A plan that stays open needs no final runs, unless another claim of the turn waits for them. */
function withoutFinal(
  state: Conversation,
  claimId: string,
  taskId: string,
  turnId: string,
): Pick<Conversation, 'requests'> {
  const task = state.tasks.get(taskId)
  const goesOn = task && planById(state, task.plan_id).open.length > 0
  const isAwaited = claimsOf(state, turnId).some(({ claim_id }) => claim_id !== claimId)
  if (!goesOn || isAwaited) return { requests: state.requests }
  return { requests: state.requests.filter(({ turn_id, why }) => turn_id !== turnId || why !== 'final') }
}

export function changeTurn({ turns }: Conversation, id: string, change: Change<Turn>): Pick<Conversation, 'turns'> {
  return { turns: turns.changed(id, change) }
}

export function changePlan(
  state: Pick<Conversation, 'plans'>,
  id: string,
  change: Partial<Plan> | ((plan: Plan) => Partial<Plan>),
): Pick<Conversation, 'plans'> {
  const plan = planById(state, id)
  return { plans: state.plans.with(id, { ...plan, ...(typeof change === 'function' ? change(plan) : change) }) }
}

const claimedIn = (
  state: Conversation,
  plans: readonly (string | undefined)[],
  claimed: number,
): Pick<Conversation, 'plans'> =>
  [...new Set(plans)].reduce<Pick<Conversation, 'plans'>>(
    (after, id) => (id === undefined ? after : changePlan(after, id, { claimed, passes: 0 })),
    state,
  )

/** A run counts for its claim, its request, and every task of the plan with the same check. */
function afterRun(state: Conversation, event: StoredEvent<'check_ran'>): Partial<Conversation> {
  const { data, seq, timestamp } = event
  const { hash, why } = data
  const turnId = event.turn_id ?? ''
  const { started: _started, ...known } = recordOf(state, hash)
  const run = runOf(data, turnId, seq, timestamp)
  const plan = planOfRun(state, data.task_id, turnId)
  const proven = provenTask(state, data)
  const ran = state.runs.with(hash, { ...known, last: { ...run, ...tailIn(data) } })
  const after = { ...state, runs: proven ? withTurned(ran, hash, proven) : ran }
  const learnt = { ...state, proof: withRun(state, plan, data, run) }
  return {
    runs: why === 'baseline' ? withGuard(after, data, plan.id) : after.runs,
    requests: state.requests.filter(request => request.hash !== hash || request.why !== why),
    claims: withResult(state, data),
    proof: withSpent(why === 'baseline' ? { ...learnt, ...withBaseline(learnt, data, plan.id) } : learnt, hash, proven),
    ...seenIn(state, plan, data, run),
  }
}

function withRun(state: Conversation, plan: Plan, data: EventData['check_ran'], run: CheckRun): Conversation['proof'] {
  let { proof } = state
  for (const task of checkedOf(state, plan)) {
    if (!hasCheck(task, data.hash)) continue
    const before = proofOf({ proof }, task.id)
    const runs = { ...before.runs, [data.hash]: followed(before.runs?.[data.hash], changesFor(run, data, task.id)) }
    proof = proof.with(task.id, { ...before, runs })
  }
  return proof
}

function seenIn(
  state: Conversation,
  plan: Plan,
  data: EventData['check_ran'],
  run: CheckRun,
): Pick<Conversation, 'plans'> {
  const { hash } = data
  const isOfPlan = plan.done_checks?.some(check => check.hash === hash)
  const { turn_id, seq, why, fingerprint } = run
  const hasLooked = run.result !== 'inconclusive' || fingerprint !== undefined
  return changePlan(state, plan.id, ({ runs }) => ({
    ...(isOfPlan ? { runs: { ...runs, [hash]: followed(runs?.[hash], changesFor(run, data, undefined)) } } : {}),
    ...(hasLooked ? { looked: { turn_id, seq, why, ...(fingerprint === undefined ? {} : { fingerprint }) } } : {}),
  }))
}

/** The run for one task, or without an id for the plan, with the changes that it may not make. */
function changesFor(run: CheckRun, data: EventData['check_ran'], taskId: string | undefined): CheckRun {
  if (data.task_id === taskId || !data.others) return run
  const { changes: _changes, ...bare } = run
  const own = data.others.find(({ task_id }) => task_id === taskId)
  return own ? { ...bare, changes: own.changes } : bare
}

/** A run without a result leaves an earlier pass standing, except at the end of a plan. */
function followed(before: PlanRuns | undefined, run: CheckRun): PlanRuns {
  if (run.result !== 'inconclusive' || run.why === 'final') return { last: run }
  const pass = before?.stood ?? (before?.last.result === 'passed' ? before.last : undefined)
  return { last: run, ...(pass ? { stood: pass } : {}) }
}

/** A check that turned green for one plan's task was green before the work of other plans, so there it only guards. */
function withSpent(state: Conversation, hash: string, proven: Task | undefined): Conversation['proof'] {
  let { proof } = state
  if (!proven) return proof
  for (const task of valuesIn(state.tasks)) {
    const before = proofOf({ proof }, task.id)
    const isWaiting = before.baseline[hash] === 'failed' && !isProvenBy(recordOf(state, hash), task.id)
    if (!isWaiting || !hasCheck(task, hash) || task.plan_id === proven.plan_id) continue
    proof = proof.with(task.id, { ...before, spent: { ...before.spent, [hash]: proven.id } })
  }
  return proof
}

const hasCheck = ({ checks }: Task, hash: string): boolean => checks?.some(check => check.hash === hash) ?? false

/**
 * The task that a run proves: the first of a plan for which the check failed at the baseline and passed on the claim.
 * With changes that wait to be accepted it proves nothing yet.
 */
function provenTask(state: Conversation, data: EventData['check_ran']): Task | undefined {
  const { hash, result, why, task_id } = data
  const task = state.tasks.get(task_id ?? '')
  if (!task || result !== 'passed' || !(why === 'claim' || (why === 'person' && isGranted(state, hash, task))))
    return undefined
  return waitingIn(state, task, data).length === 0 && canProve(state, hash, task) ? task : undefined
}

/** True if a claim saw the check pass on changes that had to be accepted; these may have been undone since. */
const isGranted = (state: Conversation, hash: string, task: Task): boolean => {
  const run = countingRun(taskRuns(state, task.id, hash))
  return task.status === 'completed' && run?.result === 'passed' && (run.changes ?? []).length > 0
}

/** A check proves nothing if it passed the task's baseline, or turned green for another task. */
function canProve(state: Conversation, hash: string, task: Task): boolean {
  const { baseline, spent } = proofOf(state, task.id)
  const wasRed = baseline[hash] === 'failed' && spent?.[hash] === undefined
  return wasRed && !turnedInPlan(state, recordOf(state, hash), task)
}

function withTurned(runs: Conversation['runs'], hash: string, { id: task_id, plan_id }: Task): Conversation['runs'] {
  const record = recordOf({ runs }, hash)
  return runs.with(hash, { ...record, turned: [...(record.turned ?? []), { task_id, plan_id }] })
}

/** Recomputes what the checks of a plan's completed tasks prove once a person accepts changes. */
function provenBy(state: Conversation, planId: string): Pick<Conversation, 'runs' | 'proof'> {
  let { runs, proof } = state
  for (const task of checkedOf(state, planById(state, planId))) {
    for (const { hash } of task.status === 'completed' ? (task.checks ?? []) : []) {
      const now = { ...state, runs, proof }
      const run = countingRun(taskRuns(now, task.id, hash))
      if (run?.result !== 'passed' || !run.changes?.length || waitingIn(now, task, run).length > 0) continue
      if (!canProve(now, hash, task)) continue
      runs = withTurned(runs, hash, task)
      proof = withSpent({ ...now, runs }, hash, task)
    }
  }
  return { runs, proof }
}

/** A final run replaces the results of all claims on tasks with the same check. */
function withResult(
  { claims, tasks }: Conversation,
  { hash, why, result, claim_id }: EventData['check_ran'],
): Conversation['claims'] {
  const concerned = [...valuesIn(claims)].filter(claim =>
    why === 'final'
      ? claim.results[hash] && tasks.get(claim.task_id)?.checks?.some(check => check.hash === hash)
      : claim.claim_id === claim_id,
  )
  return concerned.reduce(
    (all, claim) => all.with(claim.claim_id, { ...claim, results: { ...claim.results, [hash]: result } }),
    claims,
  )
}

/** A check that passed its baseline only guards in that plan, also for later tasks. */
function withGuard(
  { runs }: Conversation,
  { hash, result }: EventData['check_ran'],
  planId: string,
): Conversation['runs'] {
  const record = recordOf({ runs }, hash)
  if (result === 'failed' || record.guards?.[planId] === 'passed') return runs
  return runs.with(hash, { ...record, guards: { ...record.guards, [planId]: result } })
}

function runOf(data: EventData['check_ran'], turn_id: string, seq: number, at: string): CheckRun {
  const { task_id: _task, check_id: _check, hash: _hash, claim_id: _claim, output_sha256: _sha, ...rest } = data
  const { tail: _tail, others: _others, ...run } = rest
  // What models are told is made of the state, so it does not have what they must not hear.
  const { exit: _exit, reason: _reason, ...bare } = run
  return { ...(data.hidden ? bare : run), turn_id, seq, at }
}

const tailIn = ({ result, tail, hidden }: EventData['check_ran']): Pick<CheckRun, 'tail'> =>
  result === 'passed' || hidden || tail === undefined ? {} : { tail: tail.slice(-MAX_TAIL) }

/** Records the baseline result for the task of the run and for each open task with the same approved check. */
function withBaseline(
  state: Conversation,
  { hash, task_id, result }: EventData['check_ran'],
  planId: string,
): Pick<Conversation, 'proof'> {
  let { proof } = state
  for (const id of new Set([...(task_id === undefined ? [] : [task_id]), ...planById(state, planId).open])) {
    const task = state.tasks.get(id)
    const before = proofOf({ proof }, id)
    if (!task || !hasCheck(task, hash) || before.baseline[hash] !== undefined) continue
    if (id !== task_id && !before.approved.includes(hash)) continue
    const stood = result === 'failed' ? (recordOf(state, hash).guards?.[task.plan_id] ?? result) : result
    proof = proof.with(id, { ...before, baseline: { ...before.baseline, [hash]: stood } })
  }
  return { proof }
}

export function afterVerdict(state: Conversation, event: StoredEvent<'task_assessed'>): Partial<Conversation> {
  const { task_id, rests, model } = event.data
  const isOwn = state.turns.get(event.turn_id ?? '')?.model === model
  const verdict = {
    seq: event.seq,
    ...(rests === undefined ? {} : { rests }),
    ...(isOwn ? { own: true as const } : {}),
  }
  return changeProof(state, task_id, () => ({ verdict }))
}

/** A person's edit resets the count of failed claims; an edit of the checks ends their runs. */
export function afterEdit(state: Conversation, task: Task, fields: readonly string[]): Partial<Conversation> {
  const clears = fields.some(field => CLEARS.has(field))
  const before = state.proof.get(task.id)
  const proof = before && clears && before.reds > 0 ? state.proof.with(task.id, { ...before, reds: 0 }) : state.proof
  return fields.includes('checks') ? { ...withoutRuns(state, task), ...movedPlan(state, task), proof } : { proof }
}

/** A person wrote a check for another folder, so the plan moves there. */
function movedPlan(state: Conversation, task: Task): Partial<Conversation> {
  const workspace = task.checks?.find(check => check.workspace)?.workspace
  const from = state.turns.get(task.conversation_turn_id)?.workspace
  if (!workspace || !from || isSamePlace(workspace, from)) return {}
  let { turns } = state
  const plan = planById(state, task.plan_id)
  for (const id of new Set([task.conversation_turn_id, ...plan.turns])) {
    const turn = turns.get(id)
    if (turn && isSamePlace(turn.workspace, from)) turns = turns.with(id, { ...turn, workspace })
  }
  return { turns, ...(isSamePlace(plan.workspace, from) ? changePlan(state, plan.id, { workspace }) : {}) }
}

/** Approval and proof were for the former text. */
export function afterRewording(state: Conversation, task: Task, fields: readonly string[]): Partial<Conversation> {
  if (!ASKED.some(field => fields.includes(field))) return {}
  const reworded = task.checks && changeProof(state, task.id, ({ approved }) => ({ reworded: approved }))
  return { ...reworded, runs: withoutProof(state, task) }
}

/** Voids the proof of a task, also for other tasks of its plan. */
function withoutProof(state: Conversation, { id, plan_id, checks = [] }: Task): Conversation['runs'] {
  let { runs } = state
  for (const { hash } of checks) {
    const record = recordOf({ runs }, hash)
    const turned = record.turned?.map(each => (each.task_id === id ? { ...each, plan_id, gone: true as const } : each))
    if (turned && isProvenBy(record, id)) runs = runs.with(hash, { ...record, turned })
  }
  return runs
}

/** A scope counts once a person gave it or confirmed it, until a model changes it. */
export function afterScope(state: Conversation, task: Task, by: Actor): Pick<Conversation, 'proof'> {
  const { scoped: _scoped, ...proof } = proofOf(state, task.id)
  const isGiven = by === 'person' && task.scope !== undefined
  return { proof: state.proof.with(task.id, isGiven ? { ...proof, scoped: true } : proof) }
}

const CLEARS: ReadonlySet<string> = new Set(['status', 'checks', ...ASKED])

function withoutRuns(state: Conversation, task: Task): Partial<Conversation> {
  const has = (hash: string): boolean => task.checks?.some((check: Check) => check.hash === hash) ?? false
  let { runs } = state
  for (const [hash, record] of state.runs.entries()) {
    const { started, ...rest } = record
    if (started?.task_id === task.id && !has(hash)) runs = runs.with(hash, rest)
  }
  return { runs, requests: state.requests.filter(({ task_id, hash }) => task_id !== task.id || has(hash)) }
}

export function withoutTask(state: Conversation, taskId: string): Partial<Conversation> {
  const task = state.tasks.get(taskId)
  return {
    ...(task ? { runs: withoutProof(state, task) } : {}),
    proof: state.proof.without(taskId),
    requests: state.requests.filter(({ task_id }) => task_id !== taskId),
  }
}

function changeProof(
  state: Conversation,
  taskId: string,
  change: (proof: TaskProof) => Partial<TaskProof>,
): Pick<Conversation, 'proof'> {
  const before = state.proof.get(taskId) ?? NO_PROOF
  return { proof: state.proof.with(taskId, { ...before, ...change(before) }) }
}
