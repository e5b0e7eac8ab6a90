import type { Workspace } from '../domain/check.ts'
import type { RunOutcome } from '../domain/command.ts'
import type { Conversation } from '../domain/conversation.ts'
import { checkIn, JUDGE, type Need, needsOf, workspaceKey } from '../domain/needs.ts'
import { checkedOf, planOf, planOfRun, tasksOf } from '../domain/plan.ts'
import { isWanted, namedFiles, nextRun, type RunToMake } from '../domain/check-runs.ts'
import { checkedBy, claimsOf, settleable } from '../domain/open-claims.ts'
import { isApproved, MAX_TRIES, type OpenClaim, recordOf, workspaceOf } from '../domain/proof.ts'
import { type Door, isGone } from '../door/door.ts'
import { settleCall } from '../toolsets/settle-call.ts'
import { Baselines } from './baselines.ts'
import { type CheckDeps, isStorage, Settling } from './settling.ts'
import type { ClaimJudge } from './claim-judge.ts'
import type { HeldLease } from './held-lease.ts'
import { LiveOutput } from './live-output.ts'
import { Rest } from './rest.ts'
import type { Baseline, Confirmed, Workspaces } from './workspaces.ts'

/** How long a lease is kept for the next claim of its turn. A process that dies meanwhile is overtaken as in a run. */
const KEEP_MS = 5_000
/** How long all runs at confirmation may take. What did not get its turn only guards. */
const BASELINE_MS = 120_000

/** A run whose start is in the log. */
interface Begun {
  readonly state: Conversation
  readonly next: RunToMake
  readonly run_id: string
  readonly workspace: Workspace
  readonly baseline: Baseline
  readonly others: readonly Confirmed[]
  /** A process died or left while it made it. */
  readonly isRepeated: boolean
}

interface RunUnderWay {
  readonly hash: string
  readonly run_id: string
  readonly stop: AbortController
}

/** The runs and claims of one turn, under its lease. */
export class CheckWork {
  readonly held: HeldLease
  /** While there is nothing to do, and the lease is kept. */
  readonly rest = new Rest()
  /** The process ends: the run under way is ended and handed back. */
  readonly #leave = new AbortController()
  /** The lease is another's: the run under way is killed, and that one repeats it. */
  readonly #lost = new AbortController()
  readonly #door: Door
  readonly #workspaces: Workspaces
  readonly #judge: ClaimJudge | undefined
  readonly #onError: (error: unknown) => void
  readonly #baselines: Baselines
  readonly #settling: Settling
  readonly #unserved: Need | undefined
  #run: RunUnderWay | undefined
  #beginning: Promise<Begun | undefined> | undefined

  /** `unserved`: no process serves this need of the turn, and what waits for that ends. */
  constructor(held: HeldLease, deps: CheckDeps, unserved?: Need) {
    const { door, workspaces, judge, onError } = deps
    this.held = held
    this.#door = door
    this.#workspaces = workspaces
    this.#judge = judge
    this.#onError = onError
    this.#unserved = unserved
    this.#baselines = new Baselines(door, workspaces)
    this.#settling = new Settling(held, deps, AbortSignal.any([this.#leave.signal, this.#lost.signal]))
  }

  /** Whether it has to end. */
  get isOver(): boolean {
    return this.#leave.signal.aborted || this.#lost.signal.aborted
  }

  /** The process ends. */
  leave(): void {
    this.#leave.abort(new Error('The worker was closed.'))
    this.rest.end()
  }

  /** Another process has the lease. */
  lose(): void {
    this.#lost.abort(new Error('Taken over.'))
    this.rest.end()
  }

