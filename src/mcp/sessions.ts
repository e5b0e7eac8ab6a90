import type { Session } from './session.ts'

const MAX_SWEEP_INTERVAL_MS = 60_000

/**
 * Sessions of 2025 clients, by the credential that opened them. Idle ones are closed, because many clients leave
 * without ending theirs.
 */
export class Sessions {
  /** Per credential, least recently used first. */
  readonly #sessions = new Map<string, Map<string, Session>>()
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
    return [...this.#sessions.values()].reduce((sum, { size }) => sum + size, 0)
  }

  /** Adds a session if there is room. At the limit, evicts the least recently used one without open requests. */
  add(credential: string, session: Session): boolean {
    const own = this.#of(credential)
    if (own.size >= this.#limit) {
      const idle = firstIdle(own)
      if (!idle) return false
      this.#close(own, idle)
    }
    own.set(session.id, session)
    return true
  }

  use(credential: string, id: string, closed: AbortSignal): Session | undefined {
    const own = this.#of(credential)
    const session = own.get(id)
    if (!session) return undefined
    own.delete(id)
    own.set(id, session)
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

  remove(credential: string, { id }: Session): void {
    this.#of(credential).delete(id)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    const open = [...this.#sessions.values()].flatMap(own => [...own.values()])
    this.#sessions.clear()
    await Promise.all(open.map(session => session.close()))
  }

  #sweep(): void {
    const since = performance.now() - this.#idleMs
    for (const own of this.#sessions.values())
      for (const session of own.values())
        if (session.usedAt < since && session.openRequests === 0) this.#close(own, session)
  }

  #close(own: Map<string, Session>, session: Session): void {
    own.delete(session.id)
    void session.close()
  }

  /** Kept when empty, because there are few credentials. */
  #of(credential: string): Map<string, Session> {
    const own = this.#sessions.get(credential) ?? new Map<string, Session>()
    this.#sessions.set(credential, own)
    return own
  }
}

function firstIdle(own: ReadonlyMap<string, Session>): Session | undefined {
  for (const session of own.values()) if (session.openRequests === 0) return session
  return undefined
}
