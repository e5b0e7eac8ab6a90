import { setTimeout as delay } from 'node:timers/promises'
import type { Conversation } from '../domain/conversation.ts'
import { openTasks } from '../domain/conversation.ts'
import type { StoredEvent } from '../domain/event.ts'
import { checkIn, JUDGE, type Need, needsOf } from '../domain/needs.ts'
import { originOf } from '../domain/origin.ts'
import {
  type CheckRecord,
  MAX_TRIES,
  nextRun,
  type OpenClaim,
  recordOf,
  type RunToMake,
  settleable,
  workspaceOf,
} from '../domain/proof.ts'
import type { Check, Workspace } from '../domain/check.ts'
import { type Door, type Lease, type Ref, refKey, StoreError } from '../door/door.ts'
import { settleCall } from '../toolsets/claims.ts'
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
      setInterval(() => this.#takeAll(), Math.min(POLL_MS, this.#leaseMs)),
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
        const [claim] = settleable(state, lease.turn)
        if (!claim || (claim.judge && !this.#options.judge)) return
        if (!(await this.#recheck(work, state, claim))) await this.#settle(work, state, claim)
      }
    }
  }

  /** Makes the claiming call again, with the verdicts of a judge where there is one. */
  async #settle({ held, leave }: Work, state: Conversation, claim: OpenClaim): Promise<void> {
    const context = this.#context(held.lease, claim)
    const call = await settleCall(context, claim)
    if (call.status !== 'claimed' || !this.#options.judge) return
    const judged = await this.#options.judge(held, state, call.claims, leave.signal)
    await settleCall(context, claim, { judged })
  }

  async #make(work: Work, state: Conversation, next: RunToMake): Promise<void> {
    const { lease } = work.held
    const { hash } = next.check
    const workspace = placeOf(state, next)
    if (!workspace) throw new TypeError(`Turn ${next.turn_id} has no workspace.`)
    const { started }: CheckRecord = recordOf(state, hash)
    if (started && started.tries >= MAX_TRIES) {
      return this.#end(lease, hash, started.run_id, 0, `It was interrupted ${started.tries} times.`)
    }
    const baseline = await this.#baseline(lease, state, next, workspace)
    const run_id = `run_${this.#door.newId()}`
    const start = { type: 'start_check', turn_id: lease.turn, run_id, hash, why: next.why } as const
    const { events } = await this.#door.run({ ...lease, lease }, start)
    if (events.length === 0) return
    const maxMs = next.why === 'baseline' ? BASELINE_MS - (Date.now() - Date.parse(next.at)) : undefined
    if (maxMs !== undefined && maxMs <= 0) return this.#end(lease, hash, run_id, 0, 'There was no time left for it.')
    const stop = new AbortController()
    work.run = { hash, run_id, stop }
    const signal = AbortSignal.any([stop.signal, work.leave.signal])
    try {
      await work.held.confirm(signal)
      const task = next.task_id === undefined ? undefined : state.tasks.get(next.task_id)
      const mayChange = task?.may_change ?? []
      const outcome = await this.#options.workspaces.run(next.check, { workspace, baseline, mayChange, signal, maxMs })
      // Ended by us, not by itself: it is repeated, or somebody has written down its end.
      if (signal.aborted) return
      await this.#door.run({ ...lease, lease }, { type: 'end_check', turn_id: lease.turn, run_id, hash, outcome })
    } catch (error) {
      if (!stop.signal.aborted) throw error
    } finally {
      delete work.run
    }
  }

  async #end(lease: Lease, hash: string, run_id: string, duration_ms: number, reason: string): Promise<void> {
    const outcome = { result: 'inconclusive', duration_ms, reason } as const
    await this.#door.run({ ...lease, lease }, { type: 'end_check', turn_id: lease.turn, run_id, hash, outcome })
  }

  /** What the guarded files were at confirmation. Those of a check that is new are looked at before it first runs. */
  async #baseline(lease: Lease, state: Conversation, next: RunToMake, workspace: Workspace): Promise<Baseline> {
    const task = next.task_id === undefined ? undefined : state.tasks.get(next.task_id)
    const turn_id = task?.conversation_turn_id ?? next.turn_id
    const known = await this.#knownBaseline(lease, turn_id)
    const checks = next.why === 'baseline' ? [...checksOf(state, turn_id), next.check] : [next.check]
    const taken = await this.#options.workspaces.baselineOf(workspace, checks, known)
    if (!taken) return known
    await this.#door.run({ ...lease, lease }, { type: 'take_baseline', turn_id, ...taken })
    return merged(known, taken)
  }

  async #knownBaseline(ref: Ref, turnId: string): Promise<Baseline> {
    const events = await this.#door.conversations.events(ref, { types: ['baseline_taken'] })
    const own = events.filter(
      (event): event is StoredEvent<'baseline_taken'> =>
        event.type === 'baseline_taken' && event.data.turn_id === turnId,
    )
    return own.reduce((known: Baseline, { data }) => merged(known, data), { covers: [], files: {} })
  }

  /** Before the last open task of a plan is granted, everything that is out of date runs once more. */
  async #recheck(work: Work, state: Conversation, claim: OpenClaim): Promise<boolean> {
    const { lease } = work.held
    const workspace = state.turns.get(lease.turn)?.workspace
    const claimed = new Set(settleable(state, lease.turn).map(({ task_id }) => task_id))
    const isLast = openTasks(state, lease.turn).every(({ id }) => claimed.has(id))
    if (!workspace || !isLast || claim.status !== 'completed') return false
    const fingerprint = await this.#options.workspaces.fingerprint(workspace)
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
    const ref = { tenant, conversation }
    try {
      const state = await this.#door.read(ref)
      for (const { held, run } of this.#work.values()) {
        if (refKey(held.lease) !== refKey(ref) || !run) continue
        if (recordOf(state, run.hash).started?.run_id !== run.run_id) run.stop.abort(new Error('Stopped.'))
      }
      for (const turn of turnsWithWork(state)) {
        const need = needsOf(state, turn)
        const isOurs = need !== null && this.#abilities.includes(need)
        if (isOurs && !this.#work.has(keyOf({ ...ref, turn }))) await this.#claimAll({ ...ref, turn })
      }
    } catch (error) {
      this.#report(error)
    }
  }

  async #renew(): Promise<void> {
    for (const { held, leave } of this.#work.values()) {
      try {
        if (!(await held.renew())) leave.abort(new Error('Taken over.'))
      } catch (error) {
        this.#report(error)
      }
    }
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

function placeOf(state: Conversation, { task_id, turn_id }: RunToMake): Workspace | undefined {
  const task = task_id === undefined ? undefined : state.tasks.get(task_id)
  return task ? workspaceOf(state, task) : state.turns.get(turn_id)?.workspace
}

/** The checks of a plan and of its tasks. */
const checksOf = (state: Conversation, turnId: string): readonly Check[] => [
  ...(state.turns.get(turnId)?.done_checks ?? []),
  ...openTasks(state, turnId).flatMap(({ checks }) => checks ?? []),
]

/** What was there first counts. */
function merged(known: Baseline, more: Baseline): Baseline {
  const incomplete = known.incomplete || more.incomplete
  return {
    covers: [...new Set([...known.covers, ...more.covers])],
    files: { ...more.files, ...known.files },
    ...(incomplete ? { incomplete } : {}),
  }
}

/** Another process has the lease now. */
const isLost = (error: unknown): boolean => error instanceof StoreError && error.code === 'fenced'
