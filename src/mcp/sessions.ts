import type { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport
  /** Whose it is: an id is not enough to speak with a person's word. */
  readonly owner: string
  usedAt: number
  /** Requests that are under way, streams among them: somebody is there. */
  underWay: number
}

/** The sessions of the older era. Clients leave without a word, so what is not used goes: the oldest first, and in time all. */
export class Sessions {
  /** In the order in which they were last used. */
  readonly #sessions = new Map<string, Session>()
  readonly #most: number
  readonly #idleMs: number
  readonly #timer: NodeJS.Timeout

  constructor(most: number, idleMs: number) {
    this.#most = most
    this.#idleMs = idleMs
    this.#timer = setInterval(() => this.#sweep(), Math.min(idleMs, 60_000)).unref()
  }

  get size(): number {
    return this.#sessions.size
  }

  /** Whether one more fits; if need be the one that was unused for longest makes room. */
  hasRoom(): boolean {
    if (this.#sessions.size < this.#most) return true
    for (const [id, { underWay }] of this.#sessions) {
      if (underWay > 0) continue
      this.#end(id)
      return true
    }
    return false
  }

  add(id: string, owner: string, transport: WebStandardStreamableHTTPServerTransport): void {
    this.#sessions.set(id, { transport, owner, usedAt: performance.now(), underWay: 0 })
  }

  /** For a request that is over when `closed` is. */
  use(id: string, owner: string, closed: AbortSignal): WebStandardStreamableHTTPServerTransport | undefined {
    const session = this.#sessions.get(id)
    if (!session || session.owner !== owner) return undefined
    this.#sessions.delete(id)
    this.#sessions.set(id, session)
    session.usedAt = performance.now()
    if (closed.aborted) return session.transport
    session.underWay += 1
    const over = (): void => {
      session.underWay -= 1
      session.usedAt = performance.now()
    }
    closed.addEventListener('abort', over, { once: true })
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
    for (const [id, { usedAt, underWay }] of this.#sessions) if (usedAt < since && underWay === 0) this.#end(id)
  }

  #end(id: string): void {
    const session = this.#sessions.get(id)
    this.#sessions.delete(id)
    void session?.transport.close()
  }
}
