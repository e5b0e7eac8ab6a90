import type { Workspace } from '../domain/check.ts'
import type { RunOutcome } from '../domain/command.ts'
import { type Conversation, openTasks } from '../domain/conversation.ts'
import {
  CHECK_OUTPUT,
  isWanted,
  MAX_TRIES,
  namedFiles,
  nextRun,
  type OpenClaim,
  recordOf,
  type RunToMake,
  settleable,
  workspaceOf,
} from '../domain/proof.ts'
import { type Door, StoreError } from '../door/door.ts'
import { abandonCall, settleCall } from '../toolsets/claims.ts'
import { takeBaseline } from './baselines.ts'
import type { ClaimJudge } from './claim-judge.ts'
import type { HeldLease } from './held-lease.ts'
import type { Baseline, Workspaces } from './workspaces.ts'

interface CheckWorkDeps {
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

/** How long all runs at confirmation may take. What did not get its turn only guards. */
const BASELINE_MS = 120_000
/** How often a growing output is shown. */
const LIVE_MS = 300

/** The runs and claims of one turn, under its lease. */
export class CheckWork {
  readonly held: HeldLease
  /** Ends the run under way without writing it down: another process repeats it. */
  readonly leave = new AbortController()
  readonly #door: Door
  readonly #workspaces: Workspaces
  readonly #judge: ClaimJudge | undefined
  readonly #onError: (error: unknown) => void
  #run: RunUnderWay | undefined

  constructor(held: HeldLease, { door, workspaces, judge, onError }: CheckWorkDeps) {
    this.held = held
    this.#door = door
    this.#workspaces = workspaces
    this.#judge = judge
    this.#onError = onError
  }

  /** Ends the run under way if this state does not ask for it any more. */
  endUnwanted(state: Conversation): void {
    const run = this.#run
    if (run && !isWanted(state, run.hash, run.run_id)) run.stop.abort(new Error('Stopped.'))
  }

