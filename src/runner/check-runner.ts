import { setTimeout as delay } from 'node:timers/promises'
import type { Conversation } from '../domain/conversation.ts'
import { checkIn, JUDGE, type Need, needsOf } from '../domain/needs.ts'
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
    return this.#started.size
  }

  /** Ends the runs under way; another process, or the next one, makes them again. */
  async close(): Promise<void> {
    this.#ending.abort()
    for (const timer of this.#timers) clearInterval(timer)
    for (const { work } of this.#started.values()) work.leave.abort(new Error('The check runner was closed.'))
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
        if (!held) return
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
    before?.work.leave.abort(new Error('Taken over.'))
    const { workspaces, judge } = this.#options
    const onError = (error: unknown): void => this.#report(error)
    const work = new CheckWork(held, { door: this.#door, workspaces, judge, onError })
    const worked = async (): Promise<void> => {
      await before?.ended
      try {
        await work.workThrough()
      } catch (error) {
        if (!isLost(error) && !work.leave.signal.aborted) {
          this.#report(error)
          // Keep the lease for a moment: another process would most likely fail in the same way.
          await delay(POLL_MS, undefined, { ref: false, signal: this.#ending.signal }).catch(() => {})
        }
      }
      if (this.#started.get(key)?.work === work) this.#started.delete(key)
      await this.#door.turns.release(held.lease).catch((error: unknown) => this.#report(error))
      // More may have been asked for while the lease was released.
      if (!this.#ending.signal.aborted) await this.#onHint(held.lease)
    }
    this.#started.set(key, { work, ended: worked() })
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
      for (const { work } of this.#started.values()) {
        if (refKey(work.held.lease) === refKey(ref)) work.endUnwanted(state)
      }
      for (const turn of turnsWithWork(state)) {
        const need = needsOf(state, turn)
        const isOurs = need !== null && this.#abilities.includes(need)
        if (isOurs && !this.#started.has(keyOf({ ...ref, turn }))) await this.#claimAll({ ...ref, turn })
      }
    } catch (error) {
      this.#report(error)
    }
  }

  async #renew(): Promise<void> {
    await Promise.all(
      [...this.#started.values()].map(async ({ work: { held, leave } }) => {
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

/** Another process has the lease now. */
const isLost = (error: unknown): boolean => error instanceof StoreError && error.code === 'fenced'
