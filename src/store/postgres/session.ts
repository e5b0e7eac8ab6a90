import type { PoolClient, QueryResultRow } from 'pg'
import { OwnClient } from './client.ts'
import { type Limits, LOCK_MARGIN_MS, msUntil } from './limits.ts'
import { busy, noAnswer, type Reach } from './reach.ts'
import { endsConnection, isAnswer } from './to-store-error.ts'

/** A named statement is prepared once per connection. */
export interface Statement {
  readonly name?: string
  readonly text: string
}
export type Value = string | number | boolean | null | readonly string[]

/** A connection that responded this recently skips the ping. */
const FRESH_MS = 100

export interface SessionOptions {
  readonly limits: Limits
  readonly until: number
  readonly silenceMs: number
  readonly reach: Reach
  readonly late: () => Error
  /** Called when the connection was cut. Others without traffic since then may be dead too. */
  readonly onCut: (since: number) => void
}

/** One connection while in use. It is cut if the work does not finish in time. */
export class Session {
  readonly #client: PoolClient & OwnClient
  readonly #options: SessionOptions
  readonly #startedAt = performance.now()
  #askedAt = this.#startedAt
  #readBefore = 0
  readonly #onError = (): void => this.discard()
  #until: number
  #deadline: NodeJS.Timeout
  #silence: NodeJS.Timeout | undefined
  #lost: boolean
  #isOver = false

  constructor(client: PoolClient, options: SessionOptions) {
    if (!(client instanceof OwnClient)) throw new TypeError('not a client of ours')
    this.#client = client
    client.isIdle = false
    this.#lost = client.hasFailed
    this.#options = options
    this.#until = options.until
    this.#deadline = this.#cutAt(options.until)
    client.on('error', this.#onError)
    if (client.isSetUp) return
    client.setUp(options.limits)
    this.#expectSign()
  }

  get lost(): boolean {
    return this.#lost
  }

  get msLeft(): number {
    return this.#until - performance.now()
  }

  async query<R extends QueryResultRow>(statement: Statement, values: readonly Value[] = []): Promise<R[]> {
    this.#askedAt = performance.now()
    this.#readBefore = this.#client.bytesRead
    if (!this.#silence) this.#prove()
    try {
      const { rows } = await this.#client.query<R, Value[]>({ ...statement, values: values.map(storableValue) })
      this.#options.reach.heard()
      return rows
    } catch (error) {
      if (isAnswer(error)) this.#options.reach.heard()
      if (endsConnection(error)) this.discard()
      throw error
    }
  }

  /**
   * Begins a transaction with its own limits, because the session may belong to a pooler. Statements have only lock
   * timeouts: a statement timeout could cancel a COMMIT that waits for a standby, which would then count as done.
   */
  async begin(): Promise<void> {
    const lockMs = Math.max(1, Math.floor(this.msLeft - LOCK_MARGIN_MS))
    // BEGIN is answered at once, whatever the statements behind it wait for.
    if (!this.#silence) this.#expectSign()
    await this.query({
      text: `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = ${lockMs}; SET LOCAL statement_timeout = 0;
        SET LOCAL idle_in_transaction_session_timeout = ${this.#options.limits.idleInTransactionMs}`,
    })
  }

  limit(ms: number): void {
    if (ms >= this.msLeft) return
    clearTimeout(this.#deadline)
    this.#until = performance.now() + ms
    this.#deadline = this.#cutAt(this.#until)
  }

  discard(): void {
    this.#lost = true
  }

  async release(): Promise<void> {
    if (!this.#lost && this.#client.getTransactionStatus() !== 'I') await this.#rollback()
    this.#isOver = true
    clearTimeout(this.#deadline)
    clearTimeout(this.#silence)
    this.#client.heardAt = performance.now()
    this.#client.isIdle = true
    this.#client.off('error', this.#onError)
    this.#client.release(this.#lost)
  }

  async #rollback(): Promise<void> {
    try {
      await this.query({ text: 'ROLLBACK' })
    } catch {
      // Closing the connection also rolls back.
      this.discard()
    }
  }

  #cutAt(until: number): NodeJS.Timeout {
    const cut = (): void => {
      if (this.#isAlive) this.#cut(busy())
      else if (this.#isAskedTooLate) this.#cut(this.#options.late())
      else this.#cutSilent()
    }
    return setTimeout(() => afterReading(cut), msUntil(until))
  }

  /** Pings with an empty query in the same round trip: only a dead connection does not answer it. */
  #prove(): void {
    // Without a ping, the statement itself may take longer to answer. Its timeout must leave time for a retry.
    const patienceMs = 2 * this.#options.silenceMs
    const isFresh = this.#startedAt - this.#client.heardAt < FRESH_MS && patienceMs < 0.75 * this.msLeft
    if (!isFresh) {
      this.#client.query(';').then(
        () => this.#options.reach.heard(),
        () => {},
      )
    }
    this.#expectSign(isFresh ? patienceMs : undefined)
  }

  #expectSign(ms = this.#options.silenceMs): void {
    const before = this.#client.bytesRead
    const look = (): void => {
      if (this.#client.bytesRead === before) this.#cutSilent()
    }
    this.#silence = setTimeout(() => afterReading(look), ms)
  }

  /** If anything arrived since the last statement was sent, the database is busy, not unreachable. */
  get #isAlive(): boolean {
    return this.#client.bytesRead > this.#readBefore
  }

  /** If the last statement was sent this late, even a reachable database need not have answered. */
  get #isAskedTooLate(): boolean {
    const { until, limits } = this.#options
    return this.#until === until && until - this.#askedAt < limits.silenceMs
  }

  #cutSilent(): void {
    this.#options.reach.silent(this.#askedAt)
    // Even if other connections get answers: those may have been in flight when the network failed.
    this.#cut(noAnswer())
  }

  #cut(why: Error): void {
    if (this.#isOver) return
    this.#lost = true
    this.#client.cut(why)
    this.#options.onCut(this.#askedAt)
  }
}

/** After pending input is read: this process itself may have stalled. */
const afterReading = (look: () => void): void => void setImmediate(look)

/**
 * Text that PostgreSQL can store: no NUL, no lone surrogate. JSON escapes both, so this affects only names and
 * searches.
 */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\u2400')

function storableValue(value: Value): Value {
  if (typeof value === 'string') return storable(value)
  return Array.isArray(value) ? value.map(storable) : value
}