  /** Looks by itself whether the run under way is wanted. */
  async look(): Promise<void> {
    if (!this.#run) return
    try {
      this.endUnwanted(await this.#door.read(this.held.lease))
    } catch (error) {
      this.#onError(error)
    }
  }

  /** Makes the runs and settles the claims that the turn asks for, until there is nothing more. */
  async workThrough(): Promise<void> {
    const { lease } = this.held
    for (;;) {
      this.leave.signal.throwIfAborted()
      const state = await this.#door.read(lease)
      const next = nextRun(state, lease.turn)
      if (next) await this.#make(state, next)
      else {
        // In a turn of ours its driver goes on.
        const [claim] = state.turns.get(lease.turn)?.status === 'open' ? settleable(state, lease.turn) : []
        if (!claim || (claim.judge && !this.#judge)) return
        if (!(await this.#recheck(state))) await this.#settle(state, claim)
      }
    }
  }

  /** Makes the call of a claim again. One that cannot be made is ended: it would fail for ever. */
  async #settle(state: Conversation, claim: OpenClaim): Promise<void> {
    const { lease } = this.held
    const { tenant, conversation, turn } = lease
    const context = { door: this.#door, tenant, conversation, turn, lease, judges: claim.judge === true }
    try {
      const call = await settleCall(context, claim)
      const judge = call.status === 'claimed' ? this.#judge : undefined
      const judged =
        judge && call.status === 'claimed' && (await judge(this.held, state, call.claims, this.leave.signal))
      const { status } = judged ? await settleCall(context, claim, { judged }) : call
      if (status === 'answered' || status === 'checking') return
      this.#onError(new Error(STUCK))
    } catch (error) {
      this.#unexpected(error)
    }
    await abandonCall(context, claim)
  }

  async #make(state: Conversation, next: RunToMake): Promise<void> {
    const { lease } = this.held
    const { hash } = next.check
    const workspace = placeOf(state, next)
    if (!workspace) throw new TypeError(`Turn ${next.turn_id} has no workspace.`)
    const { started } = recordOf(state, hash)
    if (started && started.tries >= MAX_TRIES) {
      return this.#end(hash, started.run_id, unrun(`It was interrupted ${started.tries} times.`))
    }
    const baseline = await takeBaseline(this.#door, this.#workspaces, lease, state, next, workspace).catch(
      (error: unknown) => this.#unexpected(error),
    )
    const run_id = `run_${this.#door.newId()}`
    const start = { type: 'start_check', turn_id: lease.turn, run_id, hash, why: next.why } as const
    const { events } = await this.#door.run({ ...lease, lease }, start)
    if (events.length === 0) return
    if (!baseline) return this.#end(hash, run_id, unrun(UNRUN))
    const run = { hash, run_id, stop: new AbortController() }
    this.#run = run
    try {
      const outcome = await this.#outcome(run, state, next, workspace, baseline)
      // The process ends or lost its lease: another one repeats the run.
      if (this.leave.signal.aborted) return
      await this.#end(hash, run_id, outcome)
    } finally {
      this.#run = undefined
      await this.#door.liveText.clear(lease).catch(this.#onError)
    }
  }

  /** Shows the end of the output while it grows, a few times a second. */
  #shown(run_id: string): (tail: () => string) => void {
    const { lease } = this.held
    let shownAt = 0
    return tail => {
      if (performance.now() - shownAt < LIVE_MS) return
      shownAt = performance.now()
      const entry = { turn_id: lease.turn, message_id: `${CHECK_OUTPUT}${run_id}`, text: tail() }
      this.#door.liveText.write(lease, entry).catch(this.#onError)
    }
  }

  /** How a run ended that was begun. */
  async #outcome(
    { stop, run_id }: RunUnderWay,
    state: Conversation,
    next: RunToMake,
    workspace: Workspace,
    baseline: Baseline,
  ): Promise<RunOutcome> {
    const signal = AbortSignal.any([stop.signal, this.leave.signal])
    const task = next.task_id === undefined ? undefined : state.tasks.get(next.task_id)
    try {
      const maxMs = next.why === 'baseline' ? await this.#timeLeft(next) : undefined
      if (maxMs !== undefined && maxMs <= 0) return unrun('There was no time left for it.')
      // Its end may have been asked for before this process could hear of it.
      await this.look()
      return await this.#workspaces.run(next.check, {
        workspace,
        baseline,
        mayChange: task?.may_change ?? [],
        also: namedFiles(state),
        signal,
        maxMs,
        beforeStart: () => this.held.confirm(signal),
        onOutput: this.#shown(run_id),
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
    await this.#door.run({ ...lease, lease }, { type: 'end_check', turn_id: lease.turn, run_id, hash, outcome })
  }

  /** Before the last open task of a plan is granted, everything that is out of date runs once more. */
  async #recheck(state: Conversation): Promise<boolean> {
    const { lease } = this.held
    const workspace = state.turns.get(lease.turn)?.workspace
    const claimed = new Set(settleable(state, lease.turn).map(({ task_id }) => task_id))
    const isLast = openTasks(state, lease.turn).every(({ id }) => claimed.has(id))
    if (!workspace || !isLast) return false
    const fingerprint = await this.#workspaces.fingerprint(workspace, namedFiles(state))
    const final = { type: 'request_final', turn_id: lease.turn, fingerprint } as const
    const { events } = await this.#door.run({ ...lease, lease }, final)
    return events.length > 0
  }

  /** Reports what would fail in the same way each time. A storage failure is thrown on: it may be temporary. */
  #unexpected(error: unknown): void {
    if (isStorage(error)) throw error
    this.#onError(error)
  }
}

const unrun = (reason: string): RunOutcome => ({ result: 'inconclusive', duration_ms: 0, reason })

function placeOf(state: Conversation, { task_id, turn_id }: RunToMake): Workspace | undefined {
  const task = task_id === undefined ? undefined : state.tasks.get(task_id)
  return task ? workspaceOf(state, task) : state.turns.get(turn_id)?.workspace
}

const isStorage = (error: unknown): boolean =>
  error instanceof StoreError && error.code !== 'key_conflict' && error.code !== 'id_taken'

const STUCK = 'The call of a claim could not be made again.'
const UNRUN = 'Runsheet failed to run it; its log has the details.'
