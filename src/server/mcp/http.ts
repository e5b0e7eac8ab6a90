import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  WebStandardStreamableHTTPServerTransport,
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type McpHttpHandler,
  type McpRequestContext,
  type McpServer,
  type ServerContext,
  type ServerEventBus,
} from '@modelcontextprotocol/server'
import type { Origin } from '../../core/model/origin.ts'
import { policyNow } from '../../core/model/policy.ts'
import { isId } from '../../core/model/text.ts'
import { toolsets } from '../../engine/toolsets/index.ts'
import type { Toolset } from '../../engine/toolsets/toolset.ts'
import { HEADERS, clientConversation, headerProblem, isToolsetName, toolsetOf } from './binding.ts'
import { createMcpServer, type ConnectionOptions, type McpOptions } from './server.ts'

export type Role = 'person' | 'agent'

export interface RequestInfo {
  readonly role: Role
  /** The sender's credential; sessions belong to the one that opened them. */
  readonly credential: string
  readonly origin: Origin
  readonly body: unknown
  readonly closed: AbortSignal
}

export interface McpEndpoint {
  fetch(request: Request, info: RequestInfo): Promise<Response>
  readonly sessions: number
  close(): Promise<void>
}

export interface EndpointOptions extends McpOptions {
  /** Default: `createMcpServer`. */
  readonly createServer?: (options: McpOptions, connection: ConnectionOptions) => McpServer
  /** Announces changed lists to 2026 clients. */
  readonly bus?: ServerEventBus
  /** Per credential. */
  readonly maxSessions?: number
  readonly sessionIdleMs?: number
}

const MAX_SESSIONS = 1_000
const ALL_IN_USE = 'All sessions of this credential are in use. End one, or try again later.'
const RETRY_LATER = { 'retry-after': '5' }
const SESSION_IDLE_MS = 30 * 60_000
/** How long closing waits for answers of held calls. */
const DRAIN_MS = 1_000

/** Streamable HTTP for both protocol eras: 2026 requests are stateless, 2025 requests belong to a session. */
export function createMcpEndpoint(options: EndpointOptions): McpEndpoint {
  const { createServer = createMcpServer, bus, onError } = options
  const sessions = new Sessions(options.maxSessions ?? MAX_SESSIONS, options.sessionIdleMs ?? SESSION_IDLE_MS)
  const openCalls = new Set<Promise<unknown>>()
  const stateless: Readonly<Record<Role, McpHttpHandler>> = {
    person: statelessHandler(true),
    agent: statelessHandler(false),
  }
  const senders = new WeakMap<Request, Origin>()
  const sender = ({ http }: ServerContext): Origin | undefined => http?.req && senders.get(http.req)

  return {
    fetch: async (request, info) => {
      const { body, closed } = info
      senders.set(request, info.origin)
      const problem = headerProblem(request.headers)
      if (problem !== undefined) return rpcError(400, -32_602, problem)
      if (request.method === 'POST') trackCall(closed)
      if (await isLegacyRequest(request, body)) return handleInSession(request, info)
      return stateless[info.role].fetch(request, { parsedBody: body })
    },
    get sessions() {
      return sessions.size
    },
    close: async () => {
      await Promise.race([Promise.all(openCalls), delay(DRAIN_MS)])
      await Promise.all([...Object.values(stateless).map(handler => handler.close()), sessions.close()])
    },
  }

  function trackCall(closed: AbortSignal): void {
    if (closed.aborted) return
    const ended = new Promise(resolve => closed.addEventListener('abort', resolve, { once: true }))
    openCalls.add(ended)
    void ended.then(() => openCalls.delete(ended))
  }

  function statelessHandler(isPerson: boolean): McpHttpHandler {
    const conversation = (_: ServerContext, client: string | undefined): string => clientConversation(client)
    const factory = async ({ requestInfo }: McpRequestContext): Promise<McpServer> => {
      const toolset = await toolsetFor(requestInfo?.headers)
      return createServer(options, { era: 'modern', toolset, isPerson, conversation, sender })
    }
    return createMcpHandler(factory, { legacy: 'reject', ...(bus ? { bus } : {}), onerror: onError })
  }

  async function handleInSession(request: Request, info: RequestInfo): Promise<Response> {
    const { credential, body, closed } = info
    const id = request.headers.get('mcp-session-id')
    if (id === null && isInitializeRequest(body)) return openSession(request, info)
    if (id === null) return rpcError(400, -32_000, 'Mcp-Session-Id is missing. Send initialize first.')
    const session = sessions.use(credential, id, closed)
    return session
      ? session.transport.handleRequest(request, { parsedBody: body })
      : rpcError(404, -32_001, 'Session not found')
  }

  async function openSession(request: Request, { role, credential, body }: RequestInfo): Promise<Response> {
    const toolset = await toolsetFor(request.headers)
    if (!sessions.makeRoom(credential)) return rpcError(503, -32_000, ALL_IN_USE, RETRY_LATER)
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: id =>
        sessions.add({ id, credential, transport, usedAt: performance.now(), openRequests: 0 }),
      onsessionclosed: id => sessions.remove(id),
    })
    await sessionServer(toolset, role === 'person').connect(transport)
    return transport.handleRequest(request, { parsedBody: body })
  }

  function sessionServer(toolset: Toolset, isPerson: boolean): McpServer {
    const conversation = ({ sessionId = '' }: ServerContext): string => `mcp-${sessionId}`
    return createServer(options, { era: 'legacy', toolset, isPerson, conversation, sender })
  }

  async function toolsetFor(headers: Headers | undefined): Promise<Toolset> {
    const name = headers?.get(HEADERS.toolset) ?? ''
    if (isToolsetName(name)) return toolsets[name]
    const conversation = headers?.get(HEADERS.session) ?? ''
    if (!isId(conversation)) return toolsets[policyNow(options.host).toolset ?? 'runsheet']
    return toolsetOf({ tenant: options.tenant, conversation }, options)
  }
}

const rpcError = (status: number, code: number, message: string, headers: Record<string, string> = {}): Response =>
  Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status, headers })

const MAX_SWEEP_INTERVAL_MS = 60_000

/** The session of a 2025 client; each has an MCP server. */
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
