import { setTimeout as delay } from 'node:timers/promises'
import type { Conversation } from '../domain/conversation.ts'
import { checkIn, JUDGE, type Need, needsOf, workspaceKey } from '../domain/needs.ts'
import { originOf } from '../domain/origin.ts'
import { type Door, type Ref, refKey, StoreError } from '../door/door.ts'
import { CheckWork } from './check-work.ts'
import type { ClaimJudge } from './claim-judge.ts'
import { HeldLease } from './held-lease.ts'
import type { Workspaces } from './workspaces.ts'

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
/** How long a lease is kept for the next claim of its turn. A process that dies meanwhile is overtaken as in a run. */
const KEEP_MS = 5_000

interface Started {
  readonly work: CheckWork
  readonly ended: Promise<void>
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
  readonly #started = new Map<string, Started>()
  readonly #ending = new AbortController()
  readonly #unsubscribe: readonly (() => void)[]
  #timers: NodeJS.Timeout[] = []
  #claiming: Promise<void> | undefined
  #heard: Promise<void> = Promise.resolve()
  /** A turn could not be claimed, most likely because of a lease that we hold in its workspace. */
  #isAwaited = false

  constructor(options: CheckRunnerOptions) {
    this.#options = options
    this.#door = options.door.from(originOf('system', 'system'))
    this.#id = this.#door.newId()
    this.#leaseMs = options.leaseMs ?? LEASE_MS
    this.#unsubscribe = [
      this.#door.accompany(ref => {
        for (const work of this.#worksOn(ref)) work.beginAlong()
      }),
      // A turn whose lease is given back may be ours to go on with, and no commit says so.
      this.#door.turns.onRelease(lease => void this.#hear(lease)),
    ]
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
          for (const { work } of this.#started.values()) void work.look()
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
    return [...this.#started.values()].filter(({ work }) => !work.rest.isOn).length
  }

  /** Ends the runs under way; another process, or the next one, makes them again. */
  async close(): Promise<void> {
    this.#ending.abort()
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    for (const timer of this.#timers) clearInterval(timer)
    for (const { work } of this.#started.values()) work.leave()
    await this.#claiming
    await Promise.all([...this.#started.values()].map(({ ended }) => ended))
  }

  #takeAll(): void {
    if (this.#abilities.length === 0) return
    this.#claiming ??= this.#claimAll().finally(() => {
      this.#claiming = undefined
    })
  }

  async #claimAll(wanted?: Ref & { readonly turn: string }): Promise<void> {
    try {
      // A process that is slow to renew its leases must not overtake itself.
      await this.#renew()
      while (!this.#ending.signal.aborted) {
        const options = { abilities: this.#abilities, wanted }
        const held = await HeldLease.claim(this.#door.turns, this.#id, this.#leaseMs, options)
        if (!held) return wanted && this.#await()
        // Closed meanwhile: nobody would wait for the end of this work.
        if (this.#ending.signal.aborted) return await this.#door.turns.release(held.lease)
        this.#begin(held)
        if (wanted) return
      }
    } catch (error) {
      this.#report(error)
    }
  }

  #begin(held: HeldLease): void {
    const key = keyOf(held.lease)
    const before = this.#started.get(key)
    before?.work.lose()
    const { workspaces, judge } = this.#options
    const onError = (error: unknown): void => this.#report(error)
    const work = new CheckWork(held, { door: this.#door, workspaces, judge, onError })
    const worked = async (): Promise<void> => {
      await before?.ended
      try {
        do await work.workThrough()
        while (await this.#isNeededAgain(work))
      } catch (error) {
        if (!isLost(error) && !work.isOver) {
          this.#report(error)
          // Keep the lease for a moment: another process would most likely fail in the same way.
          await delay(POLL_MS, undefined, { ref: false, signal: this.#ending.signal }).catch(() => {})
        }
      }
      if (this.#started.get(key)?.work === work) this.#started.delete(key)
      await this.#door.turns.release(held.lease).catch((error: unknown) => this.#report(error))
      if (this.#isAwaited && !this.#ending.signal.aborted) {
        this.#isAwaited = false
        await this.#claimAll()
      }
    }
    this.#started.set(key, { work, ended: worked() })
  }

  /** Keeps the lease while another claim may follow, and resolves once one does. */
  async #isNeededAgain(work: CheckWork): Promise<boolean> {
    const state = await this.#door.read(work.held.lease)
    return !this.#isAwaited && this.#mayRest(state, work.held.lease.turn) && work.isNeededWithin(KEEP_MS)
  }

  /** Whether nothing is to be done in this turn, and only claims that are checked here can follow. */
  #mayRest(state: Conversation, turnId: string): boolean {
    const turn = state.turns.get(turnId)
    const isHere = turn?.workspace && this.#options.workspaces.keys.includes(workspaceKey(turn.workspace))
    return isHere === true && turn?.status === 'open' && needsOf(state, turnId) === null
  }

  #worksOn(ref: Ref): readonly CheckWork[] {
    return [...this.#started.values()].flatMap(({ work }) => (refKey(work.held.lease) === refKey(ref) ? work : []))
  }

  async #listen(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      try {
        for await (const hint of this.#door.changes(this.#ending.signal)) {
          if (hint.kind === 'log') await this.#hear(hint)
        }
      } catch (error) {
        if (this.#ending.signal.aborted) return
        this.#report(error)
        await delay(POLL_MS, undefined, { ref: false })
      }
    }
  }

  /** One hint after the other: two at once would claim the same turn. */
  #hear(ref: Ref): Promise<void> {
    this.#heard = this.#heard.then(() => this.#onHint(ref))
    return this.#heard
  }

  /** A conversation changed: ends a run that is not wanted any more, and takes up what has to be done. */
  async #onHint({ tenant, conversation }: Ref): Promise<void> {
    if (this.#abilities.length === 0 || this.#ending.signal.aborted) return
    const ref = { tenant, conversation }
    try {
      const state = await this.#door.read(ref)
      for (const work of this.#worksOn(ref)) {
        work.endUnwanted(state)
        if (work.rest.isOn && !this.#mayRest(state, work.held.lease.turn)) this.#wake(state, work)
      }
      for (const turn of turnsWithWork(state)) {
        if (!this.#isOurs(needsOf(state, turn)) || this.#started.has(keyOf({ ...ref, turn }))) continue
        await this.#letGo()
        await this.#claimAll({ ...ref, turn })
      }
    } catch (error) {
      this.#report(error)
    }
  }

  /** Something is to be done in a turn whose lease is kept: by us, or by others. */
  #wake(state: Conversation, { held, rest }: CheckWork): void {
    if (this.#isOurs(needsOf(state, held.lease.turn))) rest.wake()
    else rest.end()
  }

  #isOurs(need: Need | null): boolean {
    return need !== null && this.#abilities.includes(need)
  }

  /** The next lease that is given back may be the one that is waited for. */
  #await(): void {
    this.#isAwaited = true
    void this.#letGo()
  }

  /** Gives back the leases that are merely kept: the workspace is wanted for another turn. */
  async #letGo(): Promise<void> {
    const resting = [...this.#started.values()].filter(({ work }) => work.rest.isOn)
    for (const { work } of resting) work.rest.end()
    await Promise.all(resting.map(({ ended }) => ended))
  }

  async #renew(): Promise<void> {
    await Promise.all(
      [...this.#started.values()].map(async ({ work }) => {
        try {
          if (!(await work.held.renew())) work.lose()
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

/** Another process has the lease now. */
const isLost = (error: unknown): boolean => error instanceof StoreError && error.code === 'fenced'
