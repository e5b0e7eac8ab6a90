import { setTimeout as delay } from 'node:timers/promises'
import type { Conversation } from '../../core/model/conversation.ts'
import { DRIVE, JUDGE, checkIn, driveIn, needsOf, workspaceKey, type Need } from '../../core/model/needs.ts'
import { claimsOf } from '../../core/proof/claims.ts'
import { originOf } from '../../core/model/origin.ts'
import { refKey, type Door, type Lease, type Ref, type Service } from '../door/door.ts'
import { CheckWork } from './check-work.ts'
import type { ClaimJudge } from './judge.ts'
import type { TurnOptions } from '../turn/drive.ts'
import { DriveWork, turnDeps } from './drive-work.ts'
import { HeldLease, isLost, type Rest } from './held-lease.ts'
import { NO_WORKSPACES } from './workspaces.ts'

/** Drives our turns if given models, and runs checks if given workspaces. */
export interface WorkerOptions extends Partial<TurnOptions> {
  readonly door: Door
  /** Rules on the claims of external agents. */
  readonly judge?: ClaimJudge | undefined
  /** Another worker of this process runs the checks in its workspaces. */
  readonly drivesOnly?: boolean
  /** Called for each turn that this process no longer drives: it ended, waits, or belongs to another process. */
  readonly onReleased?: (lease: Lease) => void
  /** How long a lease lasts without renewal. After that, another process takes over the turns of a dead one. */
  readonly leaseMs?: number | undefined
}

interface Work {
  readonly held: HeldLease
  readonly isOver: boolean
  /** The idle time under a kept lease. */
  readonly rest?: Rest
  /** Works until the turn needs nothing more, or another lease. */
  run(): Promise<void>
  saw(state: Conversation): void
  beginAlong?(): void
  /** Shutdown: another process continues. */
  leave(): void
  lose(): void
}

interface Handler {
  /** Needs that it can serve now; workspaces and judges come and go. */
  readonly needs: () => readonly Need[]
  /** `unserved`: no process serves this need, so the turn continues without it. */
  readonly work: (held: HeldLease, unserved?: Need) => Work
}

interface Started {
  readonly work: Work
  readonly handler: Handler
  readonly ended: Promise<void>
}

type TurnRef = Ref & { readonly turn: string }

const LEASE_MS = 6_000
/** How often to poll for work whose notification was lost. */
const POLL_MS = 1_500
/** Conversations read in parallel, so that a slow one does not delay the others. */
const MAX_LOOKS = 8

/**
 * Claims turns that need what this process can do, and works under their leases. All state is in the log, so another
 * process continues after a crash.
 */
export class Worker {
  readonly #options: WorkerOptions
  readonly #door: Door
  readonly #id: string
  readonly #leaseMs: number
  readonly #pollMs: number
  readonly #drive: Handler
  readonly #check: Handler
  readonly #started = new Map<string, Started>()
  readonly #looks = new Map<string, Promise<void>>()
  /** By conversation: turns of ours that wait for another process. */
  readonly #services = new Map<string, Service>()
  readonly #ending = new AbortController()
  #unsubscribe: readonly (() => void)[] = []
  #timers: readonly NodeJS.Timeout[] = []
  #claiming: Promise<void> | undefined
  /** A claim failed, probably because we hold a lease in its workspace. */
  #isAwaited = false

