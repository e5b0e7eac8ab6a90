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
import { toolsets } from '../toolsets/index.ts'
import type { Toolset } from '../toolsets/toolset.ts'
import { HEADERS } from './binding.ts'
import { Calls } from './calls.ts'
import { conversationOf, isListening, isToolset, listensElsewhere, misnamed } from './incoming.ts'
import { type Connection, type McpOptions, mcpServer } from './server.ts'
import { Sessions } from './sessions.ts'

export type Role = 'person' | 'agent'

/** A request whose sender is known, and whose body was read if it has one. */
export interface Incoming {
  readonly role: Role
  readonly body: unknown
  /** Aborted once the connection of its answer is closed. */
  readonly closed: AbortSignal
}

export interface McpEndpoint {
  fetch(request: Request, incoming: Incoming): Promise<Response>
  /** How many sessions of the older era are kept. */
  readonly sessions: number
  close(): Promise<void>
}

export interface EndpointOptions extends McpOptions {
  /** What serves a connection, if not the toolset alone. */
  readonly build?: (options: McpOptions, connection: Connection) => McpServer
  readonly mostSessions?: number
  readonly sessionIdleMs?: number
}

/** Enough for everybody who is there, and little where nobody comes back. */
const MOST_SESSIONS = 1_000
const SESSION_IDLE_MS = 30 * 60_000
/** For calls that wait, to be told that they are to ask again. */
const FINISH_MS = 1_000

/** Streamable HTTP for both eras: in the newer one each request stands for itself, in the older one there are sessions. */
export function createMcpEndpoint(options: EndpointOptions): McpEndpoint {
  const { build = mcpServer, changed, onError } = options
  const sessions = new Sessions(options.mostSessions ?? MOST_SESSIONS, options.sessionIdleMs ?? SESSION_IDLE_MS)
  const calls = new Calls()
  const modern: Record<Role, McpHttpHandler> = { person: handlerFor('person'), agent: handlerFor('agent') }

  return {
    fetch: async (request, incoming) => {
      const { role, body, closed } = incoming
      const wrong = misnamed(request.headers)
      if (wrong !== undefined) return rpcError(400, -32_602, wrong)
      if (request.method === 'POST' && !isListening(body)) calls.add(closed)
      if (await isLegacyRequest(request, body)) return inSession(request, incoming)
      if (listensElsewhere(request.headers, body))
        return rpcError(400, -32_602, 'This list is not of this conversation.')
      return modern[role].fetch(request, { parsedBody: body })
    },
    get sessions() {
      return sessions.size
    },
    close: async () => {
      await calls.over(FINISH_MS)
      await Promise.all([modern.person.close(), modern.agent.close(), sessions.close()])
    },
  }

  function handlerFor(role: Role): McpHttpHandler {
    const factory = async ({ requestInfo }: McpRequestContext): Promise<McpServer> => {
      const toolset = await toolsetFor(requestInfo?.headers)
      const conversation = (_: ServerContext, client: string | undefined): string => conversationOf(client)
      return build(options, { era: 'modern', toolset, isPerson: role === 'person', conversation, lasts: false })
    }
    return createMcpHandler(factory, { legacy: 'reject', bus: changed, onerror: onError })
  }

  async function inSession(request: Request, { role, body, closed }: Incoming): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id !== null) {
      const session = sessions.use(id, role, closed)
      return session
        ? session.handleRequest(request, { parsedBody: body })
        : rpcError(404, -32_001, 'Session not found')
    }
    if (!isInitializeRequest(body)) return rpcError(400, -32_000, 'Begin with initialize: there is no Mcp-Session-Id.')
    if (!sessions.hasRoom()) return rpcError(503, -32_000, 'Too many sessions are in use here. Try again later.')
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: session => sessions.add(session, role, transport),
      onsessionclosed: session => sessions.remove(session),
    })
    const toolset = await toolsetFor(request.headers)
    const conversation = ({ sessionId = '' }: ServerContext): string => `mcp-${sessionId}`
    const server = build(options, { era: 'legacy', toolset, isPerson: role === 'person', conversation, lasts: true })
    await server.connect(transport)
    return transport.handleRequest(request, { parsedBody: body })
  }

  /** The one that the header names; else the conversation's own; else what new conversations get. */
  async function toolsetFor(headers: Headers | undefined): Promise<Toolset> {
    const named = headers?.get(HEADERS.toolset) ?? ''
    if (isToolset(named)) return toolsets[named]
    const conversation = headers?.get(HEADERS.session) ?? ''
    const state = isId(conversation) ? await options.door.read({ tenant: options.tenant, conversation }) : undefined
    return toolsets[state?.policy?.toolset ?? options.host.toolset ?? 'runsheet']
  }
}

const rpcError = (status: number, code: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status })
