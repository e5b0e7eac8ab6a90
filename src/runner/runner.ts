import { setTimeout as delay } from 'node:timers/promises'
import { originOf } from '../domain/origin.ts'
import { type Redactor, redactor } from '../domain/redact.ts'
import { awaitsChecks, type Conversation } from '../domain/conversation.ts'
import { checkIn, DRIVE, driveIn, type Need, needsOf, workspaceKey } from '../domain/needs.ts'
import type { SavedRules } from '../domain/tool-rules.ts'
import { type Door, type Lease, type LiveEntry, type Ref, refKey } from '../door/door.ts'
import { servedUntil } from '../toolsets/serving.ts'
import { HeldLease } from './held-lease.ts'
import type { DriveOptions, TurnDeps } from './drive.ts'
import { LiveText } from './live.ts'
import type { Models } from './given-models.ts'
import type { Workspaces } from './workspaces.ts'
import { noTools, type OutsideLimits, type OutsideTools, DEFAULT_LIMITS, withoutSecrets } from './outside.ts'

export interface RunnerOptions {
  readonly door: Door
  readonly models: Models
  readonly outside?: OutsideTools
  readonly limits?: OutsideLimits
  /** What a person has said about tools of MCP servers, as it is now. Default: nothing. */
  readonly rules?: () => SavedRules
  readonly instructions?: string
  /** The workspaces that this process has: it also drives turns in these. */
  readonly workspaces?: Workspaces | undefined
  /** Knows the secrets of this composition. Default: only their shapes. */
  readonly redact?: Redactor
  /** Receives the growing text of each step. */
  readonly onText?: (ref: Ref, entry: LiveEntry) => void
  readonly onError?: (error: unknown) => void
  /** Hears of each turn that this process has let go of: it is over, or waits, or is another's now. */
  readonly onReleased?: (lease: Lease) => void
  /** How long a lease lasts without renewal. After that, another process takes over the turns of a dead one. */
  readonly leaseMs?: number
  readonly retryMs?: number
  readonly silenceMs?: number
}

const LEASE_MS = 6_000
const RETRY_MS = 1_000
/** How often to look for unclaimed turns whose hint was lost. */
const POLL_MS = 1_500
/** Conversations that are looked at together: one that is slow to read must not hold up the others. */
const MAX_LOOKS = 8

/** Loaded with the first turn, or once the server is up: with AI SDK it takes as long as the rest of the start. */
export const importDrive = () => import('./drive.ts')

interface DrivenTurn {
  readonly held: HeldLease
  readonly stop: AbortController
  readonly leave: AbortController
  readonly ended: Promise<void>
}

/** Drives unclaimed turns: newly started ones, parked ones after a decision, and those that a crash left behind. */
export class Runner {
  readonly #options: RunnerOptions
  readonly #deps: TurnDeps
  readonly #id: string
  readonly #abilities: readonly Need[]
  readonly #leaseMs: number
  readonly #pollMs: number
  readonly #driven = new Map<string, DrivenTurn>()
  /** The turns that wait for checks in workspaces that this process does not have. */
  readonly #awaiting = new Map<string, Promise<void>>()
  readonly #ending = new AbortController()
  #timers: NodeJS.Timeout[] = []
  /** Turns of ours whose hint could not be followed, as it may have been about a stop. */
  readonly #unheard = new Map<string, Ref>()
  #claiming: Promise<void> | undefined
  #unsubscribe = (): void => {}