  constructor(options: WorkerOptions) {
    const { models, workspaces = NO_WORKSPACES, leaseMs = LEASE_MS } = options
    const door = options.door.from(originOf('system', 'system'))
    const onError = (error: unknown): void => this.#report(error)
    const deps = models && turnDeps({ ...options, models, onError })
    this.#options = options
    this.#door = door
    this.#id = door.newId()
    this.#leaseMs = leaseMs
    this.#pollMs = Math.min(POLL_MS, leaseMs)
    this.#drive = {
      needs: () => (deps ? [DRIVE, ...workspaces.keys.map(driveIn)] : []),
      work: (held, unserved) => {
        if (!deps) throw new TypeError('This process drives no turns.')
        return new DriveWork(held, { ...deps, isUnserved: unserved !== undefined })
      },
    }
    this.#check = {
      needs: () => [...workspaces.keys.map(checkIn), ...(options.judge ? ([JUDGE] as const) : [])],
      work: (held, unserved) => new CheckWork(held, { door, workspaces, judge: options.judge, onError }, unserved),
    }
  }

  start(): void {
    const { models, workspaces, judge } = this.#options
    const { turns } = this.#door
    const unsubscribe = turns.onUnserved((ref, need) => void this.#endWait(ref, need))
    this.#unsubscribe = [unsubscribe]
    if (!models && !workspaces && !judge) return
    this.#unsubscribe = [
      unsubscribe,
      // A released turn may be ours to continue, and no commit announces it.
      turns.onRelease(lease => this.#hear(lease)),
      this.#door.accompany(ref => {
        for (const { work } of this.#startedIn(ref)) work.beginAlong?.()
      }),
    ]
    void this.#listen()
    this.#timers = [setInterval(() => this.#poll(), this.#pollMs), setInterval(() => this.#renew(), this.#leaseMs / 3)]
    for (const timer of this.#timers) timer.unref()
    this.takeAll()
  }

  get size(): number {
    return [...this.#started.values()].filter(({ work }) => !work.rest?.isOn).length
  }

  get driven(): number {
    return [...this.#started.values()].filter(({ handler }) => handler === this.#drive).length
  }

  /** Drives one turn, unless another process does. */
  async take({ tenant, conversation }: Ref, turn: string): Promise<void> {
    await this.#claim(this.#drive, this.#drive.needs(), { tenant, conversation, turn })
  }

  takeAll(): void {
    this.#claiming ??= this.#claimAll().finally(() => {
      this.#claiming = undefined
    })
  }

  /** Releases all turns, so that another process continues them. */
  async close(): Promise<void> {
    this.#ending.abort()
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    for (const timer of this.#timers) clearInterval(timer)
    for (const service of this.#services.values()) service.end()
    for (const { work } of this.#started.values()) work.leave()
    // Ends calls that wait for an unresponsive server.
    const closed = this.#options.outside?.close()
    await this.#claiming
    await Promise.all([...this.#started.values()].map(({ ended }) => ended))
    await closed
  }

  async #listen(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      try {
        for await (const hint of this.#door.changes(this.#ending.signal)) {
          if (hint.kind === 'log') this.#hear(hint)
          if (this.#looks.size >= MAX_LOOKS) await Promise.race(this.#looks.values())
        }
      } catch (error) {
        if (this.#ending.signal.aborted) return
        this.#report(error)
        await delay(POLL_MS, undefined, { ref: false })
      }
    }
  }

  #poll(): void {
    this.takeAll()
    // A notification may be lost or unprocessed, and it may have been about a stop.
    for (const { work } of this.#started.values()) {
      if (!this.#looks.has(refKey(work.held.lease))) this.#hear(work.held.lease)
    }
  }

  /** Handles one notification per conversation at a time: two at once would claim the same turn. */
  #hear({ tenant, conversation }: Ref): void {
    const ref = { tenant, conversation }
    const key = refKey(ref)
    const before = this.#looks.get(key) ?? Promise.resolve()
    const look = before.then(async () => {
      await this.#look(ref)
      if (this.#looks.get(key) === look) this.#looks.delete(key)
    })
    this.#looks.set(key, look)
  }

  /** Ends a conversation's unwanted work, and starts what it needs. */
  async #look(ref: Ref): Promise<void> {
    if (this.#ending.signal.aborted || this.#needs.length === 0) return
    try {
      const state = await this.#door.read(ref)
      for (const { work } of this.#startedIn(ref)) work.saw(state)
      for (const turn of turnsWithWork(state)) await this.#takeUp({ ...ref, turn }, needsOf(state, turn))
      this.#watch(ref, state)
    } catch (error) {
      this.#report(error)
    }
  }

  async #takeUp(wanted: TurnRef, need: Need | null): Promise<void> {
    const handler = this.#handlers.find(({ needs }) => need !== null && needs().includes(need))
    if (!need || !handler || this.#started.has(keyOf(wanted))) return
    if (handler === this.#check) await this.#letGo()
    if ((await this.#claim(handler, [need], wanted)) || handler === this.#drive) return
    // The next released lease may be the awaited one.
    this.#isAwaited = true
    for (const { work } of this.#started.values()) work.rest?.end()
  }

  async #claimAll(): Promise<void> {
    try {
      for (const handler of this.#handlers) while (await this.#claim(handler, handler.needs()));
    } catch (error) {
      this.#report(error)
    }
  }

  /** Claims a turn with one of these needs, any or the wanted one, and begins its work. */
  async #claim(handler: Handler, abilities: readonly Need[], wanted?: TurnRef, unserved?: Need): Promise<boolean> {
    if (abilities.length === 0 || this.#ending.signal.aborted) return false
    // A process that is slow to renew must not take over its own leases.
    if (handler === this.#check) await this.#renew(handler)
    const held = await HeldLease.claim(this.#door.turns, this.#id, this.#leaseMs, { abilities, wanted })
    if (!held) return false
    // Closed meanwhile, so the end of this work would not be awaited.
    if (this.#ending.signal.aborted) await this.#door.turns.release(held.lease)
    else this.#begin(handler, handler.work(held, unserved))
    return true
  }

  #begin(handler: Handler, work: Work): void {
    const { lease } = work.held
    const key = keyOf(lease)
    // Our own lease expired, or the driver of the previous turn has not ended yet.
    const before = this.#startedIn(lease).filter(
      each => keyOf(each.work.held.lease) === key || (each.handler === handler && handler === this.#drive),
    )
    for (const each of before) each.work.lose()
    const worked = async (): Promise<void> => {
      await Promise.all(before.map(({ ended }) => ended))
      try {
        await work.run()
      } catch (error) {
        if (!isLost(error) && !work.isOver) {
          this.#report(error)
          // Keeps the lease for a moment, because another process would most likely fail in the same way.
          await delay(this.#pollMs, undefined, { ref: false, signal: this.#ending.signal }).catch(() => {})
        }
      }
      if (this.#started.get(key)?.work === work) this.#started.delete(key)
      await this.#door.turns.release(lease).catch((error: unknown) => this.#report(error))
      if (handler === this.#drive) this.#options.onReleased?.(lease)
      if (!this.#isAwaited) return
      this.#isAwaited = false
      await this.#claimAll()
    }
    this.#started.set(key, { work, handler, ended: worked() })
  }

  /** Releases kept leases, because the workspace is wanted for another turn. */
  async #letGo(): Promise<void> {
    const resting = [...this.#started.values()].filter(({ work }) => work.rest?.isOn)
    for (const { work } of resting) work.rest?.end()
    await Promise.all(resting.map(({ ended }) => ended))
  }

  /** Watches whether any process serves the checks that a turn of ours waits for. */
  #watch(ref: Ref, state: Conversation): void {
    const key = refKey(ref)
    const need = this.#isOurs(state, state.running_turn) ? needsOf(state, state.running_turn ?? '') : null
    if (need !== null && !this.#needs.includes(need)) {
      const service = this.#services.get(key) ?? this.#door.turns.watch(ref)
      this.#services.set(key, service)
      service.needs(need)
    } else {
      this.#services.get(key)?.end()
      this.#services.delete(key)
    }
  }

  /** If no process serves what a conversation waits for: takes over the lease and continues without. */
  async #endWait(ref: Ref, need: Need): Promise<void> {
    if (this.#needs.includes(need)) return
    try {
      await this.#letGo()
      const state = await this.#door.read(ref)
      for (const turn of turnsWithWork(state)) {
        const wanted = { tenant: ref.tenant, conversation: ref.conversation, turn }
        if (needsOf(state, turn) !== need) continue
        const isElsewhere = state.turns.get(turn)?.status === 'open' && claimsOf(state, turn).length > 0
        if (isElsewhere) await this.#claim(this.#check, [need], wanted, need)
        else if (this.#isOurs(state, turn)) await this.#claim(this.#drive, [need], wanted, need)
      }
    } catch (error) {
      this.#report(error)
    }
  }

  #isOurs(state: Conversation, turnId: string | null): boolean {
    if (turnId === null || turnId !== state.running_turn) return false
    const { workspace } = state.turns.get(turnId) ?? {}
    return this.#drive.needs().includes(workspace ? driveIn(workspaceKey(workspace)) : DRIVE)
  }

  get #handlers(): readonly Handler[] {
    return this.#options.drivesOnly ? [this.#drive] : [this.#drive, this.#check]
  }

  get #needs(): readonly Need[] {
    return [...this.#drive.needs(), ...this.#check.needs()]
  }

  #startedIn(ref: Ref): readonly Started[] {
    return [...this.#started.values()].filter(({ work }) => refKey(work.held.lease) === refKey(ref))
  }

  async #renew(by?: Handler): Promise<void> {
    const renewed = [...this.#started.values()].map(async ({ work, handler }) => {
      try {
        if ((by === undefined || handler === by) && !(await work.held.renew())) work.lose()
      } catch (error) {
        this.#report(error)
      }
    })
    await Promise.all(renewed)
  }

  #report(error: unknown): void {
    if (!this.#ending.signal.aborted) this.#options.onError?.(error)
  }
}

const keyOf = ({ turn, ...ref }: TurnRef): string => `${refKey(ref)}/${turn}`

const turnsWithWork = ({ running_turn, requests, claims }: Conversation): ReadonlySet<string> =>
  new Set([
    ...(running_turn === null ? [] : [running_turn]),
    ...requests.map(({ turn_id }) => turn_id),
    ...[...claims.values()].map(({ turn_id }) => turn_id),
  ])
