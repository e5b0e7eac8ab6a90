import type { Client, PoolClient, QueryResultRow } from 'pg'
import { busy, endsConnection, isMute } from './to-store-error.ts'

/** A named statement is prepared once per connection. */
export interface Statement {
  readonly name?: string
  readonly text: string
}
export type Value = string | number | boolean | null | readonly string[]

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

  async query<R extends QueryResultRow>(statement: Statement, values: readonly Value[] = []): Promise<R[]> {
    const query_timeout = Math.ceil(Math.min(this.msLeft, this.#callMs))
    if (query_timeout <= 0) throw busy()
    this.#inFlight += 1
    try {
      const asked = { ...statement, values: values.map(storableValue), query_timeout }
      return (await this.#client.query<R, Value[]>(asked)).rows
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
    await this.query({
      text: `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = ${lockMs}; SET LOCAL statement_timeout = 0;
        SET LOCAL idle_in_transaction_session_timeout = ${Math.round(this.#callMs / 2)}`,
    })
  }

  limit(ms: number): void {
    this.#until = Math.min(this.#until, performance.now() + ms)
  }

  discard(): void {
    this.#lost = true
  }

  async release(): Promise<void> {
    if (this.#inFlight > 0) this.discard()
    if (!this.#lost && this.#client.getTransactionStatus() !== 'I') {
      // Closing the connection also rolls back.
      await this.query({ text: 'ROLLBACK' }).catch(() => this.discard())
    }
    this.#client.off('error', this.#onError)
    this.#client.release(this.#lost)
  }
}

/**
 * Tells the server to give up on a client that is gone, and its locks. Not as startup parameters, which poolers refuse,
 * and not behind a pooler, which a different backend pid reveals: others share its sessions. Settings that the server
 * does not know are skipped.
 */
export function setLimits(client: Client | PoolClient, ms: number): void {
  const limits = [
    { statement_timeout: ms, lock_timeout: lockMsOf(ms), idle_in_transaction_session_timeout: ms / 2 },
    { tcp_user_timeout: ms, tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 },
    { client_connection_check_interval: 1_000 },
  ]
  const pid = 'processID' in client ? Number(client.processID) : 0
  for (const settings of limits) {
    const calls = Object.entries(settings).map(
      ([name, value]) => `set_config('${name}', '${Math.round(value)}', false)`,
    )
    client.query(`SELECT ${calls.join(', ')} WHERE pg_backend_pid() = $1`, [pid]).catch(() => {})
  }
}

/** The server gives up on a lock before we do, so that we learn the reason. */
export const lockMsOf = (ms: number): number => Math.max(1, Math.floor(ms - 500))

/**
 * Text that PostgreSQL can store: no NUL, no lone surrogate. JSON escapes both, so this affects only names and
 * searches.
 */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\u2400')

function storableValue(value: Value): Value {
  if (typeof value === 'string') return storable(value)
  return Array.isArray(value) ? value.map(storable) : value
}
