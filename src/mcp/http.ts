import { randomUUID } from 'node:crypto'
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type McpHttpHandler,
  type McpRequestContext,
  type McpServer,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { isId } from '../domain/text.ts'
import { StoreError } from '../door/door.ts'
import { toolsets } from '../toolsets/index.ts'
import type { Toolset } from '../toolsets/toolset.ts'
import { clientConversation, HEADERS } from './binding.ts'
import { OpenRequests } from './open-requests.ts'
import { headerProblem, isListenRequest, isToolsetName, subscribesElsewhere } from './request-checks.ts'
import { type ConnectionOptions, createMcpServer, type McpOptions } from './server.ts'
import { Sessions } from './sessions.ts'
import { toolsetOf } from './toolset-of.ts'

export type Role = 'person' | 'agent'

/** What the HTTP server has established about a request: its sender and its parsed body. */
export interface RequestInfo {
  readonly role: Role
  readonly body: unknown
  /** Aborts when the connection of its response is closed. */
  readonly closed: AbortSignal
}

export interface McpEndpoint {
  fetch(request: Request, info: RequestInfo): Promise<Response>
  /** The number of open 2025 sessions. */
  readonly sessions: number
  close(): Promise<void>
}

export interface EndpointOptions extends McpOptions {
  /** Creates the server of a connection. Default: `createMcpServer`. */
  readonly createServer?: (options: McpOptions, connection: ConnectionOptions) => McpServer
  readonly maxSessions?: number
  readonly sessionIdleMs?: number
}

const MAX_SESSIONS = 1_000
const SESSION_IDLE_MS = 30 * 60_000
/** How long closing waits for the answers of held calls. */
const DRAIN_MS = 1_000

/** Streamable HTTP for both protocol eras: 2026 requests are stateless, 2025 requests belong to a session. */
export function createMcpEndpoint(options: EndpointOptions): McpEndpoint {
  const { createServer = createMcpServer, updates, onError } = options
  const sessions = new Sessions(options.maxSessions ?? MAX_SESSIONS, options.sessionIdleMs ?? SESSION_IDLE_MS)
  const openRequests = new OpenRequests()
  const stateless: Record<Role, McpHttpHandler> = {
    person: statelessHandler('person'),
    agent: statelessHandler('agent'),
  }

  return {
    fetch: async (request, info) => {
      const { role, body, closed } = info
      const problem = headerProblem(request.headers)
      if (problem !== undefined) return rpcError(400, -32_602, problem)
      if (request.method === 'POST' && !isListenRequest(body)) openRequests.add(closed)
      if (await isLegacyRequest(request, body)) return handleInSession(request, info)
      if (subscribesElsewhere(request.headers, body))
        return rpcError(400, -32_602, 'This task list belongs to another conversation.')
      return stateless[role].fetch(request, { parsedBody: body })
    },
    get sessions() {
      return sessions.size
    },
    close: async () => {
      await openRequests.drained(DRAIN_MS)
      await Promise.all([stateless.person.close(), stateless.agent.close(), sessions.close()])
    },
  }

  function statelessHandler(role: Role): McpHttpHandler {
    const conversation = (_: ServerContext, client: string | undefined): string => clientConversation(client)
    const factory = async ({ requestInfo }: McpRequestContext): Promise<McpServer> => {
      const toolset = await toolsetFor(requestInfo?.headers)
      return createServer(options, {
        era: 'modern',
        toolset,
        isPerson: role === 'person',
        conversation,
        persistent: false,
      })
    }
    return createMcpHandler(factory, { legacy: 'reject', bus: updates, onerror: onError })
  }

  async function handleInSession(request: Request, { role, body, closed }: RequestInfo): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id !== null) {
      const session = sessions.use(id, role, closed)
      return session
        ? session.handleRequest(request, { parsedBody: body })
        : rpcError(404, -32_001, 'Session not found')
    }
    if (!isInitializeRequest(body)) return rpcError(400, -32_000, 'Mcp-Session-Id is missing. Send initialize first.')
    if (!sessions.hasRoom()) return rpcError(503, -32_000, 'Too many open sessions. Try again later.')
    return openSession(request, body, role).catch((error: unknown) => {
      if (!(error instanceof StoreError)) throw error
      onError(error)
      return rpcError(503, -32_603, error.message)
    })
  }

  async function openSession(request: Request, body: unknown, role: Role): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: session => sessions.add(session, role, transport),
      onsessionclosed: session => sessions.remove(session),
    })
    const server = createServer(options, {
      era: 'legacy',
      toolset: await toolsetFor(request.headers),
      isPerson: role === 'person',
      conversation: ({ sessionId = '' }) => `mcp-${sessionId}`,
      persistent: true,
    })
    await server.connect(transport)
    return transport.handleRequest(request, { parsedBody: body })
  }

  /** The toolset in the header, else the conversation's own, else the default of new conversations. */
  async function toolsetFor(headers: Headers | undefined): Promise<Toolset> {
    const name = headers?.get(HEADERS.toolset) ?? ''
    if (isToolsetName(name)) return toolsets[name]
    const conversation = headers?.get(HEADERS.session) ?? ''
    if (!isId(conversation)) return toolsets[options.host.toolset ?? 'runsheet']
    return toolsetOf({ tenant: options.tenant, conversation }, options)
  }
}

const rpcError = (status: number, code: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status })
