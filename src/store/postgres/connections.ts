import { setTimeout as delay } from 'node:timers/promises'
import { type Client, Pool, type PoolClient, type QueryResultRow } from 'pg'
import { closed } from '../store-error.ts'
import { busy, connectionError, endsConnection, isMute, isTransient, toStoreError } from './to-store-error.ts'

export type Value = string | number | boolean | null | readonly string[]

interface QueryOptions {
  /** Default: true for statements with values. With false, it is planned for its values each time. */
  readonly isPrepared?: boolean
}

export interface UseOptions {
  readonly ms?: number
  readonly retries?: boolean
}

/** Leaves one second of a request's five. */
export const TIMEOUT_MS = 4_000

const GOODBYE_MS = 1_000

/** Shares one timeout between several calls. */
export function together(database: Pick<Connections, 'use'>, ms: number): Pick<Connections, 'use'> {
  const until = performance.now() + ms
  return {
    use: async (work, options) => {
      const msLeft = until - performance.now()
      if (msLeft <= 0) throw busy()
      return database.use(work, { ...options, ms: msLeft })
    },
  }
}

/** A pool for one kind of work, so that no other kind can starve it. */
export class Connections {
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

  /** Runs one statement that waits for no row lock. It may run twice: after a lost connection its outcome is unknown. */
  query<R extends QueryResultRow>(text: string, values: readonly Value[], options: QueryOptions = {}): Promise<R[]> {
    return this.use(session => session.query<R>(text, values, options))
  }

  /** Like `query`, for a statement that may wait for a row lock. One round trip. */
  write<R extends QueryResultRow>(text: string, values: readonly Value[]): Promise<R[]> {
    return this.use(async session => {
      const [, rows] = await Promise.all([session.begin(), session.query<R>(text, values), session.query('COMMIT')])
      return rows
    })
  }

  /**
   * Runs `work` on one connection. Retries within the timeout if the connection is lost or the transaction conflicts.
   * Rolls back an open transaction.
   */
  async use<T>(work: (session: Session) => Promise<T>, { ms = this.#ms, retries = true }: UseOptions = {}): Promise<T> {
    if (this.#isClosed) throw closed()
    this.#inUse += 1
    const until = performance.now() + ms
    let first: unknown
    try {
      for (let tries = 0; ; tries += 1) {
        const attempt = await this.#try(work, until)
        if ('value' in attempt) return attempt.value
        // The failures of retries follow from it.
        first ??= attempt.error
        // Jitter, so that calls that lost a connection together do not retry together.
        const pauseMs = Math.min(20 * 2 ** tries, 500) * (0.5 + Math.random())
        if (!retries || !attempt.isRetryable || performance.now() + pauseMs >= until) throw first
        await delay(pauseMs)
      }
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

  async #try<T>(
    work: (session: Session) => Promise<T>,
    until: number,
  ): Promise<{ value: T } | { error: unknown; isRetryable: boolean }> {
    const pool = this.#pool
    let session: Session | undefined
    try {
      session = new Session(await connected(pool, until), this.#ms, until)
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

/** Ends in time, also while all connections are in use. */
async function connected(pool: Pool, until: number): Promise<PoolClient> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, until - performance.now())
  const connecting = pool.connect()
  try {
    const client = await Promise.race([connecting, late.promise])
    if (client) return client
    void connecting.then(unused => unused.release()).catch(() => {})
    throw busy()
  } finally {
    clearTimeout(timer)
  }
}

/** One connection while in use. pg's own `query_timeout` ends it if the work does not finish in time. */
export class Session {
  readonly #client: PoolClient
  readonly #callMs: number
  readonly #onError = (): void => this.discard()
  #until: number
  #lost = false
  /** Statements that were sent and not answered. */
  #inFlight = 0

  constructor(client: PoolClient, callMs: number, until: number) {
    this.#client = client
    this.#callMs = callMs
    this.#until = until
    client.on('error', this.#onError)
  }

  get lost(): boolean {
    return this.#lost
  }

  get msLeft(): number {
    return this.#until - performance.now()
  }

  async query<R extends QueryResultRow>(
    text: string,
    values?: readonly Value[],
    { isPrepared = values !== undefined }: QueryOptions = {},
  ): Promise<R[]> {
    const query_timeout = Math.ceil(Math.min(this.msLeft, this.#callMs))
    if (query_timeout <= 0) throw busy()
    this.#inFlight += 1
    try {
      const asked = { text, values: values?.map(storableValue) ?? [], query_timeout }
      const named = isPrepared ? { ...asked, name: nameOf(text) } : asked
      return (await this.#client.query<R, Value[]>(named)).rows
    } catch (error) {
      if (endsConnection(error)) this.discard()
      // In less time, even a reachable database need not have answered.
      throw isMute(error) && query_timeout < this.#callMs / 3 ? busy() : error
    } finally {
      this.#inFlight -= 1
    }
  }

  /**
   * Begins a transaction with its own limits, because the session may belong to a pooler. Statements have only lock
   * timeouts: a statement timeout could cancel a COMMIT that waits for a standby, which would then count as done.
   */
  async begin(): Promise<void> {
    const lockMs = lockMsOf(Math.min(this.msLeft, this.#callMs))
    await this.query(`BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = ${lockMs};
      SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = ${Math.round(this.#callMs / 2)}`)
  }

  limit(ms: number): void {
    this.#until = Math.min(this.#until, performance.now() + ms)
  }

  discard(): void {
    this.#lost = true
  }

  async release(): Promise<void> {
    if (this.#inFlight > 0) this.discard()
    // Closing the connection also rolls back.
    if (!this.#lost && this.#client.getTransactionStatus() !== 'I') {
      await this.query('ROLLBACK').catch(() => this.discard())
    }
    this.#client.off('error', this.#onError)
    this.#client.release(this.#lost)
  }
}

/** Names of prepared statements, by their text: all of them are constants. */
const names = new Map<string, string>()

function nameOf(text: string): string {
  const name = names.get(text) ?? `runsheet-${names.size}`
  names.set(text, name)
  return name
}

/**
 * Tells the server to give up on a client that is gone, and its locks. Not as startup parameters, which poolers refuse,
 * and not behind a pooler, which a different backend pid reveals: others share its sessions.
 */
export function setLimits(client: Client | PoolClient, ms: number): void {
  const settings = {
    statement_timeout: ms,
    lock_timeout: lockMsOf(ms),
    idle_in_transaction_session_timeout: ms / 2,
    tcp_user_timeout: ms,
    client_connection_check_interval: 1_000,
  }
  const pid = 'processID' in client ? Number(client.processID) : 0
  const calls = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${Math.round(value)}', false)`)
  client.query(`SELECT ${calls.join(', ')} WHERE pg_backend_pid() = $1`, [pid]).catch(() => {})
}

/** The server gives up on a lock before we do, so that we learn the reason. */
const lockMsOf = (ms: number): number => Math.max(1, Math.floor(ms - 500))

/**
 * Text that PostgreSQL can store: no NUL, no lone surrogate. JSON escapes both, so this affects only names and
 * searches.
 */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\u2400')

function storableValue(value: Value): Value {
  if (typeof value === 'string') return storable(value)
  return Array.isArray(value) ? value.map(storable) : value
}
