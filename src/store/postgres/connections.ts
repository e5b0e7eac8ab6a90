import { setTimeout as delay } from 'node:timers/promises'
import { Pool, type PoolClient, type QueryResultRow } from 'pg'
import { closed } from '../store-error.ts'
import { Session, setLimits, type Statement, type Value } from './session.ts'
import { busy, connectionError, isMute, isTransient, toStoreError } from './to-store-error.ts'

export interface UseOptions {
  readonly ms?: number
  readonly retries?: boolean
}

export interface Database {
  /**
   * Runs one statement that waits for no row lock. It may run twice: after a lost connection its outcome is unknown.
   */
  query<R extends QueryResultRow>(statement: Statement, values: readonly Value[]): Promise<R[]>
  /** Like `query`, for a statement that may wait for a row lock. One round trip. */
  write<R extends QueryResultRow>(statement: Statement, values: readonly Value[]): Promise<R[]>
  /**
   * Runs `work` on one connection. Retries within the timeout if the connection is lost or the transaction conflicts.
   * Rolls back an open transaction.
   */
  use<T>(work: (session: Session) => Promise<T>, options?: UseOptions): Promise<T>
}

/** Shares one timeout between several calls. */
export function together(database: Pick<Database, 'use'>, ms: number): Pick<Database, 'use'> {
  const until = performance.now() + ms
  return {
    use: async (work, options) => {
      const msLeft = until - performance.now()
      if (msLeft <= 0) throw busy()
      return database.use(work, { ...options, ms: msLeft })
    },
  }
}

/** Leaves one second of a request's five. */
export const TIMEOUT_MS = 4_000

/** One kind of work has a pool of its own, so that no other kind can starve it. */
export class Connections implements Database {
  readonly #ms: number
  readonly #newPool: () => Pool
  #pool: Pool
  readonly #empty = Promise.withResolvers<void>()
  #inUse = 0
  #isClosed = false

  /** `ms`: the timeout of a call. */
  constructor(url: string, size: number, ms: number) {
    this.#ms = ms
    this.#newPool = () => {
      const pool = new Pool({
        connectionString: url,
        max: size,
        application_name: 'runsheet',
        connectionTimeoutMillis: ms / 2,
        keepAlive: true,
        allowExitOnIdle: true,
        // Independent statements share one round trip.
        pipeline: true,
      })
      // A broken idle connection has already left the pool; the next call gets a new one.
      pool.on('error', () => {})
      pool.on('connect', client => {
        // A connection that breaks between two owners has no other listener, and would end the process.
        client.on('error', () => {})
        setLimits(client, ms)
      })
      return pool
    }
    this.#pool = this.#newPool()
  }

  query<R extends QueryResultRow>(statement: Statement, values: readonly Value[]): Promise<R[]> {
    return this.use(session => session.query<R>(statement, values))
  }

  write<R extends QueryResultRow>(statement: Statement, values: readonly Value[]): Promise<R[]> {
    return this.use(async session => {
      const [, rows] = await Promise.all([
        session.begin(),
        session.query<R>(statement, values),
        session.query({ text: 'COMMIT' }),
      ])
      return rows
    })
  }

  async use<T>(work: (session: Session) => Promise<T>, { ms = this.#ms, retries = true }: UseOptions = {}): Promise<T> {
    if (this.#isClosed) throw closed()
    this.#inUse += 1
    try {
      return await this.#use(work, performance.now() + ms, retries)
    } finally {
      this.#inUse -= 1
      if (this.#isClosed && this.#inUse === 0) this.#empty.resolve()
    }
  }

  /** Waits for the calls in progress, but not for a database that does not answer the goodbye. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#inUse > 0) await this.#empty.promise
    await Promise.race([this.#pool.end(), delay(GOODBYE_MS, undefined, { ref: false })])
  }

  async #use<T>(work: (session: Session) => Promise<T>, until: number, retries: boolean): Promise<T> {
    let before: unknown
    for (let tries = 0; ; tries += 1) {
      const attempt = await this.#try(work, until, before)
      if (!('error' in attempt)) return attempt.value
      // Jitter, so that calls that lost a connection together do not retry together.
      const pauseMs = Math.min(20 * 2 ** tries, 500) * (0.5 + Math.random())
      if (!retries || !attempt.isRetryable || performance.now() + pauseMs >= until) throw attempt.error
      before = attempt.error
      await delay(pauseMs)
    }
  }

  async #try<T>(
    work: (session: Session) => Promise<T>,
    until: number,
    before: unknown,
  ): Promise<{ value: T } | { error: unknown; isRetryable: boolean }> {
    const pool = this.#pool
    let session: Session | undefined
    try {
      const client = await inTime(pool.connect(), until)
      if (!client) return { error: before ?? busy(), isRetryable: false }
      session = new Session(client, this.#ms, until)
      return { value: await work(session) }
    } catch (error) {
      if (isMute(error)) this.#renew(pool)
      if (!session || session.lost) return { error: connectionError(error), isRetryable: true }
      return { error: toStoreError(error), isRetryable: isTransient(error) }
    } finally {
      await session?.release()
    }
  }

  /** After one connection went mute: the idle ones most likely did, too. Calls in progress keep theirs. */
  #renew(pool: Pool): void {
    if (pool !== this.#pool || this.#isClosed) return
    this.#pool = this.#newPool()
    void pool.end()
  }
}

const GOODBYE_MS = 1_000

/** Undefined once the time is over. */
async function inTime(connecting: Promise<PoolClient>, until: number): Promise<PoolClient | undefined> {
  const done = new AbortController()
  const late = delay(Math.max(0, until - performance.now()), undefined, { signal: done.signal }).catch(() => undefined)
  try {
    const client = await Promise.race([connecting, late])
    if (!client) void connecting.then(unused => unused.release()).catch(() => {})
    return client
  } finally {
    done.abort()
  }
}
