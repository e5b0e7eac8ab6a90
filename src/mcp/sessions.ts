import type { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport
  /** The role that opened it: an agent must not use a person's session. */
  readonly owner: string
  usedAt: number
  /** Requests in progress, streams included. */
  openRequests: number
}

const MAX_SWEEP_INTERVAL_MS = 60_000

/** The sessions of 2025 clients. Many clients leave without ending theirs, so idle ones are closed. */
export class Sessions {
  /** Least recently used first. */
  readonly #sessions = new Map<string, Session>()
  readonly #limit: number
  readonly #idleMs: number
  readonly #timer: NodeJS.Timeout

  constructor(limit: number, idleMs: number) {
    this.#limit = limit
    this.#idleMs = idleMs
    this.#timer = setInterval(() => this.#sweep(), Math.min(idleMs, MAX_SWEEP_INTERVAL_MS)).unref()
  }

  get size(): number {
    return this.#sessions.size
  }

  /** Whether another session fits. At the limit, closes the least recently used one without open requests. */
  hasRoom(): boolean {
    if (this.#sessions.size < this.#limit) return true
    for (const [id, { openRequests }] of this.#sessions) {
      if (openRequests > 0) continue
      this.#close(id)
      return true
    }
    return false
  }

  add(id: string, owner: string, transport: WebStandardStreamableHTTPServerTransport): void {
    this.#sessions.set(id, { transport, owner, usedAt: performance.now(), openRequests: 0 })
  }

  /** The transport of a session, for a request that ends when `closed` aborts. */
  use(id: string, owner: string, closed: AbortSignal): WebStandardStreamableHTTPServerTransport | undefined {
    const session = this.#sessions.get(id)
    if (!session || session.owner !== owner) return undefined
    this.#sessions.delete(id)
    this.#sessions.set(id, session)
    session.usedAt = performance.now()
    if (closed.aborted) return session.transport
    session.openRequests += 1
    const release = (): void => {
      session.openRequests -= 1
      session.usedAt = performance.now()
    }
    closed.addEventListener('abort', release, { once: true })
    return session.transport
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
    for (const [id, { usedAt, openRequests }] of this.#sessions)
      if (usedAt < since && openRequests === 0) this.#close(id)
  }

  #close(id: string): void {
    const session = this.#sessions.get(id)
    this.#sessions.delete(id)
    void session?.transport.close()
  }
}