  async run(): Promise<void> {
    if (this.#unserved !== undefined) return this.#endWaits(this.#unserved)
    do await this.#workThrough()
    while (await this.#isNeededAgain())
  }

  /** Ends the run under way if this state does not ask for it any more, and the rest if there is more to do. */
  saw(state: Conversation): void {
    this.#endUnwanted(state)
    if (!this.rest.isOn || this.#mayRest(state)) return
    const need = needsOf(state, this.held.lease.turn)
    const isOurs = need === JUDGE ? this.#judge !== undefined : this.#workspaces.keys.some(key => checkIn(key) === need)
    if (isOurs) this.rest.wake()
    else this.rest.end()
  }

  #endUnwanted(state: Conversation): void {
    const run = this.#run
    if (!run || isWanted(state, run.hash, run.run_id)) return
    const { started } = recordOf(state, run.hash)
    // Only who has the lease begins it again.
    if (started && started.run_id !== run.run_id) this.lose()
    else run.stop.abort(new Error('Stopped.'))
  }

  /** Looks by itself whether the run under way is wanted. */
  async #look(): Promise<void> {
    if (!this.#run) return
    try {
      this.#endUnwanted(await this.#door.read(this.held.lease))
    } catch (error) {
      this.#onError(error)
    }
  }

  /** Makes the runs and settles the claims that the turn asks for, until there is nothing more. */
  async #workThrough(): Promise<void> {
    const { lease } = this.held
    for (;;) {
      const begun = await this.#takeBegun()
      if (begun) await this.#carryOut(begun)
      if (this.isOver) return
      const state = await this.#door.read(lease)
      const next = nextRun(state, lease.turn)
      if (next) await this.#make(state, next)
      else {
        // In a turn of ours its driver goes on.
        const [claim] = state.turns.get(lease.turn)?.status === 'open' ? settleable(state, lease.turn) : []
        if (!claim || (claim.judge && !this.#judge)) return
        if (!(await this.#settling.settle(claim))) return
      }
    }
  }

  /** Keeps the lease while another claim may follow. Whether one does. */
  async #isNeededAgain(): Promise<boolean> {
    if (!this.#mayRest(await this.#door.read(this.held.lease))) return false
    // What was begun has to be made, or handed back.
    return (await this.rest.begin(KEEP_MS)) || (await this.#beginning) !== undefined
  }

  /** Whether nothing is to be done in this turn, and only claims that are checked here can follow. */
  #mayRest(state: Conversation): boolean {
    const { turn: id } = this.held.lease
    const turn = state.turns.get(id)
    const isHere = turn?.workspace && this.#workspaces.keys.includes(workspaceKey(turn.workspace))
    return isHere === true && turn?.status === 'open' && needsOf(state, id) === null
  }

  /** Ends the claims that wait for what no process serves, in place of the one that did not: under its lease, it cannot go on. */
  async #endWaits(need: Need): Promise<void> {
    const { lease } = this.held
    const because = {
      ended: need === JUDGE ? 'no_judge' : 'no_workspace',
      isGone: isGone(this.#door.checks, need),
    } as const
    for (;;) {
      const state = await this.#door.read(lease)
      const claim = needsOf(state, lease.turn) === need ? waitingClaim(state, lease.turn) : undefined
      if (!claim || this.isOver) return
      const context = { door: this.#door, ...lease, lease }
      // It waits for something else as well, such as a tick.
      if ((await settleCall(context, claim, because)) !== null) return
    }
  }

  /** Begins a run together with a commit that is on its way, if that asks for one: both share a flush. */
  beginAlong(): void {
    if (!this.rest.isOn || this.#beginning) return
    this.#beginning = this.#beginKnown().catch(() => undefined)
    void this.#beginning.then(begun => {
      if (begun) this.rest.wake()
      else this.#beginning = undefined
    })
  }

  async #takeBegun(): Promise<Begun | undefined> {
    const begun = await this.#beginning
    this.#beginning = undefined
    return begun
  }

  /** Begins the next run if that needs no look at the workspace, and was not begun before. */
  async #beginKnown(): Promise<Begun | undefined> {
    const { lease } = this.held
    const { value } = await this.#door.transact({ ...lease, lease }, transaction => {
      const { state } = transaction
      const next = nextRun(state, lease.turn)
      const workspace = next && placeOf(state, next)
      const baseline = next && !isLook(next) ? this.#baselines.known(state, next) : undefined
      const others = next && this.#knownOthers(state, next)
      if (!baseline || !others || !workspace || recordOf(state, next.check.hash).started)
        return transaction.discard(undefined)
      const start = this.#start(next)
      transaction.mustRun(start)
      return { state: transaction.state, next, run_id: start.run_id, workspace, baseline, others, isRepeated: false }
    })
    return value
  }

  async #make(state: Conversation, next: RunToMake): Promise<void> {
    const { lease } = this.held
    const { hash } = next.check
    const workspace = placeOf(state, next)
    if (!workspace) throw new TypeError(`Turn ${next.turn_id} has no workspace.`)
    if (isLook(next)) {
      await this.#baselines.look(lease, state, next, workspace).catch((error: unknown) => this.#unexpected(error))
      return
    }
    const { started } = recordOf(state, hash)
    if (started && started.tries >= MAX_TRIES) {
      return this.#end(hash, started.run_id, unrun(`It was interrupted ${started.tries} times.`))
    }
    const confirmed = await this.#confirmed(state, next, workspace).catch((error: unknown) => this.#unexpected(error))
    const start = this.#start(next)
    const { events } = await this.#door.run({ ...lease, lease }, start)
    if (events.length === 0) return
    if (!confirmed) return this.#end(hash, start.run_id, unrun(UNRUN))
    const isRepeated = started !== undefined
    await this.#carryOut({ state, next, run_id: start.run_id, workspace, ...confirmed, isRepeated })
  }

