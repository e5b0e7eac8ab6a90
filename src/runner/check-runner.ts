import { setTimeout as delay } from 'node:timers/promises'
import type { Workspace } from '../domain/check.ts'
import type { RunOutcome } from '../domain/command.ts'
import { type Conversation, openTasks } from '../domain/conversation.ts'
import { checkIn, JUDGE, type Need, needsOf } from '../domain/needs.ts'
import { originOf } from '../domain/origin.ts'
import {
  isWanted,
  MAX_TRIES,
  namedFiles,
  nextRun,
  CHECK_OUTPUT,
  type OpenClaim,
  recordOf,
  type RunToMake,
  settleable,
  workspaceOf,
} from '../domain/proof.ts'
import { type Door, type Lease, type Ref, refKey, StoreError } from '../door/door.ts'
import { abandonCall, settleCall } from '../toolsets/claims.ts'
import { takeBaseline } from './baselines.ts'
import type { ClaimJudge } from './claim-judge.ts'
import { HeldLease } from './held-lease.ts'
import type { Baseline, Workspaces } from './workspaces.ts'

export interface CheckRunnerOptions {
  readonly door: Door
  readonly workspaces: Workspaces
  /** Rules on the claims of agents elsewhere. */
  readonly judge?: ClaimJudge | undefined
  readonly onError?: ((error: unknown) => void) | undefined
  readonly leaseMs?: number | undefined
}

const LEASE_MS = 6_000
/** How often to look for work whose hint was lost. */
const POLL_MS = 1_500
/** How long all runs at confirmation may take. What did not get its turn only guards. */
const BASELINE_MS = 120_000

/** How often a growing output is shown. */
const LIVE_MS = 300

interface Work {
  readonly held: HeldLease
  readonly leave: AbortController
  ended: Promise<void>
  /** The run under way. */
  run?: { readonly hash: string; readonly run_id: string; readonly stop: AbortController }
}

/**
 * Makes the runs that the log asks for in this process's workspaces, one at a time in each, under the lease of their turn;
 * and settles the claims of agents elsewhere once these are checked. Nothing about a run exists outside the log, so after
 * a crash another process goes on.
 */
export class CheckRunner {
  readonly #options: CheckRunnerOptions
  readonly #door: Door
  readonly #id: string
  readonly #leaseMs: number
  readonly #work = new Map<string, Work>()
  readonly #ending = new AbortController()
  #timers: NodeJS.Timeout[] = []
  #claiming: Promise<void> | undefined

  constructor(options: CheckRunnerOptions) {
    this.#options = options
    this.#door = options.door.from(originOf('system', 'system'))
    this.#id = this.#door.newId()
    this.#leaseMs = options.leaseMs ?? LEASE_MS
  }

