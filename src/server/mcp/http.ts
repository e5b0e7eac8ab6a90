import {
  createMcpHandler,
  type InitializeRequest,
  isInitializeRequest,
  isLegacyRequest,
  type McpHttpHandler,
  type McpRequestContext,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Origin } from '../../core/model/origin.ts'
import { policyNow } from '../../core/model/policy.ts'
import { isId } from '../../core/model/text.ts'
import { StoreError } from '../../engine/door/door.ts'
import { toolsets } from '../../engine/toolsets/index.ts'
import type { Toolset } from '../../engine/toolsets/toolset.ts'
import { HEADERS, clientConversation, toolsetOf } from './binding.ts'
import { Greetings, Introductions, OpenRequests, Session, Sessions, type SessionOwner } from './sessions.ts'
import { headerProblem, isListenRequest, isToolsetName, subscribesElsewhere } from './request-checks.ts'
import { type ConnectionOptions, createMcpServer, type McpOptions } from './server.ts'

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
  /** Per credential. */
  readonly maxSessions?: number
  readonly sessionIdleMs?: number
}

interface Owner extends SessionOwner {
  readonly stateless: McpHttpHandler
}

const MAX_SESSIONS = 1_000
const ALL_IN_USE = 'All sessions of this credential are in use. End one, or try again later.'
const RETRY_LATER = { 'retry-after': '5' }
const SESSION_IDLE_MS = 30 * 60_000
/** How long closing waits for answers of held calls. */
const DRAIN_MS = 1_000

/** Streamable HTTP for both protocol eras: 2026 requests are stateless, 2025 requests belong to a session. */
export function createMcpEndpoint(options: EndpointOptions): McpEndpoint {
  const { createServer = createMcpServer, updates, onError } = options
  const sessions = new Sessions(options.maxSessions ?? MAX_SESSIONS, options.sessionIdleMs ?? SESSION_IDLE_MS)
  const openRequests = new OpenRequests()
  const owners = new Map<string, Owner>()
  const senders = new WeakMap<Request, Origin>()
  const sender = ({ http }: ServerContext): Origin | undefined => http?.req && senders.get(http.req)
  const introductions = new Introductions()
  const greetings = new Greetings(toolset => sessionServer(toolset, false))

  return {
    fetch: async (request, info) => {
      const { body, closed } = info
      senders.set(request, info.origin)
      const problem = headerProblem(request.headers)
      if (problem !== undefined) return rpcError(400, -32_602, problem)
      if (request.method === 'POST' && !isListenRequest(body)) openRequests.add(closed)
      if (opensSession(request.headers, body)) return openSession(request, body, info)
      if (await isLegacyRequest(request, body)) return handleInSession(request, info)
      if (subscribesElsewhere(request.headers, body))
        return rpcError(400, -32_602, 'This task list belongs to another conversation.')
      return ownerOf(info).stateless.fetch(request, { parsedBody: body })
    },
    get sessions() {
      return sessions.size
    },
    close: async () => {
      await openRequests.drained(DRAIN_MS)
      await Promise.all([...[...owners.values()].map(({ stateless }) => stateless.close()), sessions.close()])
    },
  }

  function ownerOf(info: RequestInfo): Owner {
    const { role, credential } = info
    const owner = owners.get(credential) ?? {
      stateless: statelessHandler(info),
      createServer: toolset => sessionServer(toolset, role === 'person'),
      ended: session => sessions.remove(credential, session),
    }
    owners.set(credential, owner)
    return owner
  }

  function statelessHandler({ role }: RequestInfo): McpHttpHandler {
    const conversation = (_: ServerContext, client: string | undefined): string => clientConversation(client)
    const factory = async ({ requestInfo }: McpRequestContext): Promise<McpServer> => {
      const toolset = await toolsetFor(requestInfo?.headers)
      return createServer(options, {
        era: 'modern',
        toolset,
        isPerson: role === 'person',
        conversation,
        persistent: false,
        sender,
      })
    }
    return createMcpHandler(factory, { legacy: 'reject', bus: updates, onerror: onError })
  }

  async function handleInSession(request: Request, info: RequestInfo): Promise<Response> {
    const { credential, body, closed } = info
    const id = request.headers.get('mcp-session-id')
    if (id !== null) {
      const session = sessions.use(credential, id, closed)
      return session ? session.handle(request, body) : rpcError(404, -32_001, 'Session not found')
    }
    return isInitializeRequest(body)
      ? openSession(request, body as Initialize, info)
      : rpcError(400, -32_000, 'Mcp-Session-Id is missing. Send initialize first.')
  }

  async function openSession(request: Request, initialize: Initialize, info: RequestInfo): Promise<Response> {
    try {
      return await greeted(request, initialize, info)
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      onError(error)
      return rpcError(503, -32_603, error.message)
    }
  }

  async function greeted(request: Request, initialize: Initialize, info: RequestInfo): Promise<Response> {
    const accept = request.headers.get('accept') ?? ''
    if (!ACCEPTED.every(type => accept.includes(type)))
      return rpcError(406, -32_000, `Not acceptable: the client must accept ${ACCEPTED.join(' and ')}.`)
    const introduction = introductions.of(initialize)
    if (introduction === undefined)
      return rpcError(400, -32_602, 'The capabilities and names of the client are too long.')
    const toolset = await toolsetFor(request.headers)
    const greeting = await greetings.of(toolset, initialize.params.protocolVersion)
    const session = new Session(introduction, toolset, ownerOf(info))
    if (!sessions.add(info.credential, session)) return rpcError(503, -32_000, ALL_IN_USE, RETRY_LATER)
    const message = `{"jsonrpc":"2.0","id":${JSON.stringify(initialize.id)},"result":${greeting}}`
    const headers = { ...STREAM, 'mcp-session-id': session.id }
    return new Response(`event: message\ndata: ${message}\n\n`, { headers })
  }

  function sessionServer(toolset: Toolset, isPerson: boolean): McpServer {
    const conversation = ({ sessionId = '' }: ServerContext): string => `mcp-${sessionId}`
    return createServer(options, { era: 'legacy', toolset, isPerson, conversation, persistent: true, sender })
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

/** Whether an `initialize` is certainly of the older era. Asking the SDK costs several times as much. */
const opensSession = (headers: Headers, body: unknown): body is Initialize =>
  !headers.has('mcp-session-id') &&
  !headers.has('mcp-protocol-version') &&
  isInitializeRequest(body) &&
  body.params._meta === undefined

type Initialize = InitializeRequest & { readonly id: string | number }

const ACCEPTED = ['application/json', 'text/event-stream']
const STREAM = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}
