import type { Check, Workspace } from '../../core/proof/check.ts'
import type { Learnt, RunOutcome } from '../../core/model/command.ts'
import type { Conversation } from '../../core/model/conversation.ts'
import { JUDGE, checkIn, needsOf, workspaceKey, type Need } from '../../core/model/needs.ts'
import { defined } from '../../core/model/defined.ts'
import { isHidden } from '../../core/proof/held-out.ts'
import { checkedOf, planOf, planOfRecord, planOfRun, type Plan } from '../../core/model/plan.ts'
import { scopesOf } from '../../core/proof/scope.ts'
import { isWanted, namedFiles, nextRun, type RunToMake } from '../../core/proof/check-runs.ts'
import { checkedBy, claimedPlans, claimsOf, settleable } from '../../core/proof/claims.ts'
import { MAX_TRIES, isApproved, recordOf, workspaceOf, type OpenClaim } from '../../core/proof/proof.ts'
import { isGone, type Door } from '../door/door.ts'
import { settleCall, settleThrough } from '../toolsets/settle-call.ts'
import type { ToolContext } from '../toolsets/view.ts'
import type { ClaimJudge } from './judge.ts'
import { Rest, isStorage, type HeldLease } from './held-lease.ts'
import { LiveOutput } from '../turn/live.ts'
import { seenIn, type Compared, type Workspaces } from './workspaces.ts'

/** How long a lease is kept for the next claim of its turn. */
const KEEP_MS = 5_000
/** Total time for all runs at confirmation. Checks beyond it only guard. */
const BASELINE_MS = 120_000

export interface CheckDeps {
  readonly door: Door
  readonly workspaces: Workspaces
  readonly judge: ClaimJudge | undefined
  readonly onError: (error: unknown) => void
}

interface RunUnderWay {
  readonly hash: string
  readonly run_id: string
  readonly stop: AbortController
}

/** Runs the checks of one turn, and settles the claims of an agent elsewhere, under the turn's lease. */
export class CheckWork {
  readonly held: HeldLease
  /** The lease is kept while idle. */
  readonly rest = new Rest()
  /** Shutdown: stops the current run and hands it back. */
  readonly #leave = new AbortController()
  /** Lost lease: kills the current run; the new owner repeats it. */
  readonly #lost = new AbortController()
  readonly #over = AbortSignal.any([this.#leave.signal, this.#lost.signal])
  readonly #deps: CheckDeps
  readonly #door: Door
  readonly #unserved: Need | undefined
  #run: RunUnderWay | undefined
  /** A run that begins in the same flush as its claim. */
  #beginning: Promise<Begun | undefined> | undefined

  /** `unserved`: a need of the turn that no process serves; claims that wait for it end. */
  constructor(held: HeldLease, deps: CheckDeps, unserved?: Need) {
    this.held = held
    this.#deps = deps
    this.#door = deps.door
    this.#unserved = unserved
  }

  get isOver(): boolean {
    return this.#over.aborted
  }

  leave(): void {
    this.#leave.abort(new Error('The worker was closed.'))
    this.rest.end()
  }

  lose(): void {
    this.#lost.abort(new Error('Taken over.'))
    this.rest.end()
  }

  /** Stops the current run if this state no longer asks for it, and ends the idle wait if there is more to do. */
  saw(state: Conversation): void {
    this.#endUnwanted(state)
    if (!this.rest.isOn || this.#mayRest(state)) return
    const need = needsOf(state, this.held.lease.turn)
    const { judge, workspaces } = this.#deps
    const isOurs = need === JUDGE ? judge !== undefined : workspaces.keys.some(key => checkIn(key) === need)
    if (isOurs) this.rest.wake()
    else this.rest.end()
  }

  #endUnwanted(state: Conversation): void {
    const run = this.#run
    if (!run || isWanted(state, run.hash, run.run_id)) return
    const { started } = recordOf(state, run.hash)
    // Only the owner of the lease starts another run, so the lease is lost.
    if (started && started.run_id !== run.run_id) this.lose()
    else run.stop.abort(new Error('Stopped.'))
  }