  /** More workspaces may come, as when an MCP client names its root. */
  get #abilities(): readonly Need[] {
    const { workspaces, judge } = this.#options
    return [...workspaces.keys.map(checkIn), ...(judge ? ([JUDGE] as const) : [])]
  }

  start(): void {
    void this.#listen()
    this.#timers = [
      setInterval(
        () => {
          this.#takeAll()
          // A hint may be lost, and it may have been about a stop.
          for (const work of this.#work.values()) if (work.run) void this.#endUnwanted(work)
        },
        Math.min(POLL_MS, this.#leaseMs),
      ),
      setInterval(() => void this.#renew(), this.#leaseMs / 3),
    ]
    for (const timer of this.#timers) timer.unref()
    this.#takeAll()
  }

  /** How many turns it works on now. */
  get size(): number {
    return this.#work.size
  }

  /** Ends the runs under way; another process, or the next one, makes them again. */
  async close(): Promise<void> {
    this.#ending.abort()
    for (const timer of this.#timers) clearInterval(timer)
    for (const { leave } of this.#work.values()) leave.abort(new Error('The check runner was closed.'))
    await this.#claiming
    await Promise.all([...this.#work.values()].map(({ ended }) => ended))
  }

  #takeAll(): void {
    if (this.#abilities.length === 0) return
    this.#claiming ??= this.#claimAll().finally(() => {
      this.#claiming = undefined
    })
  }

  async #claimAll(wanted?: Ref & { readonly turn: string }): Promise<void> {
    try {
      while (!this.#ending.signal.aborted) {
        const options = { abilities: this.#abilities, wanted }
        const held = await HeldLease.claim(this.#door.turns, this.#id, this.#leaseMs, options)
        if (!held) return
        this.#begin(held)
        if (wanted) return
      }
    } catch (error) {
      this.#report(error)
    }
  }

  #begin(held: HeldLease): void {
    const key = keyOf(held.lease)
    const before = this.#work.get(key)
    before?.leave.abort(new Error('Taken over.'))
    const work: Work = { held, leave: new AbortController(), ended: Promise.resolve() }
    const worked = async (): Promise<void> => {
      await before?.ended
      try {
        await this.#workThrough(work)
      } catch (error) {
        if (!isLost(error) && !work.leave.signal.aborted) {
          this.#report(error)
          // Keep the lease for a moment: another process would most likely fail in the same way.
          await delay(POLL_MS, undefined, { ref: false, signal: this.#ending.signal }).catch(() => {})
        }
      }
      if (this.#work.get(key) === work) this.#work.delete(key)
      await this.#door.turns.release(held.lease).catch((error: unknown) => this.#report(error))
      // More may have been asked for while the lease was released.
      if (!this.#ending.signal.aborted) await this.#onHint(held.lease)
    }
    this.#work.set(key, work)
    work.ended = worked()
  }

  async #workThrough(work: Work): Promise<void> {
    const { lease } = work.held
    for (;;) {
      work.leave.signal.throwIfAborted()
      const state = await this.#door.read(lease)
      const next = nextRun(state, lease.turn)
      if (next) await this.#make(work, state, next)
      else {
        // In a turn of ours its driver goes on.
        const [claim] = state.turns.get(lease.turn)?.status === 'open' ? settleable(state, lease.turn) : []
        if (!claim || (claim.judge && !this.#options.judge)) return
        if (!(await this.#recheck(work, state))) await this.#settle(work, state, claim)
      }
    }
  }

  /** Makes the call of a claim again. One that cannot be made is ended: it would fail for ever. */
  async #settle({ held, leave }: Work, state: Conversation, claim: OpenClaim): Promise<void> {
    const context = this.#context(held.lease, claim)
    try {
      const call = await settleCall(context, claim)
      const isJudged = call.status === 'claimed' && this.#options.judge
      const judged = isJudged ? await isJudged(held, state, call.claims, leave.signal) : undefined
      const { status } = judged ? await settleCall(context, claim, { judged }) : call
      if (status === 'answered' || status === 'checking') return
      this.#report(new Error(STUCK))
    } catch (error) {
      if (isStorage(error)) throw error
      this.#report(error)
    }
    await abandonCall(context, claim)
  }

  async #make(work: Work, state: Conversation, next: RunToMake): Promise<void> {
    const { lease } = work.held
    const { hash } = next.check
    const workspace = placeOf(state, next)
    if (!workspace) throw new TypeError(`Turn ${next.turn_id} has no workspace.`)
    const { started } = recordOf(state, hash)
    if (started && started.tries >= MAX_TRIES) {
      return this.#end(lease, hash, started.run_id, unrun(`It was interrupted ${started.tries} times.`))
    }
    const baseline = await takeBaseline(this.#door, this.#options.workspaces, lease, state, next, workspace)
    const run_id = `run_${this.#door.newId()}`
    const start = { type: 'start_check', turn_id: lease.turn, run_id, hash, why: next.why } as const
    const { events } = await this.#door.run({ ...lease, lease }, start)
    if (events.length === 0) return
    work.run = { hash, run_id, stop: new AbortController() }
    try {
      const outcome = await this.#outcome(work, work.run, state, next, workspace, baseline)
      // The process ends or lost its lease: another one repeats the run.
      if (work.leave.signal.aborted) return
      await this.#end(lease, hash, run_id, outcome)
    } finally {
      delete work.run
      await this.#door.liveText.clear(lease).catch((error: unknown) => this.#report(error))
    }
  }

  /** Shows the end of the output while it grows, a few times a second. */
  #shown(lease: Lease, run_id: string): (tail: () => string) => void {
    let shownAt = 0
    return tail => {
      if (performance.now() - shownAt < LIVE_MS) return
      shownAt = performance.now()
      const entry = { turn_id: lease.turn, message_id: `${CHECK_OUTPUT}${run_id}`, text: tail() }
      this.#door.liveText.write(lease, entry).catch((error: unknown) => this.#report(error))
    }
  }

  /** How a run ended that was begun. */
  async #outcome(
    work: Work,
    { stop, run_id }: NonNullable<Work['run']>,
    state: Conversation,
    next: RunToMake,
    workspace: Workspace,
    baseline: Baseline,
  ): Promise<RunOutcome> {
    const signal = AbortSignal.any([stop.signal, work.leave.signal])
    const task = next.task_id === undefined ? undefined : state.tasks.get(next.task_id)
    try {
      const maxMs = next.why === 'baseline' ? await this.#timeLeft(next) : undefined
      if (maxMs !== undefined && maxMs <= 0) return unrun('There was no time left for it.')
      // Its end may have been asked for before this process could hear of it.
      await this.#endUnwanted(work)
      return await this.#options.workspaces.run(next.check, {
        workspace,
        baseline,
        mayChange: task?.may_change ?? [],
        also: namedFiles(state),
        signal,
        maxMs,
        beforeStart: () => work.held.confirm(signal),
        onOutput: this.#shown(work.held.lease, run_id),
      })
    } catch (error) {
      if (signal.aborted) return unrun('It was stopped.')
      if (error instanceof StoreError) throw error
      this.#report(error)
      return unrun(UNRUN)
    }
  }

  /** Of the time for all runs at confirmation, by the store's clock. */
  async #timeLeft({ at }: RunToMake): Promise<number> {
    return BASELINE_MS - (Date.parse(await this.#door.now()) - Date.parse(at))
  }

  async #end(lease: Lease, hash: string, run_id: string, outcome: RunOutcome): Promise<void> {
    await this.#door.run({ ...lease, lease }, { type: 'end_check', turn_id: lease.turn, run_id, hash, outcome })
  }

  /** Before the last open task of a plan is granted, everything that is out of date runs once more. */
  async #recheck(work: Work, state: Conversation): Promise<boolean> {
    const { lease } = work.held
    const workspace = state.turns.get(lease.turn)?.workspace
    const claimed = new Set(settleable(state, lease.turn).map(({ task_id }) => task_id))
    const isLast = openTasks(state, lease.turn).every(({ id }) => claimed.has(id))
    if (!workspace || !isLast) return false
    const fingerprint = await this.#options.workspaces.fingerprint(workspace, namedFiles(state))
    const final = { type: 'request_final', turn_id: lease.turn, fingerprint } as const
    const { events } = await this.#door.run({ ...lease, lease }, final)
    return events.length > 0
  }

  #context(lease: Lease, { judge }: OpenClaim) {
    const { tenant, conversation, turn } = lease
    return { door: this.#door, tenant, conversation, turn, lease, judges: judge === true }
  }

  async #listen(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      try {
        for await (const hint of this.#door.changes(this.#ending.signal)) {
          if (hint.kind === 'log') await this.#onHint(hint)
        }
      } catch (error) {
        if (this.#ending.signal.aborted) return
        this.#report(error)
        await delay(POLL_MS, undefined, { ref: false })
      }
    }
  }

  /** A conversation changed: ends a run that is not wanted any more, and takes up what has to be done. */
  async #onHint({ tenant, conversation }: Ref): Promise<void> {
    if (this.#abilities.length === 0) return
    const ref = { tenant, conversation }
    try {
      const state = await this.#door.read(ref)
      for (const work of this.#work.values()) if (refKey(work.held.lease) === refKey(ref)) endUnwanted(work, state)
      for (const turn of turnsWithWork(state)) {
        const need = needsOf(state, turn)
        const isOurs = need !== null && this.#abilities.includes(need)
        if (isOurs && !this.#work.has(keyOf({ ...ref, turn }))) await this.#claimAll({ ...ref, turn })
      }
    } catch (error) {
      this.#report(error)
    }
  }

  async #endUnwanted(work: Work): Promise<void> {
    try {
      endUnwanted(work, await this.#door.read(work.held.lease))
    } catch (error) {
      this.#report(error)
    }
  }

  async #renew(): Promise<void> {
    await Promise.all(
      [...this.#work.values()].map(async ({ held, leave }) => {
        try {
          if (!(await held.renew())) leave.abort(new Error('Taken over.'))
        } catch (error) {
          this.#report(error)
        }
      }),
    )
  }

  #report(error: unknown): void {
    if (!this.#ending.signal.aborted) this.#options.onError?.(error)
  }
}

const keyOf = ({ turn, ...ref }: Ref & { readonly turn: string }): string => `${refKey(ref)}/${turn}`

/** The turns that may have something to run or to settle. */
const turnsWithWork = (state: Conversation): ReadonlySet<string> =>
  new Set([
    ...state.requests.map(({ turn_id }) => turn_id),
    ...[...state.claims.values()].map(({ turn_id }) => turn_id),
  ])

function endUnwanted({ run }: Work, state: Conversation): void {
  if (run && !isWanted(state, run.hash, run.run_id)) run.stop.abort(new Error('Stopped.'))
}

const unrun = (reason: string): RunOutcome => ({ result: 'inconclusive', duration_ms: 0, reason })

function placeOf(state: Conversation, { task_id, turn_id }: RunToMake): Workspace | undefined {
  const task = task_id === undefined ? undefined : state.tasks.get(task_id)
  return task ? workspaceOf(state, task) : state.turns.get(turn_id)?.workspace
}

/** Another process has the lease now. */
const isLost = (error: unknown): boolean => error instanceof StoreError && error.code === 'fenced'

/** A storage failure that may be temporary: what it interrupted is tried again later. */
const isStorage = (error: unknown): boolean =>
  error instanceof StoreError && error.code !== 'key_conflict' && error.code !== 'id_taken'

/** The settling of a call would end in the same way each time. */
const STUCK = 'The call of a claim could not be made again.'
const UNRUN = 'Runsheet failed to run it; its log has the details.'