  constructor(options: RunnerOptions) {
    const { models, outside = noTools, limits = DEFAULT_LIMITS, instructions, redact = redactor() } = options
    const door = options.door.from(originOf('agent', 'turn'))
    this.#options = options
    this.#id = door.newId()
    this.#abilities = [DRIVE, ...(options.workspaces?.keys ?? []).map(driveIn)]
    this.#leaseMs = options.leaseMs ?? LEASE_MS
    this.#pollMs = Math.min(POLL_MS, this.#leaseMs)
    this.#deps = {
      door,
      models,
      outside: withoutFailures(withoutSecrets(outside, redact), error => options.onError?.(error)),
      limits,
      rules: options.rules ?? (() => ({})),
      instructions,
      redact,
      workspaces: options.workspaces,
      live: new LiveText(door, options.onText ?? (() => {})),
      retryMs: options.retryMs ?? RETRY_MS,
      silenceMs: options.silenceMs,
      onError: options.onError,
    }
  }

  start(): void {
    void this.#listen()
    // Checks of a turn are made under its lease: once that is given back, the turn goes on.
    this.#unsubscribe = this.#options.door.turns.onRelease(lease => void this.#onHint(lease))
    this.#timers = [
      setInterval(() => {
        this.takeAll()
        this.#lookAgain()
      }, this.#pollMs),
      setInterval(() => void this.#renew(), this.#leaseMs / 3),
    ]
    for (const timer of this.#timers) timer.unref()
    this.takeAll()
  }

  /** How many turns this runner drives now. */
  get size(): number {
    return this.#driven.size
  }

  /** Claims and drives one turn, unless another process does. */
  async take(ref: Ref, turn: string): Promise<void> {
    if (this.#ending.signal.aborted || this.#driven.has(refKey(ref))) return
    const wanted = { tenant: ref.tenant, conversation: ref.conversation, turn }
    const held = await this.#claim(wanted)
    if (held) this.#drive(held)
  }

  /** Claims and drives every unclaimed turn, unless it is still at it. */
  takeAll(): void {
    this.#claiming ??= this.#claimAll().finally(() => {
      this.#claiming = undefined
    })
  }

  /** Releases every turn; another process continues them. */
  async close(): Promise<void> {
    this.#ending.abort()
    this.#unsubscribe()
    for (const timer of this.#timers) clearInterval(timer)
    for (const { leave } of this.#driven.values()) leave.abort(new Error('The runner was closed.'))
    // Ends the calls that wait for a server that does not answer.
    const closed = this.#deps.outside.close()
    await this.#claiming
    await Promise.all(this.#awaiting.values())
    await Promise.all([...this.#driven.values()].map(({ ended }) => ended))
    await closed
  }

  async #claimAll(): Promise<void> {
    try {
      while (!this.#ending.signal.aborted) {
        const held = await this.#claim()
        if (!held) return
        this.#drive(held)
      }
    } catch (error) {
      if (!this.#ending.signal.aborted) this.#options.onError?.(error)
    }
  }

  #claim(wanted?: Ref & { readonly turn: string }, abilities = this.#abilities): Promise<HeldLease | undefined> {
    return HeldLease.claim(this.#options.door.turns, this.#id, this.#leaseMs, { abilities, wanted })
  }

  #drive(held: HeldLease, options: DriveOptions = {}): void {
    const { lease } = held
    // Our own lease expired, or the previous turn is still being released: let that end first.
    const before = this.#driven.get(refKey(lease))
    before?.leave.abort(new Error('Taken over.'))
    const stop = new AbortController()
    const leave = new AbortController()
    const driven = async (): Promise<void> => {
      await before?.ended
      try {
        const { drive } = await importDrive()
        await drive(held, this.#deps, { stop: stop.signal, leave: leave.signal }, options)
      } catch (error) {
        this.#options.onError?.(error)
        // Keep the lease for a moment: another process would most likely fail in the same way.
        await delay(this.#pollMs, undefined, { ref: false, signal: this.#ending.signal }).catch(() => {})
      }
      await this.#release(lease)
      this.#options.onReleased?.(lease)
    }
    this.#driven.set(refKey(lease), { held, stop, leave, ended: driven() })
  }

  async #release(lease: Lease): Promise<void> {
    if (this.#driven.get(refKey(lease))?.held.lease === lease) {
      this.#driven.delete(refKey(lease))
      this.#deps.live.forget(lease)
    }
    try {
      await this.#options.door.turns.release(lease)
      // It may have been decided while it was being parked: then no further hint comes.
      await this.#onHint(lease)
    } catch (error) {
      if (!this.#ending.signal.aborted) this.#options.onError?.(error)
    }
  }

  async #listen(): Promise<void> {
    const { door, onError } = this.#options
    while (!this.#ending.signal.aborted) {
      try {
        const looks = new Set<Promise<void>>()
        for await (const hint of door.changes(this.#ending.signal)) {
          if (hint.kind !== 'log') continue
          const look = this.#onHint(hint).finally(() => looks.delete(look))
          looks.add(look)
          if (looks.size >= MAX_LOOKS) await Promise.race(looks)
        }
      } catch (error) {
        if (this.#ending.signal.aborted) return
        onError?.(error)
        await delay(POLL_MS, undefined, { ref: false })
      }
    }
  }

  /** A conversation changed: stop its turn if a person asked for that, or claim it if it is free. */
  async #onHint(ref: Ref): Promise<void> {
    if (this.#ending.signal.aborted) return
    try {
      const state = await this.#options.door.read({ tenant: ref.tenant, conversation: ref.conversation })
      const { running_turn } = state
      if (running_turn === null) return
      const driven = this.#driven.get(refKey(ref))
      if (driven) {
        if (state.turns.get(running_turn)?.stop_requested) driven.stop.abort(new Error('Stopped.'))
      } else if (this.#isAble(needsOf(state, running_turn))) await this.take(ref, running_turn)
      else if (this.#mayOutwait(state, running_turn)) this.#outwait(ref, running_turn)
    } catch (error) {
      if (!this.#ending.signal.aborted) {
        this.#options.onError?.(error)
        if (this.#driven.has(refKey(ref))) this.#unheard.set(refKey(ref), ref)
      }
    }
  }

  #isAble(need: Need | null): boolean {
    return need !== null && this.#abilities.includes(need)
  }

  /** Whether a turn that is ours to drive waits for checks in a workspace of others. */
  #mayOutwait(state: Conversation, turnId: string): boolean {
    const { workspace } = state.turns.get(turnId) ?? {}
    const need = needsOf(state, turnId)
    const here = (this.#options.workspaces?.keys ?? []).map(checkIn)
    return need !== null && !here.includes(need) && this.#isAble(workspace ? driveIn(workspaceKey(workspace)) : DRIVE)
  }

  /** Waits for the checks of a turn. If no process can run them, the turn goes on without. */
  #outwait(ref: Ref, turn: string): void {
    const key = refKey(ref)
    if (this.#awaiting.has(key)) return
    const outwaited = async (): Promise<void> => {
      const { door } = this.#deps
      const wanted = { tenant: ref.tenant, conversation: ref.conversation, turn }
      const signal = this.#ending.signal
      try {
        while (!(await servedUntil({ door, ...wanted }, turn, state => !awaitsChecks(state, turn), { signal }))) {
          const need = needsOf(await door.read(wanted), turn)
          const held = need === null ? undefined : await this.#claim(wanted, [need])
          if (held) return this.#drive(held, { isUnserved: true })
        }
      } catch (error) {
        if (!signal.aborted) this.#options.onError?.(error)
      }
    }
    this.#awaiting.set(
      key,
      outwaited().finally(() => this.#awaiting.delete(key)),
    )
  }

  #lookAgain(): void {
    const refs = [...this.#unheard.values()]
    this.#unheard.clear()
    for (const ref of refs) void this.#onHint(ref)
  }

  async #renew(): Promise<void> {
    await Promise.all(
      [...this.#driven.values()].map(async ({ held, leave }) => {
        try {
          if (!(await held.renew())) leave.abort(new Error('Taken over.'))
        } catch (error) {
          this.#options.onError?.(error)
        }
      }),
    )
  }
}

/** Reports a failure to list tools, and goes on without them. */
const withoutFailures = (outside: OutsideTools, onError: (error: unknown) => void): OutsideTools => ({
  list: async model => {
    try {
      return await outside.list(model)
    } catch (error) {
      onError(error)
      return []
    }
  },
  close: () => outside.close(),
})
