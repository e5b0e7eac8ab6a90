import { setTimeout as delay } from 'node:timers/promises'
import { Pool, type PoolClient, type QueryResultRow } from 'pg'
import { connectionError, endsConnection, isTransient, toStoreError } from './to-store-error.ts'

/** A named statement is prepared once per connection. */
export interface Statement {
  readonly name?: string
  readonly text: string
}
export type Value = string | number | boolean | null | readonly string[]

/** How long a call waits for a connection, and a transaction for a lock. */
export const MAX_WAIT_MS = 5_000

/** Runs statements. */
export interface Database {
  /** Runs one statement. It may run twice: after a lost connection its outcome is unknown. */
  query<R extends QueryResultRow>(statement: Statement, values: readonly Value[]): Promise<R[]>
  /**
   * Runs `work` on one connection. Retries for a few seconds if the connection is lost or the transaction conflicts. An
   * open transaction is rolled back.
   */
  use<T>(work: (session: Session) => Promise<T>, maxWaitMs?: number): Promise<T>
}

/** The connections of one process. */
export class Connections implements Database {
  readonly #pool: Pool

  constructor(url: string, size: number) {
    this.#pool = new Pool({
      connectionString: url,
      max: size,
      application_name: 'runsheet',
      // Independent statements share one round trip.
      pipeline: true,
      keepAlive: true,
      connectionTimeoutMillis: MAX_WAIT_MS,
    })
    // A broken idle connection has left the pool already; the next call gets a new one.
    this.#pool.on('error', () => {})
  }

  query<R extends QueryResultRow>(statement: Statement, values: readonly Value[]): Promise<R[]> {
    return this.use(session => session.query<R>(statement, values))
  }

  async use<T>(work: (session: Session) => Promise<T>, maxWaitMs = MAX_WAIT_MS): Promise<T> {
    let until: number | undefined
    for (let tries = 0; ; tries += 1) {
      const attempt = await this.#try(work)
      if (!('error' in attempt)) return attempt.value
      until ??= performance.now() + maxWaitMs
      if (!attempt.isRetryable || performance.now() >= until) throw attempt.error
      // Jitter, so that calls that lost a connection together do not retry together.
      await delay(Math.min(20 * 2 ** tries, 500) * (0.5 + Math.random()))
    }
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  async #try<T>(
    work: (session: Session) => Promise<T>,
  ): Promise<{ value: T } | { error: unknown; isRetryable: boolean }> {
    let session: Session | undefined
    try {
      session = new Session(await this.#pool.connect())
      return { value: await work(session) }
    } catch (error) {
      if (!session || session.lost) return { error: connectionError(error), isRetryable: true }
      return { error: toStoreError(error), isRetryable: isTransient(error) }
    } finally {
      await session?.release()
    }
  }
}

/** One connection while it is in use. */
export class Session {
  readonly #client: PoolClient
  readonly #onError = (): void => this.discard()
  #lost = false

  constructor(client: PoolClient) {
    this.#client = client
    client.on('error', this.#onError)
  }

  /** Whether the connection is known to be gone. */
  get lost(): boolean {
    return this.#lost
  }

  async query<R extends QueryResultRow>(statement: Statement, values: readonly Value[] = []): Promise<R[]> {
    try {
      const { rows } = await this.#client.query<R, Value[]>({ ...statement, values: values.map(storableValue) })
      return rows
    } catch (error) {
      if (endsConnection(error)) this.discard()
      throw error
    }
  }

  /** Keeps the connection from being used again. */
  discard(): void {
    this.#lost = true
  }

  async release(): Promise<void> {
    if (!this.#lost && this.#client.getTransactionStatus() !== 'I') await this.#rollback()
    this.#client.off('error', this.#onError)
    this.#client.release(this.#lost)
  }

  async #rollback(): Promise<void> {
    try {
      await this.query({ text: 'ROLLBACK' })
    } catch {
      // Closing the connection rolls back as well.
      this.discard()
    }
  }
}

/** Text that PostgreSQL can hold: no NUL, no lone surrogate. JSON escapes both, so this concerns names and searches. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\u2400')

function storableValue(value: Value): Value {
  if (typeof value === 'string') return storable(value)
  return Array.isArray(value) ? value.map(storable) : value
}