  /** What the run's task was confirmed with, and the others of its plan with the same check. */
  async #confirmed(
    state: Conversation,
    next: RunToMake,
    workspace: Workspace,
  ): Promise<Pick<Begun, 'baseline' | 'others'>> {
    const { lease } = this.held
    const baseline = await this.#baselines.take(lease, state, next, workspace)
    const others: Confirmed[] = []
    for (const other of othersOf(state, next)) {
      others.push(confirmedBy(state, other, await this.#baselines.take(lease, state, other, workspace)))
    }
    return { baseline, others }
  }

  /** The same of the others, if nothing has to be looked at for that. */
  #knownOthers(state: Conversation, next: RunToMake): readonly Confirmed[] | undefined {
    const known: Confirmed[] = []
    for (const other of othersOf(state, next)) {
      const baseline = this.#baselines.known(state, other)
      if (!baseline) return undefined
      known.push(confirmedBy(state, other, baseline))
    }
    return known
  }

  #start({ check, why }: RunToMake) {
    const run_id = `run_${this.#door.newId()}`
    return { type: 'start_check', turn_id: this.held.lease.turn, run_id, hash: check.hash, why } as const
  }

  async #carryOut(begun: Begun): Promise<void> {
    const { lease } = this.held
    const { hash } = begun.next.check
    const { run_id } = begun
    const run = { hash, run_id, stop: new AbortController() }
    const live = new LiveOutput(this.#door, lease, run_id, this.#onError)
    this.#run = run
    try {
      const outcome = await this.#outcome(run, begun, live)
      if (this.#lost.signal.aborted) return
      if (!this.#leave.signal.aborted) await this.#end(hash, run_id, outcome)
      else await this.#door.run({ ...lease, lease }, { type: 'hand_back_check', turn_id: lease.turn, run_id, hash })
    } finally {
      this.#run = undefined
      // What a process that died has shown goes, too.
      if (live.isShown || begun.isRepeated) await live.clear()
    }
  }

  /** How a run ended that was begun. */
  async #outcome(
    { stop }: RunUnderWay,
    { state, next, workspace, baseline, others }: Begun,
    live: LiveOutput,
  ): Promise<RunOutcome> {
    const signal = AbortSignal.any([stop.signal, this.#leave.signal, this.#lost.signal])
    try {
      const maxMs = next.why === 'baseline' ? await this.#timeLeft(next) : undefined
      if (maxMs !== undefined && maxMs <= 0) return unrun('There was no time left for it.')
      // Its end may have been asked for before this process could hear of it.
      await this.#look()
      return await this.#workspaces.run(next.check, {
        workspace,
        baseline,
        mayChange: mayChange(state, next),
        others,
        also: namedFiles(state),
        signal,
        kill: this.#lost.signal,
        maxMs,
        beforeStart: () => this.held.confirm(signal),
        onWritten: this.#baselines.isFirst(state, next)
          ? part => this.#baselines.add(this.held.lease, state, next, part)
          : undefined,
        onOutput: tail => live.show(tail),
      })
    } catch (error) {
      if (signal.aborted) return unrun('It was stopped.')
      this.#unexpected(error)
      return unrun(UNRUN)
    }
  }

  /** Of the time for all runs at confirmation, by the store's clock. */
  async #timeLeft({ at }: RunToMake): Promise<number> {
    return BASELINE_MS - (Date.parse(await this.#door.now()) - Date.parse(at))
  }

  async #end(hash: string, run_id: string, outcome: RunOutcome): Promise<void> {
    const { lease } = this.held
    const ran = { type: 'end_check', turn_id: lease.turn, run_id, hash, outcome } as const
    const state = await this.#door.read(lease)
    const claim = state.claims.get(recordOf(state, hash).started?.claim_id ?? '')
    if (await this.#settling.isSettledBy(state, ran, claim)) return
    await this.#door.run({ ...lease, lease }, ran)
  }

  /** Reports what would fail in the same way each time. A storage failure is thrown on: it may be temporary. */
  #unexpected(error: unknown): void {
    if (isStorage(error)) throw error
    this.#onError(error)
  }
}

/** The claim that waits for what a turn needs. */
const waitingClaim = (state: Conversation, turnId: string): OpenClaim | undefined =>
  settleable(state, turnId)[0] ?? claimsOf(state, turnId).find(claim => waitsForRun(state, claim))

/** Whether a claim waits for a check that a process runs. */
function waitsForRun(state: Conversation, claim: OpenClaim): boolean {
  const checked = checkedBy(state, claim)
  return checked.result === 'waiting' && checked.check.kind !== 'person'
}

const unrun = (reason: string): RunOutcome => ({ result: 'inconclusive', duration_ms: 0, reason })

function placeOf(state: Conversation, { task_id, turn_id }: RunToMake): Workspace | undefined {
  const task = task_id === undefined ? undefined : state.tasks.get(task_id)
  return task ? workspaceOf(state, task) : planOf(state, turn_id).workspace
}

/** A check of the whole plan does not run before the work: only its guarded files are looked at. */
const isLook = ({ why, task_id }: RunToMake): boolean => why === 'baseline' && task_id === undefined

/** The other tasks of a run's plan with the same check, and the plan itself: as if the run were for them. */
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

const confirmedBy = (state: Conversation, other: RunToMake, baseline: Baseline): Confirmed => ({
  ...(other.task_id === undefined ? {} : { task_id: other.task_id }),
  baseline,
  mayChange: mayChange(state, other),
})

/** The guarded files that a task may change; for a check of the whole plan, all that its tasks may. */
function mayChange(state: Conversation, { task_id, turn_id }: RunToMake): readonly string[] {
  const tasks = task_id === undefined ? tasksOf(state, planOf(state, turn_id)) : [state.tasks.get(task_id)]
  return tasks.flatMap(task => task?.may_change ?? [])
}

const UNRUN = 'Runsheet failed to run it; its log has the details.'
