import { Socket } from 'node:net'
import { Client, type ClientConfig } from 'pg'
import type { Limits } from './limits.ts'

const GOODBYE_MS = 1_000

export class OwnClient extends Client {
  heardAt = 0
  isIdle = false
  isSetUp = false
  hasFailed = false
  readonly #socket: Socket

  constructor(config: ClientConfig = {}) {
    const socket = new Socket()
    super({
      ...config,
      stream: () => socket,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      // Independent statements share one round trip.
      pipeline: true,
    })
    this.#socket = socket
    // From the start: nothing else listens between connect and first use, and an unhandled error would end the process.
    this.on('error', () => {
      this.hasFailed = true
    })
  }

  get bytesRead(): number {
    return this.#socket.bytesRead
  }

  /** Drops the connection without a goodbye; pending queries fail with the error. */
  cut(error: Error): void {
    this.#socket.destroy(error)
  }

  override end(): Promise<void>
  override end(callback: (error: Error) => void): void
  override end(callback?: (error: Error) => void): Promise<void> | void {
    // A graceful close that gets no answer must end too: neither callers nor process exit may wait for long.
    if (!this.#socket.closed) {
      const timer = setTimeout(() => this.#socket.destroy(), GOODBYE_MS)
      this.#socket.once('close', () => clearTimeout(timer))
    }
    return callback ? super.end(callback) : super.end()
  }

  /**
   * Sets this session's limits on the server, so that it drops an unresponsive client and its locks. Behind a pooler,
   * which a different backend pid reveals, the session is shared, so nothing is set. Settings that the server does not
   * know are skipped.
   */
  setUp({ callMs, lockMs, idleInTransactionMs }: Limits): void {
    this.isSetUp = true
    const limits = [
      { statement_timeout: callMs, lock_timeout: lockMs, idle_in_transaction_session_timeout: idleInTransactionMs },
      { tcp_user_timeout: callMs, tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 },
      { client_connection_check_interval: 1_000 },
    ]
    for (const settings of limits) this.query(setting(settings), [processOf(this)]).catch(() => {})
  }
}

const setting = (settings: Readonly<Record<string, number>>): string => {
  const calls = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', false)`)
  return `SELECT ${calls.join(', ')} WHERE pg_backend_pid() = $1`
}

/** The backend pid reported at connect. */
const processOf = (client: Client): number => ('processID' in client ? Number(client.processID) : 0)
