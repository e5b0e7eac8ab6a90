import type { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'

const MAX_SWEEP_INTERVAL_MS = 60_000

/** A session of a 2025 client, with a server of its own. */
export interface Session {
  readonly id: string
  /** The credential that opened it. */
  readonly credential: string
  readonly transport: WebStandardStreamableHTTPServerTransport
  usedAt: number
  /** Includes streams. */
  openRequests: number
}

/** Sessions of 2025 clients. Idle ones are closed, because many clients leave without ending theirs. */
export class Sessions {
  /** Least recently used first. */
  readonly #sessions = new Map<string, Session>()
  readonly #limit: number
  readonly #idleMs: number
  readonly #timer: NodeJS.Timeout

  /** `limit` applies per credential: one that opens many loses only its own. */
  constructor(limit: number, idleMs: number) {
    this.#limit = limit
    this.#idleMs = idleMs
    this.#timer = setInterval(() => this.#sweep(), Math.min(idleMs, MAX_SWEEP_INTERVAL_MS)).unref()
  }

  get size(): number {
    return this.#sessions.size
  }

  /** False if the credential has no room. At its limit, closes its least recently used session without open requests. */
  makeRoom(credential: string): boolean {
    const own = [...this.#sessions.values()].filter(session => session.credential === credential)
    if (own.length < this.#limit) return true
    const idle = own.find(({ openRequests }) => openRequests === 0)
    if (idle) this.#close(idle)
    return idle !== undefined
  }

  add(session: Session): void {
    this.#sessions.set(session.id, session)
  }

  use(credential: string, id: string, closed: AbortSignal): Session | undefined {
    const session = this.#sessions.get(id)
    if (session?.credential !== credential) return undefined
    this.#sessions.delete(id)
    this.#sessions.set(id, session)
    session.usedAt = performance.now()
    if (closed.aborted) return session
    session.openRequests += 1
    const release = (): void => {
      session.openRequests -= 1
      session.usedAt = performance.now()
    }
    closed.addEventListener('abort', release, { once: true })
    return session
  }

  remove(id: string): void {
    this.#sessions.delete(id)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    const open = [...this.#sessions.values()]
    this.#sessions.clear()
    await Promise.all(open.map(({ transport }) => transport.close()))
  }

  #sweep(): void {
    const since = performance.now() - this.#idleMs
    for (const session of this.#sessions.values()) {
      if (session.usedAt < since && session.openRequests === 0) this.#close(session)
    }
  }

  #close({ id, transport }: Session): void {
    this.#sessions.delete(id)
    void transport.close()
  }
}
