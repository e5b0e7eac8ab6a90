import { setTimeout as delay } from 'node:timers/promises'
import { Pool, type PoolClient, type QueryResultRow } from 'pg'
import { connectionError, endsConnection, isTransient, toStoreError } from './to-store-error.ts'

/** With a name it is prepared once on each connection. */
export interface Statement {
  readonly name?: string
  readonly text: string
}
export type Value = string | number | boolean | null | readonly string[]

/** How long a caller waits for a connection to come back, and a transaction for a lock. */
export const PATIENCE_MS = 5_000

/** Where statements are run. */
export interface Database {
  /** One statement of its own. It may run twice: when the connection is lost nobody knows whether it ran. */
  query<R extends QueryResultRow>(statement: Statement, values: readonly Value[]): Promise<R[]>
  /**
   * Runs `work` on one connection, and again on another while that is lost, or while it has to give way, for a few
   * seconds. What it leaves open in a transaction is rolled back.
   */
  use<T>(work: (session: Session) => Promise<T>, patienceMs?: number): Promise<T>
}

/** The connections of one process. */
export class Connections implements Database {
  readonly #pool: Pool

  constructor(url: string, size: number) {
    this.#pool = new Pool({
      connectionString: url,
      max: size,
      application_name: 'runsheet',
      // What does not depend on each other's answers goes out together and costs one round trip.
      pipeline: true,
      keepAlive: true,
      connectionTimeoutMillis: PATIENCE_MS,
    })
    // An idle connection that breaks has left the pool already, and whoever comes next gets a new one.
    this.#pool.on('error', () => {})
  }

  query<R extends QueryResultRow>(statement: Statement, values: readonly Value[]): Promise<R[]> {
    return this.use(session => session.query<R>(statement, values))
  }

  async use<T>(work: (session: Session) => Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
    let until: number | undefined
    for (let tries = 0; ; tries += 1) {
      const tried = await this.#try(work)
      if (!('error' in tried)) return tried.value
      until ??= performance.now() + patienceMs
      if (!tried.again || performance.now() >= until) throw tried.error
      // Jitter, so that those who lost a connection together do not come back together.
      await delay(Math.min(20 * 2 ** tries, 500) * (0.5 + Math.random()))
    }
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  async #try<T>(work: (session: Session) => Promise<T>): Promise<{ value: T } | { error: unknown; again: boolean }> {
    let session: Session | undefined
    try {
      session = new Session(await this.#pool.connect())
      return { value: await work(session) }
    } catch (error) {
      if (!session || session.lost) return { error: connectionError(error), again: true }
      return { error: toStoreError(error), again: isTransient(error) }
    } finally {
      await session?.release()
    }
  }
}

/** One connection, for as long as somebody works on it. */
export class Session {
  readonly #client: PoolClient
  readonly #onError = (): void => this.discard()
  #lost = false

  constructor(client: PoolClient) {
    this.#client = client
    client.on('error', this.#onError)
  }

  /** Whether the connection is gone, as far as we have been told. */
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

  /** Not to be used again, by nobody. */
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
      // Then closing it does the same.
      this.discard()
    }
  }
}

/** Text as PostgreSQL can hold it: no NUL and no half pairs. JSON escapes both, so this is about names and searches. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\u2400')

function storableValue(value: Value): Value {
  if (typeof value === 'string') return storable(value)
  return Array.isArray(value) ? value.map(storable) : value
}