  /** Works until the turn needs nothing more, or another lease. */
  async run(): Promise<void> {
    if (this.#unserved !== undefined) return this.#endWaits(this.#unserved)
    do await this.#workThrough()
    while (await this.#isNeededAgain())
  }

  async #workThrough(): Promise<void> {
    const { lease } = this.held
    for (;;) {
      const begun = await this.#beginning
      this.#beginning = undefined
      if (begun) await this.#carryOut(begun)
      if (this.isOver) return
      const state = await this.#door.read(lease)
      const next = nextRun(state, lease.turn)
      // The driver settles the claims of our own turns.
      const [claim] = state.turns.get(lease.turn)?.status === 'open' ? settleable(state, lease.turn) : []
      if (next) await this.#make(state, next)
      else if (!claim || (claim.judge && !this.#deps.judge) || !(await this.#settle(claim))) return
    }
  }

  /** Keeps the lease for the next claim; returns whether one came. */
  async #isNeededAgain(): Promise<boolean> {
    if (!this.#mayRest(await this.#door.read(this.held.lease))) return false
    // A run that has begun is finished or handed back.
    return (await this.rest.begin(KEEP_MS)) || (await this.#beginning) !== undefined
  }

  /** Whether only claims that are checked here can follow. */
  #mayRest(state: Conversation): boolean {
    const { turn: id } = this.held.lease
    const turn = state.turns.get(id)
    const isHere = turn?.workspace && this.#deps.workspaces.keys.includes(workspaceKey(turn.workspace))
    return isHere === true && turn?.status === 'open' && needsOf(state, id) === null
  }

  /** Begins a run in the flush of the pending commit, if that requests one. */
  beginAlong(): void {
    if (!this.rest.isOn || this.#beginning) return
    this.#beginning = this.#beginKnown().catch(() => undefined)
    void this.#beginning.then(begun => {
      if (begun) this.rest.wake()
      else this.#beginning = undefined
    })
  }

  /** Begins the next run if it needs no survey and was not begun before. */
  async #beginKnown(): Promise<Begun | undefined> {
    const { lease } = this.held
    const { value } = await this.#door.transact({ ...lease, lease }, transaction => {
      const { state } = transaction
      const next = nextRun(state, lease.turn)
      const workspace = next && placeOf(state, next)
      if (!next || isLook(next) || !workspace || recordOf(state, next.check.hash).started)
        return transaction.discard(undefined)
      const start = this.#start(next)
      transaction.mustRun(start)
      return { state: transaction.state, next, run_id: start.run_id, workspace, isRepeated: false }
    })
    return value
  }

  /** Settles the call of a claim; false if another process or another lease must continue. */
  async #settle(claim: OpenClaim): Promise<boolean> {
    const { judge, onError } = this.#deps
    try {
      const wait = await settleThrough(this.#context, claim, {
        look: () => this.#seen(claim),
        judge: judge && (each => judge(this.held, each, this.#over)),
      })
      // The final runs are requested and need the lease for checks.
      return wait === null || (wait.needs === 'runs' && !claim.judge)
    } catch (error) {
      // Aborted while judging, so the next process continues.
      if (this.isOver) return false
      if (isStorage(error)) throw error
      onError(error)
    }
    // A retry would fail in the same way.
    await settleCall(this.#context, claim, { ended: 'failed' })
    return true
  }

  /** Without the workspace, all checks count as stale. If its folder is gone, the plan cannot end. */
  async #seen(claim: OpenClaim): Promise<Learnt> {
    const state = await this.#door.read(this.held.lease)
    const [plan = planOf(state, claim.turn_id)] = claimedPlans(state, [claim])
    const { workspace } = plan
    if (workspace && this.#door.checks.isGone?.(workspace)) return { ended: 'no_workspace', isGone: true }
    return { seen: (await seenIn(this.#deps.workspaces, plan, state)) ?? {} }
  }

  async #endWaits(need: Need): Promise<void> {
    const { lease } = this.held
    const learnt: Learnt = {
      ended: need === JUDGE ? 'no_judge' : 'no_workspace',
      isGone: isGone(this.#door.checks, need),
    }
    while (!this.isOver) {
      const state = await this.#door.read(lease)
      const claim = needsOf(state, lease.turn) === need ? waitingClaim(state, lease.turn) : undefined
      // The claim may also wait for a person's tick.
      if (!claim || (await settleCall(this.#context, claim, learnt)) !== null) return
    }
  }

  get #context(): ToolContext {
    const { lease } = this.held
    return { door: this.#door, ...lease, lease }
  }

  async #make(state: Conversation, next: RunToMake): Promise<void> {
    const { lease } = this.held
    const { hash } = next.check
    const workspace = placeOf(state, next)
    if (!workspace) throw new TypeError(`Turn ${next.turn_id} has no workspace.`)
    if (isLook(next)) return this.#look(state, next, workspace)
    const { started } = recordOf(state, hash)
    if (started && started.tries >= MAX_TRIES) {
      return this.#end(hash, started.run_id, unrun(next, `It was interrupted ${started.tries} times.`))
    }
    const start = this.#start(next)
    const { events } = await this.#door.run({ ...lease, lease }, start)
    if (events.length === 0) return
    await this.#carryOut({ state, next, run_id: start.run_id, workspace, isRepeated: started !== undefined })
  }

  /** Records the files of a plan before the work. If that fails, no file counts as unchanged. */
  async #look(state: Conversation, next: RunToMake, workspace: Workspace): Promise<void> {
    const { lease } = this.held
    const plan = planOf(state, next.turn_id)
    let record: string | null = null
    try {
      record = await this.#deps.workspaces.record(workspace, approvedIn(state, plan))
    } catch (error) {
      this.#unexpected(error)
    }
    const command = { type: 'take_baseline', turn_id: next.turn_id, plan_id: plan.id, record } as const
    await this.#door.run({ ...lease, lease }, command)
  }

  #start({ check, why }: RunToMake) {
    const run_id = `run_${this.#door.newId()}`
    return { type: 'start_check', turn_id: this.held.lease.turn, run_id, hash: check.hash, why } as const
  }

  async #carryOut(begun: Begun): Promise<void> {
    const { lease } = this.held
    const { run_id } = begun
    const { hash } = begun.next.check
    const run = { hash, run_id, stop: new AbortController() }
    const live = new LiveOutput(this.#door, lease, run_id, this.#deps.onError)
    this.#run = run
    try {
      const outcome = await this.#outcome(run, begun, live)
      if (this.#lost.signal.aborted) return
      if (!this.#leave.signal.aborted) await this.#end(hash, run_id, outcome)
      else await this.#door.run({ ...lease, lease }, { type: 'hand_back_check', turn_id: lease.turn, run_id, hash })
    } finally {
      this.#run = undefined
      // Also clears what a dead process has shown.
      if (live.isShown || begun.isRepeated) await live.clear()
    }
  }

  async #outcome({ stop }: RunUnderWay, { state, next, workspace }: Begun, live: LiveOutput): Promise<RunOutcome> {
    const { lease } = this.held
    const signal = AbortSignal.any([stop.signal, this.#over])
    try {
      const maxMs = next.why === 'baseline' ? await this.#timeLeft(next) : undefined
      if (maxMs !== undefined && maxMs <= 0) return unrun(next, 'There was no time left for it.')
      // It may have been stopped before this process noticed.
      this.#endUnwanted(await this.#door.read(lease))
      return await this.#deps.workspaces.run(next.check, {
        workspace,
        compared: comparedFor(state, next),
        others: othersOf(state, next).map(other => comparedFor(state, other)),
        checks: approvedIn(state, planOfRun(state, next.task_id, next.turn_id)),
        isFirst: isFirst(state, next),
        also: namedFiles(state),
        signal,
        kill: this.#lost.signal,
        maxMs,
        beforeStart: () => this.held.confirm(signal),
        // Everybody can read live output.
        ...(isHidden(next.check) ? {} : { onOutput: (tail: () => string) => live.show(tail) }),
      })
    } catch (error) {
      if (signal.aborted) return unrun(next, 'It was stopped.')
      this.#unexpected(error)
      return unrun(next, UNRUN)
    }
  }

  async #timeLeft({ at }: RunToMake): Promise<number> {
    return BASELINE_MS - (Date.parse(await this.#door.now()) - Date.parse(at))
  }

  /** Stores the result of a run. If that settles the run's claim, both are one commit. */
  async #end(hash: string, run_id: string, outcome: RunOutcome): Promise<void> {
    const { lease } = this.held
    const ran = { type: 'end_check', turn_id: lease.turn, run_id, hash, outcome } as const
    const state = await this.#door.read(lease)
    const claim = state.claims.get(recordOf(state, hash).started?.claim_id ?? '')
    if (claim && state.turns.get(lease.turn)?.status === 'open') {
      try {
        return void (await settleCall(this.#context, claim, { facts: [ran] }))
      } catch (error) {
        if (isStorage(error)) throw error
        // Settling fails again later and is reported then.
      }
    }
    await this.#door.run({ ...lease, lease }, ran)
  }

  /** Reports an error that a retry would repeat. Storage errors are rethrown: they may be temporary. */
  #unexpected(error: unknown): void {
    if (isStorage(error)) throw error
    this.#deps.onError(error)
  }
}

interface Begun {
  readonly state: Conversation
  readonly next: RunToMake
  readonly run_id: string
  readonly workspace: Workspace
  /** Begun before, by a process that died or left. */
  readonly isRepeated: boolean
}

const waitingClaim = (state: Conversation, turnId: string): OpenClaim | undefined =>
  settleable(state, turnId)[0] ?? claimsOf(state, turnId).find(claim => waitsForRun(state, claim))

function waitsForRun(state: Conversation, claim: OpenClaim): boolean {
  const checked = checkedBy(state, claim)
  return checked.result === 'waiting' && checked.check.kind !== 'person'
}

/** Without the first runs, no file counts as unchanged. */
const unrun = ({ why }: RunToMake, reason: string): RunOutcome => ({
  result: 'inconclusive',
  duration_ms: 0,
  reason,
  ...(why === 'baseline' ? { record: null } : {}),
})

function placeOf(state: Conversation, { task_id, turn_id }: RunToMake): Workspace | undefined {
  const task = task_id === undefined ? undefined : state.tasks.get(task_id)
  return task ? workspaceOf(state, task) : planOf(state, turn_id).workspace
}

/** A check of the whole plan does not run before the work; only its baseline is taken. */
const isLook = ({ why, task_id }: RunToMake): boolean => why === 'baseline' && task_id === undefined

/** The plan's other tasks with the same check, and the plan itself if it has it, as if the run were theirs. */
function othersOf(state: Conversation, next: RunToMake): readonly RunToMake[] {
  const { check, turn_id, task_id, why, at } = next
  const own = planOfRun(state, task_id, turn_id)
  const tasks = checkedOf(state, own).filter(
    task =>
      task.id !== task_id && task.checks?.some(({ hash }) => hash === check.hash) && isApproved(state, task.id, check),
  )
  const isOfPlan = own.done_checks?.some(({ hash }) => hash === check.hash) ?? false
  const plan = isOfPlan && task_id !== undefined ? [{ turn_id, check, why, at }] : []
  return [...tasks.map(task => ({ turn_id, task_id: task.id, check, why, at })), ...plan]
}

function comparedFor(state: Conversation, run: RunToMake): Compared {
  const { task_id, turn_id } = run
  const task = state.tasks.get(task_id ?? '')
  const scopes = scopesOf(state, planOfRun(state, task_id, turn_id), task)
  return { ...defined({ task_id }), record: recordFor(state, run)?.record, scopes }
}

const recordFor = (state: Conversation, { task_id, turn_id }: RunToMake): Plan['baseline'] =>
  planOfRecord(state, task_id, turn_id).baseline

/** Whether a run belongs to the first approval of its plan: later, the code may be the agent's. */
function isFirst(state: Conversation, next: RunToMake): boolean {
  const taken = recordFor(state, next)
  return next.why === 'baseline' && (taken === undefined || next.at <= taken.at)
}

/** The checks of a plan that may run. */
const approvedIn = (state: Conversation, plan: Plan): readonly Check[] => [
  ...(plan.done_checks ?? []),
  ...checkedOf(state, plan).flatMap(task => (task.checks ?? []).filter(check => isApproved(state, task.id, check))),
]

const UNRUN = 'Runsheet failed to run it; its log has the details.'
