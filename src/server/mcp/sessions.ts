import { randomUUID } from 'node:crypto'
import {
  InMemoryTransport,
  SUPPORTED_PROTOCOL_VERSIONS,
  WebStandardStreamableHTTPServerTransport,
  isInitializedNotification,
  type InitializeRequest,
  type McpServer,
} from '@modelcontextprotocol/server'
import type { Toolset } from '../../engine/toolsets/toolset.ts'

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

export interface SessionOwner {
  readonly createServer: (toolset: Toolset) => McpServer
  readonly ended: (session: Session) => void
}

/**
 * A session of a 2025 client. Holds only the client's introduction until the client returns, which many never do; then
 * a server is created and introduced to it. Has no closures of its own, because there may be thousands.
 */
export class Session {
  readonly id: string = randomUUID()
  usedAt: number = performance.now()
  /** Includes streams. */
  openRequests = 0
  readonly #introduction: string
  readonly #toolset: Toolset
  readonly #owner: SessionOwner
  #transport: Promise<WebStandardStreamableHTTPServerTransport> | undefined

  constructor(introduction: string, toolset: Toolset, owner: SessionOwner) {
    this.#introduction = introduction
    this.#toolset = toolset
    this.#owner = owner
  }

  /** `DELETE` ends the session. */
  async handle(request: Request, body: unknown): Promise<Response> {
    if (!this.#transport && request.method === 'DELETE') {
      this.#owner.ended(this)
      return new Response(null)
    }
    // The handshake ends here, but the client may never return.
    if (!this.#transport && isInitializedNotification(body)) return new Response(null, { status: 202 })
    this.#transport ??= this.#connected(request.url).catch((error: unknown): never => {
      this.#transport = undefined
      throw error
    })
    return (await this.#transport).handleRequest(request, { parsedBody: body })
  }

  async close(): Promise<void> {
    await (await this.#transport)?.close()
  }

  async #connected(url: string): Promise<WebStandardStreamableHTTPServerTransport> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => this.id,
      onsessionclosed: () => this.#owner.ended(this),
    })
    await this.#owner.createServer(this.#toolset).connect(transport)
    const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
    const parsedBody = {
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: JSON.parse(this.#introduction) as unknown,
    }
    const greeting = await transport.handleRequest(new Request(url, { method: 'POST', headers }), { parsedBody })
    await greeting.text()
    return transport
  }
}

/** Kept as long as the client's session. */
const MAX_LENGTH = 16 * 1024
const MAX_KNOWN = 100

/**
 * What clients say about themselves when they open a session. Equal ones, as from all clients of one program, are
 * stored once.
 */
export class Introductions {
  readonly #known = new Map<string, string>()

  /** The parameters of `initialize` that a server needs, as JSON; undefined if they are too long. */
  of({ params }: InitializeRequest): string | undefined {
    const { protocolVersion, capabilities, clientInfo } = params
    const { name, version, title } = clientInfo
    const introduction = JSON.stringify({ protocolVersion, capabilities, clientInfo: { name, version, title } })
    if (introduction.length > MAX_LENGTH) return undefined
    const known = this.#known.get(introduction)
    if (known !== undefined) return known
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.set(introduction, introduction)
    return introduction
  }
}

/** Caches `initialize` results: they depend only on the toolset and the protocol version. */
export class Greetings {
  readonly #createServer: (toolset: Toolset) => McpServer
  readonly #known = new Map<string, Promise<string>>()

  constructor(createServer: (toolset: Toolset) => McpServer) {
    this.#createServer = createServer
  }

  of(toolset: Toolset, protocolVersion: string): Promise<string> {
    // Unknown versions share the newest one's answer; a client's string must not become a key.
    const version = SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion) ? protocolVersion : ''
    const key = `${toolset.name} ${version}`
    const greeting = this.#known.get(key) ?? this.#ask(toolset, version)
    this.#known.set(key, greeting)
    return greeting
  }

  async #ask(toolset: Toolset, protocolVersion: string): Promise<string> {
    const [client, transport] = InMemoryTransport.createLinkedPair()
    const server = this.#createServer(toolset)
    await server.connect(transport)
    const answer = Promise.withResolvers<string>()
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no other way
    client.onmessage = message => 'result' in message && answer.resolve(JSON.stringify(message.result))
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'runsheet', version: '0' } }
    await client.send({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
    const greeting = await answer.promise
    await server.close()
    return greeting
  }
}

/** Requests in progress, so that closing can wait for their answers. */
export class OpenRequests {
  readonly #open = new Set<AbortSignal>()
  #onDrained = (): void => {}

  add(closed: AbortSignal): void {
    if (closed.aborted) return
    this.#open.add(closed)
    const remove = (): void => {
      this.#open.delete(closed)
      if (this.#open.size === 0) this.#onDrained()
    }
    closed.addEventListener('abort', remove, { once: true })
  }

  /** Resolves once all have ended, or after `timeoutMs`. */
  async drained(timeoutMs: number): Promise<void> {
    if (this.#open.size === 0) return
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, timeoutMs)
      this.#onDrained = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
