import { Socket } from 'node:net'
import { Client, type ClientConfig } from 'pg'
import type { Limits } from './limits.ts'

/** How long a connection may take to say goodbye. */
const GOODBYE_MS = 1_000

/** A client that can be cut off at once, however its connection fares. */
export class OwnClient extends Client {
  /** When it was last known to be alive. */
  heardAt = 0
  isIdle = false
  isSetUp = false
  /** Whether its connection has ended with an error. */
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
    // From the start: between its connecting and its first use nobody else listens, and an error would end the process.
    this.on('error', () => {
      this.hasFailed = true
    })
  }

  /** Grows with everything that arrives. */
  get bytesRead(): number {
    return this.#socket.bytesRead
  }

  /** Closes the connection without a word; pending queries fail with the error. */
  cut(error: Error): void {
    this.#socket.destroy(error)
  }

  override end(): Promise<void>
  override end(callback: (error: Error) => void): void
  override end(callback?: (error: Error) => void): Promise<void> | void {
    // A goodbye that nobody hears ends as well: who awaits it, and the process, must not wait for long.
    if (!this.#socket.closed) {
      const timer = setTimeout(() => this.#socket.destroy(), GOODBYE_MS)
      this.#socket.once('close', () => clearTimeout(timer))
    }
    return callback ? super.end(callback) : super.end()
  }

  /**
   * Sets the limits of this session on the server, so that it drops a client that has gone mute, and what it had locked.
   * Behind a pooler the session is shared, which the differing process number shows: nothing is set. What a server does
   * not know is left out.
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

/** The number of the server's process, as it told when we connected. */
const processOf = (client: Client): number => ('processID' in client ? Number(client.processID) : 0)
