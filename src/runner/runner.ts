import { setTimeout as wait } from 'node:timers/promises'
import { isRunning } from '../domain/turn.ts'
import { isParked } from '../domain/conversation.ts'
import { type Lease, type Ref, refKey, type Door, StoreError } from '../door/door.ts'
import { type TurnDeps, drive } from './drive.ts'
import { LiveText, type Shown } from './live.ts'
import type { Models } from './given-models.ts'
import { noTools, type OutsideLimits, type OutsideTools, USUAL_LIMITS } from './outside.ts'

export interface RunnerOptions {
  readonly door: Door
  readonly models: Models
  readonly outside?: OutsideTools
  readonly limits?: OutsideLimits
  readonly instructions?: string
  readonly onText?: (ref: Ref, shown: Shown) => void
  readonly onError?: (error: unknown) => void
  /** How long a turn stays ours without a sign of life; a dead process's turns are taken up after that. */
  readonly leaseMs?: number
  readonly retryMs?: number
  readonly silenceMs?: number
}

const LEASE_MS = 6_000
const RETRY_MS = 1_000
/** How often turns are looked for that nobody drives and nobody hinted at. */
const LOOK_EVERY_MS = 1_500

interface Driven {
  readonly lease: Lease
  readonly stop: AbortController
  readonly leave: AbortController
  readonly ended: Promise<void>
}

/** Drives the turns that nobody else drives: those started here, those that a person has decided about, those left behind. */
export class Runner {
  readonly #options: RunnerOptions
  readonly #with: TurnDeps
  readonly #id: string
  readonly #leaseMs: number
  readonly #lookEveryMs: number
  readonly #driven = new Map<string, Driven>()
  readonly #ending = new AbortController()
  #timers: NodeJS.Timeout[] = []
  #looking: Promise<void> = Promise.resolve()

  constructor(options: RunnerOptions) {
    const { door, models, outside = noTools, limits = USUAL_LIMITS, instructions } = options
    this.#options = options
    this.#id = door.newId()
    this.#leaseMs = options.leaseMs ?? LEASE_MS
    this.#lookEveryMs = Math.min(LOOK_EVERY_MS, this.#leaseMs)
    this.#with = {
      door,
      models,
      outside: patient(outside, error => options.onError?.(error)),
      limits,
      instructions,
      live: new LiveText(door, options.onText ?? (() => {})),
      retryMs: options.retryMs ?? RETRY_MS,
      silenceMs: options.silenceMs,
    }
  }

  start(): void {
    void this.#listen()
    this.#timers = [
      setInterval(() => this.look(), this.#lookEveryMs),
      setInterval(() => void this.#renew(), this.#leaseMs / 3),
    ]
    for (const timer of this.#timers) timer.unref()
    this.look()
  }

  /** How many turns are driven here now. */
  get size(): number {
    return this.#driven.size
  }

  /** Takes up a turn that was just started or decided about. */
  async take(ref: Ref, turn: string): Promise<void> {
    if (this.#ending.signal.aborted || this.#driven.has(refKey(ref))) return
    const wanted = { tenant: ref.tenant, conversation: ref.conversation, turn }
    const lease = await this.#options.door.turns.claim(this.#id, this.#leaseMs, wanted)
    if (lease) this.#drive(lease)
  }

  /** Takes up whatever nobody drives. */
  look(): void {
    this.#looking = this.#looking.then(async () => {
      try {
        while (!this.#ending.signal.aborted) {
          const lease = await this.#options.door.turns.claim(this.#id, this.#leaseMs)
          if (!lease) return
          this.#drive(lease)
        }
      } catch (error) {
        if (!this.#ending.signal.aborted) this.#options.onError?.(error)
      }
    })
  }

  /** Lets go of every turn, for somebody else to go on with. */
  async close(): Promise<void> {
    this.#ending.abort()
    for (const timer of this.#timers) clearInterval(timer)
    for (const { leave } of this.#driven.values()) leave.abort(new Error('The process ends.'))
    // Whoever waits for a server that does not answer is let go by that.
    const closed = this.#with.outside.close()
    await this.#looking
    await Promise.all([...this.#driven.values()].map(({ ended }) => ended))
    await closed
  }

  #drive(lease: Lease): void {
    // Our own lease ran out, or the turn before is just being let go: that comes to its end first.
    const before = this.#driven.get(refKey(lease))
    before?.leave.abort(new Error('Taken over.'))
    const stop = new AbortController()
    const leave = new AbortController()
    const driven = async (): Promise<void> => {
      await before?.ended
      try {
        await drive(lease, this.#with, { stop: stop.signal, leave: leave.signal })
      } catch (error) {
        this.#options.onError?.(error)
        // It stays ours meanwhile: whoever took it up at once would most likely meet with the same.
        await wait(this.#lookEveryMs, undefined, { ref: false, signal: this.#ending.signal }).catch(() => {})
      }
      await this.#letGo(lease)
    }
    this.#driven.set(refKey(lease), { lease, stop, leave, ended: driven() })
  }

  async #letGo(lease: Lease): Promise<void> {
    if (this.#driven.get(refKey(lease))?.lease === lease) {
      this.#driven.delete(refKey(lease))
      this.#with.live.forget(lease)
    }
    try {
      await this.#options.door.turns.release(lease)
      // It may have been decided while it was being parked: then nobody else will hint at it.
      await this.#heed(lease)
    } catch (error) {
      if (!this.#ending.signal.aborted) this.#options.onError?.(error)
    }
  }

  async #listen(): Promise<void> {
    const { door, onError } = this.#options
    while (!this.#ending.signal.aborted) {
      try {
        for await (const hint of door.changes(this.#ending.signal)) if (hint.kind === 'log') await this.#heed(hint)
      } catch (error) {
        if (this.#ending.signal.aborted) return
        onError?.(error)
        await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS).unref())
      }
    }
  }

  /** Something happened in a conversation: a stop for what we drive, or a turn that wants to be driven. */
  async #heed(ref: Ref): Promise<void> {
    if (this.#ending.signal.aborted) return
    try {
      const state = await this.#options.door.read({ tenant: ref.tenant, conversation: ref.conversation })
      const { running_turn } = state
      const turn = running_turn === null ? undefined : state.turns.get(running_turn)
      if (!turn || !isRunning(turn)) return
      const driven = this.#driven.get(refKey(ref))
      if (driven) {
        if (turn.stop_requested) driven.stop.abort(new Error('Stopped.'))
      } else if (!isParked(state, turn.id)) await this.take(ref, turn.id)
    } catch (error) {
      if (!this.#ending.signal.aborted && !(error instanceof StoreError && error.code === 'file_invalid')) {
        this.#options.onError?.(error)
      }
    }
  }

  async #renew(): Promise<void> {
    await Promise.all(
      [...this.#driven.values()].map(async ({ lease, leave }) => {
        try {
          if (!(await this.#options.door.turns.renew(lease, this.#leaseMs))) leave.abort(new Error('Taken over.'))
        } catch (error) {
          this.#options.onError?.(error)
        }
      }),
    )
  }
}

/** Where the tools of others cannot be had, a turn goes on without them. */
const patient = (outside: OutsideTools, onError: (error: unknown) => void): OutsideTools => ({
  list: async () => {
    try {
      return await outside.list()
    } catch (error) {
      onError(error)
      return []
    }
  },
  close: () => outside.close(),
})
