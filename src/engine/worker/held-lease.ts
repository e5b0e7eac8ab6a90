import { StoreError, type ClaimOptions, type Door, type Lease } from '../door/door.ts'

/** The share of a lease after which it is renewed before a side effect. The worker renews after a third. */
const MAX_AGE = 1 / 2

type Turns = Pick<Door['turns'], 'claim' | 'renew'>

interface Moment {
  /** Continues while the process is stopped, but perhaps not while the machine sleeps. */
  readonly monotonic: number
  /** Continues while the machine sleeps, but may jump. */
  readonly wall: number
}

const now = (): Moment => ({ monotonic: performance.now(), wall: Date.now() })

/** A lease, and the time until which it is certainly ours. */
export class HeldLease {
  readonly lease: Lease
  readonly #turns: Turns
  readonly #ttlMs: number
  readonly #now: () => Moment
  #renewed: Moment

  private constructor(lease: Lease, turns: Turns, ttlMs: number, clock: () => Moment, at: Moment) {
    this.lease = lease
    this.#turns = turns
    this.#ttlMs = ttlMs
    this.#now = clock
    this.#renewed = at
  }

  /** Claims a turn that has no lease and needs one of the abilities, either any turn or the wanted one. */
  static async claim(
    turns: Turns,
    runner: string,
    ttlMs: number,
    options: ClaimOptions,
    clock: () => Moment = now,
  ): Promise<HeldLease | undefined> {
    // Taken before the store starts the lease, so that it never ends earlier than we think.
    const at = clock()
    const lease = await turns.claim(runner, ttlMs, options)
    return lease && new HeldLease(lease, turns, ttlMs, clock, at)
  }

  /** Extends the lease; false if it is lost. */
  async renew(): Promise<boolean> {
    const at = this.#now()
    const isOurs = await this.#turns.renew(this.lease, this.#ttlMs)
    if (isOurs) this.#renewed = at
    return isOurs
  }

  /**
   * Call immediately before each side effect: resolves once the lease has time to spare, and renews it if needed.
   * Throws `fenced` if it is lost, which a frozen process cannot know by itself.
   */
  async confirm(signal: AbortSignal): Promise<void> {
    while (this.#age() > this.#ttlMs * MAX_AGE) {
      signal.throwIfAborted()
      if (!(await this.renew())) {
        throw new StoreError('fenced', `Turn ${this.lease.turn} is driven by another runner now.`)
      }
    }
    signal.throwIfAborted()
  }

  /** Uses the faster clock, because either may stand still; a jump ahead only costs a renewal. */
  #age(): number {
    const { monotonic, wall } = this.#now()
    return Math.max(monotonic - this.#renewed.monotonic, wall - this.#renewed.wall)
  }
}

/** Another process holds the lease. */
export const isLost = (error: unknown): boolean => error instanceof StoreError && error.code === 'fenced'

/** A storage failure that may be temporary, so the work is retried later. */
export const isStorage = (error: unknown): boolean =>
  error instanceof StoreError && error.code !== 'key_conflict' && error.code !== 'id_taken'

/** The idle time between two pieces of work under one lease. */
export class Rest {
  #end: ((isMore: boolean) => void) | undefined
  #isWoken = false
  #isOver = false

  get isOn(): boolean {
    return this.#end !== undefined
  }

  /** Resolves with true when woken; with false after `ms`, or once it has ended for good. */
  async begin(ms: number): Promise<boolean> {
    if (this.#isOver) return false
    if (this.#isWoken) {
      this.#isWoken = false
      return true
    }
    let timer: NodeJS.Timeout | undefined
    const isMore = await new Promise<boolean>(resolve => {
      this.#end = resolve
      timer = setTimeout(resolve, ms, false).unref()
    })
    clearTimeout(timer)
    this.#end = undefined
    this.#isWoken = false
    return isMore
  }

  /** Wakes it now, or as soon as it begins. */
  wake(): void {
    this.#isWoken = true
    this.#end?.(true)
  }

  /** Ends it for good: the lease is lost, or wanted elsewhere. */
  end(): void {
    this.#isOver = true
    this.#end?.(false)
  }
}
